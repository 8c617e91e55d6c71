package sandbox

import (
	"context"
	"errors"
	"os"
	"syscall"

	"carrel/sandbox/policy"
)

// Command is one command to confine.
type Command struct {
	// Argv is the program and its arguments. A name without a slash is looked for in the PATH that
	// the command sees.
	Argv []string
	// Dir is where it starts; the project when empty.
	Dir string
	// Env is the environment that the policy filters; nil is this process's own.
	Env []string
	// Extra are variables that the command gets whatever the policy says: NAME=value.
	Extra []string
	// Stdin, Stdout and Stderr are passed as they are; nil is /dev/null. They stay the caller's to
	// close, and may be closed as soon as Start has returned.
	Stdin, Stdout, Stderr *os.File
	// Terminal makes Stdin, a terminal, the controlling terminal.
	Terminal bool
	// Network replaces the policy's network mode for this command.
	Network *policy.Network
	// Name is how the proxy's log calls the command.
	Name string
}

// Exit is how a command ended.
type Exit struct {
	Code   int            // 0 to 255; -1 when a signal ended it
	Signal syscall.Signal // 0 when it exited
	// Lost lists guards that something outside the sandbox replaced while the command ran. It was
	// stopped for that: what is at those paths now may have been changed by it.
	Lost []string
}

// Status is the exit status that a shell would show: the code, or 128 and the signal.
func (e Exit) Status() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Code
}

// runner is the tier's side of a running command.
type runner interface {
	signal(syscall.Signal) error
	// kill ends everything in the sandbox of the command, and soon.
	kill()
	// wait blocks until nothing of the command is left that the tier can hold.
	wait() (Exit, error)
}

// Process is a command that runs. It ends by itself, by Kill, with the context that it was started
// with, or with its box; then everything that it started has ended too (tier C: what stayed in its
// process group).
type Process struct {
	run  runner
	done chan struct{}
	exit Exit
	err  error
	pid  int
}

// follow owns a started command until its end.
func follow(ctx context.Context, r runner, pid int, after ...func()) *Process {
	p := &Process{run: r, done: make(chan struct{}), pid: pid}
	stop := context.AfterFunc(ctx, r.kill)
	go func() {
		p.exit, p.err = r.wait()
		stop()
		for _, f := range after {
			f()
		}
		close(p.done)
	}()
	return p
}

// Wait returns when the command and everything in its sandbox has ended. It may be called more than
// once and by several goroutines. The error says that the end is not known, such as when the
// supervisor was killed; what ran is gone then, too.
func (p *Process) Wait() (Exit, error) {
	<-p.done
	return p.exit, p.err
}

// Done is closed when Wait would return.
func (p *Process) Done() <-chan struct{} { return p.done }

// PID is the command's process id in its own namespace; in tier C, and on macOS, the machine's.
func (p *Process) PID() int { return p.pid }

// Signal reaches the command's process group. It is an error when it has ended.
func (p *Process) Signal(s syscall.Signal) error {
	if p.ended() {
		return os.ErrProcessDone
	}
	return p.run.signal(s)
}

func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Kill ends everything in the command's sandbox. Wait says when that is done.
func (p *Process) Kill() { p.run.kill() }

// errEnded is the cause when a helper went away without a word.
var errEnded = errors.New("the sandbox's own process was killed")
