package runtime

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	// drainTime is how long output of children is still taken after the command itself has ended.
	drainTime = 100 * time.Millisecond
	// graceTime lies between SIGTERM and SIGKILL.
	graceTime = 2 * time.Second
	// pipeSize is the most that a pipe holds unread (Linux's default).
	pipeSize = 64 << 10
)

// process is a command started on this machine. One goroutine delivers its output, one waits for
// its end, one ends it when the context does.
type process struct {
	cmd    *exec.Cmd
	leader proc // of its session and process group
	tag    string

	exited    chan struct{} // the command was reaped
	delivered chan struct{} // the output is complete
	done      chan struct{} // exit and err are set
	exit      Exit
	err       error

	mu       sync.Mutex
	finished bool
	killed   bool
}

func (p *process) PID() int { return p.leader.pid }

func (p *process) Wait() (Exit, error) {
	<-p.done
	return p.exit, p.err
}

// launch starts cmd with one pipe for both outputs.
func launch(ctx context.Context, cmd *exec.Cmd, c Command, tag string, reaper *Reaper) (*process, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = write, write
	feed, err := feeder(cmd, c.Stdin)
	if err != nil {
		return nil, errors.Join(err, read.Close(), write.Close())
	}
	if reaper != nil {
		reaper.ready()
	}
	start := time.Now()
	err = cmd.Start()
	_ = write.Close()
	if err != nil {
		_ = read.Close()
		feed.drop()
		return nil, err
	}
	p := &process{cmd: cmd, tag: tag, exited: make(chan struct{}), delivered: make(chan struct{}), done: make(chan struct{})}
	// The command can't be reaped before run waits for it, so this finds it.
	p.leader, _ = findProc(cmd.Process.Pid)
	p.leader.pid = cmd.Process.Pid
	release := func() {}
	if reaper != nil {
		release = reaper.watch(p.leader, tag)
	}
	feed.run()
	go p.deliver(read, c.Output)
	go p.run(ctx, start, read, func() { feed.drop(); release() })
	return p, nil
}

// run waits for the command, then for its output and for the end of a cancellation.
func (p *process) run(ctx context.Context, start time.Time, read *os.File, after func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-ctx.Done():
			p.end()
		case <-p.exited:
		}
	}()
	err := p.cmd.Wait()
	p.mu.Lock()
	p.finished = true
	killed := p.killed
	p.mu.Unlock()
	p.exit = Exit{Code: exitCode(p.cmd.ProcessState), Killed: killed, Took: time.Since(start)}
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		p.err = err
	}
	close(p.exited)
	<-ended
	// No error: a pipe that was read to its end is closed, and then there is nothing to wait for.
	_ = read.SetReadDeadline(time.Now().Add(drainTime))
	<-p.delivered
	after()
	close(p.done)
}

// end ends the command and everything that it started, and returns when nothing of it is left.
func (p *process) end() {
	p.mu.Lock()
	p.killed = !p.finished
	killed := p.killed
	p.mu.Unlock()
	if !killed {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*graceTime)
	defer cancel()
	if p.leader.start == 0 { // a system that does not tell what runs
		signalGroup(p.leader, syscall.SIGKILL, nil)
		return
	}
	mine := func(q proc) bool {
		return q.group == p.leader.pid && q.session == p.leader.pid || tagOf(q.pid) == p.tag
	}
	// Survivors of SIGKILL are stuck in the kernel; nobody can do more about them.
	_ = endAll(ctx, mine, graceTime)
}

// deliver copies the output to out until its end or, once the command has ended, until the
// deadline that run sets. After that a child may go on writing into nothing; closing the pipe
// instead would kill it.
func (p *process) deliver(read *os.File, out io.Writer) {
	defer func() { _ = read.Close() }()
	sink := &sink{w: out}
	buf := make([]byte, 32<<10)
	for {
		n, err := read.Read(buf)
		sink.write(buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			close(p.delivered)
			return
		}
	}
	_ = read.SetReadDeadline(time.Time{})
	p.rest(read, sink, buf)
	close(p.delivered)
	_, _ = io.Copy(io.Discard, read)
}

// rest takes what was in the pipe at the deadline: with a slow sink it may hold what the command
// itself wrote before it ended.
func (p *process) rest(read *os.File, out *sink, buf []byte) {
	for left := pipeSize; left > 0; {
		n := readNow(read, buf[:min(left, len(buf))])
		if n <= 0 {
			return
		}
		out.write(buf[:n])
		left -= n
	}
}

// sink writes until the first error and then drops, so that the command never blocks on a reader
// that is gone.
type sink struct {
	w      io.Writer
	broken bool
}

func (s *sink) write(b []byte) {
	if s.w == nil || s.broken || len(b) == 0 {
		return
	}
	_, err := s.w.Write(b)
	s.broken = err != nil
}

// feed copies a reader to a command's standard input. The zero value does nothing.
type feed struct {
	from        io.Reader
	read, write *os.File
}

// feeder gives cmd an input of its own. Without from it is the null device, exec's default. The
// os/exec package would copy as well, but its Wait would then wait for the reader.
func feeder(cmd *exec.Cmd, from io.Reader) (feed, error) {
	if from == nil {
		return feed{}, nil
	}
	read, write, err := os.Pipe()
	if err != nil {
		return feed{}, err
	}
	cmd.Stdin = read
	return feed{from: from, read: read, write: write}, nil
}

func (f feed) run() {
	if f.from == nil {
		return
	}
	_ = f.read.Close()
	go func() {
		_, _ = io.Copy(f.write, f.from) // a command need not read its input
		_ = f.write.Close()
	}()
}

func (f feed) drop() {
	if f.from == nil {
		return
	}
	_ = f.read.Close()
	_ = f.write.Close()
}
