//go:build unix

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// group is a command with all that stayed in its process group.
type group struct {
	proc *os.Process

	mu    sync.Mutex
	ended bool // the number of the group may be another's
}

func (g *group) signal(s syscall.Signal) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return os.ErrProcessDone
	}
	if err := syscall.Kill(-g.proc.Pid, s); err != nil {
		return fmt.Errorf("signal command: %w", err)
	}
	return nil
}

func (g *group) kill() { _ = g.signal(syscall.SIGKILL) }

func (g *group) wait() (Exit, error) {
	state, err := g.proc.Wait()
	g.kill() // what it left behind
	g.mu.Lock()
	g.ended = true
	g.mu.Unlock()
	if err != nil {
		return Exit{}, fmt.Errorf("wait for command: %w", err)
	}
	ws, ok := state.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return Exit{Code: -1, Signal: ws.Signal()}, nil
	}
	return Exit{Code: state.ExitCode()}, nil
}

// lookPath finds a program in the PATH that the command gets.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	var last error = syscall.ENOENT
	for _, v := range env {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			file := filepath.Join(dir, name)
			if info, err := os.Stat(file); !filepath.IsAbs(dir) || err != nil || info.IsDir() {
				continue
			}
			if err := unix.Access(file, unix.X_OK); err != nil {
				last = err
				continue
			}
			return file, nil
		}
	}
	return "", fmt.Errorf("start %q: %w", name, last)
}

// dialMachine connects to a port of the machine's own loopback.
func dialMachine(ctx context.Context, port int) (net.Conn, error) {
	var d net.Dialer
	var errs error
	for _, host := range []string{"127.0.0.1", "::1"} {
		c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			return c, nil
		}
		errs = errors.Join(errs, err)
	}
	return nil, errs
}
