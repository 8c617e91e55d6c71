//go:build unix

package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"carrel/sandbox"
)

// localTerminal is a program on a pty of this machine. One goroutine waits for its end.
type localTerminal struct {
	master *os.File
	leader proc
	tag    string
	held   *sandbox.Process // nil: unconfined

	exited chan struct{} // the program has ended
	done   chan struct{} // exit is set, and the terminal is closed
	exit   Exit
	err    error

	mu     sync.Mutex
	killed bool
}

// StartTerminal implements Terminals.
func (l *local) StartTerminal(ctx context.Context, c TerminalCommand) (Terminal, error) {
	argv := c.Argv
	if len(argv) == 0 {
		argv = []string{personsShell(c.Env)}
	}
	dir, err := l.files.folder(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("start %q on a terminal: %w", argv[0], err)
	}
	tag := newTag(terminalTag(l.tag), l.owner, l.started.Add(1))
	t := &localTerminal{tag: tag, exited: make(chan struct{}), done: make(chan struct{})}
	master, slave, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("start %q on a terminal: %w", argv[0], cause(err))
	}
	defer func() { _ = slave.Close() }()
	t.master = master
	env := append(append([]string{}, c.Env...), "PWD="+dir, tagVar+"="+tag)
	err = t.Resize(c.Cols, c.Rows)
	if err == nil {
		err = l.startOn(ctx, t, slave, argv, dir, env, c.Hold)
	}
	if err != nil {
		_ = master.Close()
		return nil, fmt.Errorf("start %q on a terminal: %w", argv[0], cause(err))
	}
	return t, nil
}

func (l *local) startOn(ctx context.Context, t *localTerminal, slave *os.File, argv []string, dir string, env []string, hold Hold) error {
	if hold != HoldNot && l.boxes != nil {
		box, err := l.boxes(ctx, hold)
		if err != nil {
			return err
		}
		if box != nil {
			return l.confineOn(ctx, t, box, slave, argv, dir, env)
		}
	}
	exe, err := lookPath(argv[0], dir, env)
	if err != nil {
		return err
	}
	cmd := &exec.Cmd{Path: exe, Args: argv, Dir: dir, Env: env, Stdin: slave, Stdout: slave, Stderr: slave,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true}}
	if l.reaper != nil {
		l.reaper.ready()
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	t.leader, _ = findProc(cmd.Process.Pid)
	t.leader.pid = cmd.Process.Pid
	release := func() {}
	if l.reaper != nil {
		release = l.reaper.watch(t.leader, t.tag)
	}
	go t.follow(start, func() (int, error) {
		defer release()
		err := cmd.Wait()
		if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
			err = nil
		}
		return exitCode(cmd.ProcessState), err
	})
	return nil
}

// confineOn starts a program in the sandbox, which makes the terminal its controlling one.
func (l *local) confineOn(ctx context.Context, t *localTerminal, box *Boxed, slave *os.File, argv []string, dir string, env []string) error {
	c := sandbox.Command{Argv: argv, Dir: dir, Env: env, Stdin: slave, Stdout: slave, Stderr: slave, Terminal: true, Name: t.tag,
		Extra: []string{"TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=carrel", "PWD=" + dir, tagVar + "=" + t.tag}}
	look := Look(func() []string { return nil })
	var err error
	if box.Watch != nil {
		if look, err = box.Watch(ctx, c); err != nil {
			return err
		}
	}
	start := time.Now()
	held, err := box.Box.Start(context.WithoutCancel(ctx), c)
	if err != nil {
		return err
	}
	t.held = held
	go t.follow(start, func() (int, error) {
		end, err := held.Wait()
		t.exit.Lost, t.exit.Notes = end.Lost, look()
		return end.Status(), err
	})
	return nil
}

// follow waits for the program's end. What children of it still write is read for a moment.
func (t *localTerminal) follow(start time.Time, wait func() (int, error)) {
	t.exit.Code, t.err = wait()
	t.exit.Took = time.Since(start)
	t.mu.Lock()
	t.exit.Killed = t.killed
	t.mu.Unlock()
	close(t.exited)
	_ = t.master.SetReadDeadline(time.Now().Add(drainTime))
	close(t.done)
}

// Read implements io.Reader. Linux reports the end of a terminal as EIO.
func (t *localTerminal) Read(p []byte) (int, error) {
	n, err := t.master.Read(p)
	if n > 0 || err == nil {
		return n, nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) { // with a slow reader the terminal may still hold something
		_ = t.master.SetReadDeadline(time.Time{})
		n := readNow(t.master, p)
		_ = t.master.SetReadDeadline(time.Now())
		if n > 0 {
			return n, nil
		}
	}
	select {
	case <-t.exited:
	default:
		if errors.Is(err, unix.EIO) { // every descriptor was closed, but the program lives
			<-t.exited
		} else if !errors.Is(err, os.ErrClosed) && !errors.Is(err, io.EOF) {
			return 0, err
		}
	}
	return 0, io.EOF
}

func (t *localTerminal) Write(p []byte) (int, error) { return t.master.Write(p) }

func (t *localTerminal) Resize(cols, rows int) error {
	err := pty.Setsize(t.master, &pty.Winsize{Cols: uint16(min(max(cols, 1), 9999)), Rows: uint16(min(max(rows, 1), 9999))})
	if err != nil && (errors.Is(err, os.ErrClosed) || t.ended()) {
		return nil
	}
	return err
}

func (t *localTerminal) ended() bool {
	select {
	case <-t.exited:
		return true
	default:
		return false
	}
}

func (t *localTerminal) PID() int { return t.leader.pid }

func (t *localTerminal) Wait() (Exit, error) {
	<-t.done
	return t.exit, t.err
}

// Look implements Terminal.
func (t *localTerminal) Look() TerminalLook {
	if t.ended() {
		return TerminalLook{}
	}
	look := TerminalLook{}
	if t.leader.pid > 0 {
		look.Dir = dirOf(t.leader.pid)
	}
	conn, err := t.master.SyscallConn()
	if err != nil {
		return look
	}
	_ = conn.Control(func(fd uintptr) {
		group, err := unix.IoctlGetInt(int(fd), unix.TIOCGPGRP)
		look.Busy = err == nil && group > 0 && t.leader.pid > 0 && group != t.leader.pid
	})
	return look
}

// Close implements Terminal: the kernel sends SIGHUP to the session when its terminal goes; what ignores
// that is asked by SIGTERM and killed after two seconds.
func (t *localTerminal) Close(ctx context.Context) error {
	t.mu.Lock()
	ended := t.ended()
	t.killed = t.killed || !ended
	t.mu.Unlock()
	_ = t.master.Close()
	if ended {
		return nil
	}
	if t.held != nil {
		t.held.Kill()
	} else if t.leader.start == 0 { // a system that does not tell what runs
		_ = unix.Kill(-t.leader.pid, unix.SIGKILL)
	} else {
		_ = unix.Kill(t.leader.pid, unix.SIGHUP) // also when another program holds the terminal open
		mine := func(q proc) bool { return q.session == t.leader.pid || tagOf(q.pid) == t.tag }
		if err := endAll(ctx, mine, graceTime); err != nil {
			return fmt.Errorf("close the terminal of process %d: %w", t.leader.pid, err)
		}
	}
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close the terminal of process %d: %w", t.leader.pid, ctx.Err())
	}
}

// personsShell is the shell that a person logs in with.
func personsShell(env []string) string {
	if shell := lookup(env, "SHELL"); shell != "" && !strings.HasSuffix(shell, "/nologin") && !strings.HasSuffix(shell, "/false") {
		return shell
	}
	for _, shell := range []string{"/bin/bash", "/bin/zsh"} {
		if _, err := os.Stat(shell); err == nil {
			return shell
		}
	}
	return "/bin/sh"
}
