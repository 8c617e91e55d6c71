package runtime

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Reaper sees to it that no command outlives this process, even one that is killed. It is a small
// helper process in a session of its own; a pipe leads to it, and when the pipe breaks the helper
// kills what is registered. It starts with the first command.
type Reaper struct {
	argv  []string
	owner string

	mu     sync.Mutex
	cmd    *exec.Cmd
	in     io.WriteCloser
	groups map[proc]string // leader of a group to its tag
	err    error
	closed bool
}

// NewReaper prepares a reaper. argv starts the helper: a program that calls RunReaper on its
// standard input. Nothing starts before the first command does.
func NewReaper(argv []string) *Reaper {
	return &Reaper{argv: argv, owner: newOwner(), groups: map[proc]string{}}
}

// Err says why the helper could not be started, nil if it could or was not needed. Commands run
// without it too, but would outlive a killed process.
func (r *Reaper) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close kills every process that is left of the commands and waits for it, ten seconds at most.
func (r *Reaper) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.cmd == nil {
		return r.err
	}
	_, err := io.WriteString(r.in, closing+"\n")
	err = errors.Join(err, r.in.Close())
	timer := time.AfterFunc(10*time.Second, func() { _ = r.cmd.Process.Kill() })
	defer timer.Stop()
	err = errors.Join(err, r.cmd.Wait())
	r.cmd, r.in = nil, nil
	if err != nil {
		return fmt.Errorf("end reaper: %w", err)
	}
	return nil
}

// ready starts the helper. It comes before the first command does: else there were a moment in which
// a command runs that nobody ends when this process is killed. What is not registered yet the helper
// knows by the owner in its tag.
func (r *Reaper) ready() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed && r.in == nil {
		r.err = r.start()
	}
}

// watch registers the group of a command. The returned function is called when the command has
// ended; a group in which a child lives on stays registered.
func (r *Reaper) watch(leader proc, tag string) (release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.groups[leader] = tag
	r.send(add(leader, tag))
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.prune()
	}
}

// prune forgets the groups that are empty, before their ids are used again.
func (r *Reaper) prune() {
	for leader := range r.groups {
		if groupGone(leader.pid) {
			delete(r.groups, leader)
			r.send(drop(leader))
		}
	}
}

// send writes a line to the helper, starting it when it does not run (any more).
func (r *Reaper) send(line string) {
	if r.closed {
		return
	}
	if r.in != nil {
		if _, err := io.WriteString(r.in, line); err == nil {
			return
		}
		_ = r.in.Close()
		_ = r.cmd.Wait()
		r.cmd, r.in = nil, nil
	}
	r.err = r.start()
}

// start starts the helper and tells it everything that is registered.
func (r *Reaper) start() error {
	if len(r.argv) == 0 {
		return errors.New("start reaper: no program named")
	}
	cmd := exec.Command(r.argv[0], r.argv[1:]...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = ownSession()
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start reaper: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start reaper %q: %w", r.argv[0], cause(err))
	}
	r.cmd, r.in = cmd, in
	all := "owner " + r.owner + "\n"
	for leader, tag := range r.groups {
		all += add(leader, tag)
	}
	if _, err := io.WriteString(in, all); err != nil {
		return fmt.Errorf("start reaper: %w", err)
	}
	return nil
}

// closing is the last line of a Reaper that is closed.
const closing = "close"

func add(leader proc, tag string) string {
	return fmt.Sprintf("add %d %d %s\n", leader.pid, leader.start, tag)
}

func drop(leader proc) string { return fmt.Sprintf("drop %d\n", leader.pid) }
