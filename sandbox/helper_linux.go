package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carrel/sandbox/jail"
	"carrel/sandbox/plan"
)

const (
	// answerTime bounds an answer of supervisor or helper; they do a few milliseconds of work.
	answerTime = 30 * time.Second
	// graceTime is how long a killed command may take before its helper is killed too.
	graceTime = 2 * time.Second
)

// errStale says that a waiting helper is of no use any more.
var errStale = errors.New("a guard was replaced before the command started")

// helper is one helper process as its owner sees it: waiting, ready, then running a command.
type helper struct {
	conn  *jail.Conn
	pidfd *os.File // of the helper, or in tier B of what started it
	key   string   // what it is ready for; empty when it has no plan yet
	// What a helper of tier B has of its own: a network namespace's listeners, until they are served,
	// the end of serving them, what bubblewrap says, and its end.
	listeners Listeners
	stop      context.CancelFunc
	told      *tail
	done      chan struct{}

	mu    sync.Mutex
	timer *time.Timer
	ended bool
}

// ask sends a message and gives the answer to it, within the context and answerTime.
func ask(ctx context.Context, c *jail.Conn, m jail.Message, files ...int) (jail.Message, []int, error) {
	end := time.Now().Add(answerTime)
	if d, ok := ctx.Deadline(); ok && d.Before(end) {
		end = d
	}
	if err := c.SetDeadline(end); err != nil {
		return m, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := c.Send(m, files...); err != nil {
		return m, nil, errors.Join(err, ctx.Err())
	}
	reply, fds, err := c.Receive()
	if err != nil {
		return reply, nil, errors.Join(err, ctx.Err())
	}
	if reply.Kind == jail.Failed && reply.Failure != nil {
		jail.CloseAll(fds)
		return reply, nil, reply.Failure
	}
	return reply, fds, nil
}

// ready makes the helper do what does not depend on the command, and takes the listeners that it
// was asked for.
func (h *helper) ready(ctx context.Context, p plan.Plan, c jail.Confine, overlays []int, e []jail.Endpoint) error {
	bare := p // what a command gets is told when it starts
	bare.Env, bare.Prepare, bare.Unheld, bare.Notes = nil, nil, nil, nil
	m := jail.Message{Kind: jail.Ready, Plan: &bare, Confine: c, Endpoints: e}
	reply, fds, err := ask(ctx, h.conn, m, overlays...)
	if err != nil {
		return err
	}
	if reply.Kind != jail.Done {
		jail.CloseAll(fds)
		return fmt.Errorf("prepare sandbox: %w", errStale)
	}
	if len(e) > 0 {
		h.listeners, err = takeListeners(reply.Endpoints, fds)
	}
	return err
}

// run starts the command; errStale says that it has not started and another helper may.
func (h *helper) run(ctx context.Context, j job) (int, error) {
	m := jail.Message{Kind: jail.Run, Run: &jail.Start{
		Argv: j.command.Argv, Env: j.plan.Env, Dir: j.plan.Dir, Terminal: j.command.Terminal,
		Limits: jail.Limits(j.plan.Limits),
	}}
	// Fd makes a pipe of ours blocking, as a command expects its streams to be.
	in, out, errs := int(j.command.Stdin.Fd()), int(j.command.Stdout.Fd()), int(j.command.Stderr.Fd())
	reply, fds, err := ask(ctx, h.conn, m, in, out, errs)
	jail.CloseAll(fds)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, syscall.EPIPE):
		return 0, errStale
	case err != nil:
		return 0, err
	case reply.Kind != jail.Done:
		return 0, errStale
	}
	return reply.PID, h.conn.SetDeadline(time.Time{})
}

// discard ends a helper that runs nothing.
func (h *helper) discard() {
	_ = h.conn.Close() // it ends with its socket
	h.listeners.Close()
	if h.stop != nil {
		h.stop()
	}
	_ = h.pidfd.Close()
}

func (h *helper) signal(s syscall.Signal) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return os.ErrProcessDone
	}
	return h.conn.Send(jail.Message{Kind: jail.Signal, Signal: int(s)})
}

// kill ends the command, and with it all that it started; a helper that can't is killed itself.
func (h *helper) kill() {
	err := h.signal(syscall.SIGKILL)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended || h.timer != nil {
		return
	}
	if err != nil {
		killFD(h.pidfd)
		return
	}
	h.timer = time.AfterFunc(graceTime, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if !h.ended {
			killFD(h.pidfd)
		}
	})
}

func killFD(pidfd *os.File) {
	_ = unix.PidfdSendSignal(int(pidfd.Fd()), unix.SIGKILL, nil, 0) // it may have ended
}

// wait takes the helper's last word.
func (h *helper) wait() (Exit, error) {
	var exit Exit
	var err error
	for {
		var m jail.Message
		var fds []int
		if m, fds, err = h.conn.Receive(); err != nil {
			break
		}
		jail.CloseAll(fds)
		if m.Kind == jail.Ended {
			exit = Exit{Code: m.Exit.Code, Signal: syscall.Signal(m.Exit.Signal), Lost: m.Exit.Lost}
			if exit.Signal != 0 {
				exit.Code = -1
			}
			break
		}
	}
	if err != nil {
		killFD(h.pidfd)
		awaitFD(h.pidfd) // all of its namespace is gone when it is
		exit, err = Exit{Code: -1, Signal: syscall.SIGKILL}, fmt.Errorf("wait for command: %w", errors.Join(errEnded, err))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.timer != nil {
		h.timer.Stop()
		if errors.Is(err, errEnded) {
			err = nil // that was us
		}
	}
	h.ended = true
	h.discard()
	return exit, err
}

// awaitFD waits until a process has ended, for at most graceTime.
func awaitFD(pidfd *os.File) {
	polls := []unix.PollFd{{Fd: int32(pidfd.Fd()), Events: unix.POLLIN}}
	for end := time.Now().Add(graceTime); ; {
		_, err := unix.Poll(polls, int(max(0, time.Until(end).Milliseconds())))
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
