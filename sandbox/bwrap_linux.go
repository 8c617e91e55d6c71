package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"carrel/sandbox/jail"
	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

// bwrap is tier B: bubblewrap makes namespaces and mounts, our helper is the first process inside.
// Each command has a network namespace of its own.
type bwrap struct {
	program  string
	path     string
	landlock int
	proxy    Proxy
	ground   *ground
	pool     *pool
	running  sync.WaitGroup
}

func newBwrap(c Config, s Status, g *ground) *bwrap {
	b := &bwrap{program: c.Program, path: bwrapPath(), landlock: s.Machine.Landlock, proxy: c.Proxy, ground: g}
	b.pool = newPool(g, func() {}, b.prepare)
	return b
}

// bwrapPath finds bubblewrap in the absolute folders of PATH.
func bwrapPath() string {
	path, err := exec.LookPath("bwrap")
	if err != nil || !strings.HasPrefix(path, "/") {
		return ""
	}
	return path
}

// Descriptors that bubblewrap is started with, besides the control socket.
const (
	argsFD   = 4 // its arguments
	helperFD = 5 // our program: its folder can't be seen inside
)

// prepare starts bubblewrap with a helper in it that is ready for the plan.
func (b *bwrap) prepare(ctx context.Context, p plan.Plan) (*helper, error) {
	key := b.ground.fingerprint(p)
	h, err := b.spawn(p)
	if err != nil {
		return nil, err
	}
	h.key = key
	c := jail.Confine{Landlock: b.landlock, Mounted: true}
	var wanted []jail.Endpoint
	if p.Network == policy.NetworkAllowlist {
		// No more than the proxy: bubblewrap gives nobody rights over the network namespace, so
		// programs that don't ask the proxy reach nothing.
		wanted = []jail.Endpoint{{Address: atProxy}}
	}
	if err := h.ready(ctx, p, c, nil, wanted); err != nil {
		h.discard()
		select { // what it says comes before its end
		case <-h.done:
		case <-time.After(graceTime):
		}
		if said := h.told.String(); said != "" {
			err = fmt.Errorf("%s: %w", said, err)
		}
		return nil, err
	}
	return h, nil
}

// spawn starts bubblewrap and the helper.
func (b *bwrap) spawn(p plan.Plan) (*helper, error) {
	if b.path == "" {
		return nil, &CannotEnforce{Tier: plan.TierB, Why: "bubblewrap is not installed"}
	}
	args := p.Bwrap(fmt.Sprintf("/proc/self/fd/%d", helperFD), jail.RoleHelper)
	// Its parent is one of our threads, which may end at any time. The helper ends with its socket.
	args = slices.DeleteFunc(args, func(a string) bool { return a == "--die-with-parent" })
	cut := slices.Index(args, "--")
	if cut < 0 {
		return nil, fmt.Errorf("start bubblewrap: the plan gives no arguments")
	}
	list, err := memory(strings.Join(args[:cut], "\x00") + "\x00")
	if err != nil {
		return nil, err
	}
	defer func() { _ = list.Close() }()
	program, err := os.Open(b.program)
	if err != nil {
		return nil, fmt.Errorf("start bubblewrap: %w", err)
	}
	defer func() { _ = program.Close() }()
	ours, theirs, err := jail.Pair()
	if err != nil {
		return nil, err
	}
	end := os.NewFile(uintptr(theirs), "helper")
	defer func() { _ = end.Close() }()
	conn, err := jail.NewConn(ours)
	if err != nil {
		return nil, err
	}
	pidfd := -1
	cmd := exec.Command(b.path, append([]string{"--args", fmt.Sprint(argsFD), "--as-pid-1"}, args[cut:]...)...)
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.ExtraFiles = []*os.File{end, list, program}
	cmd.SysProcAttr = sessionWithPidFD(&pidfd)
	h := &helper{conn: conn, told: &tail{}, done: make(chan struct{})}
	cmd.Stderr = h.told
	if err := startPlain(cmd); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("start bubblewrap: %w", err)
	}
	h.pidfd = os.NewFile(uintptr(pidfd), "bwrap")
	b.running.Go(func() {
		_ = cmd.Wait() // how it ended is told on the helper's socket
		close(h.done)
	})
	return h, nil
}

// startPlain starts a program without the capabilities that this process may pass on, which
// bubblewrap refuses to be given. They are cleared on a thread of its own, which ends.
func startPlain(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
			done <- fmt.Errorf("clear capabilities: %w", err)
			return
		}
		done <- cmd.Start()
	}()
	return <-done
}

// memory gives an unnamed file with the text, at its start.
func memory(text string) (*os.File, error) {
	fd, err := unix.MemfdCreate("arguments", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("keep arguments: %w", err)
	}
	f := os.NewFile(uintptr(fd), "arguments")
	_, err = f.WriteString(text)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("keep arguments: %w", err)
	}
	return f, nil
}

func (b *bwrap) start(ctx context.Context, j job) (*Process, error) {
	var err error
	for range maxStale {
		h := b.pool.take(ctx, j.plan)
		if h == nil {
			if h, err = b.prepare(ctx, j.plan); err != nil {
				return nil, b.refused(err)
			}
		}
		var p *Process
		if p, err = b.launch(ctx, h, j); !errors.Is(err, errStale) {
			return p, err
		}
	}
	return nil, fmt.Errorf("start command: %w", err)
}

func (b *bwrap) stir() {} // its helper waits on a socket

func (b *bwrap) warm(ctx context.Context, p plan.Plan) error { return b.pool.warm(ctx, p) }

// launch runs a command and serves its own network namespace meanwhile.
func (b *bwrap) launch(ctx context.Context, h *helper, j job) (*Process, error) {
	w := Way{Helper: j.plan.Helper}
	if l := h.listeners; l.Proxy != nil {
		w.Address = l.Proxy.Addr().String()
		serving, stop := context.WithCancel(context.Background())
		h.stop, h.listeners = stop, Listeners{}
		b.running.Go(func() { b.proxy.Serve(serving, l) })
	}
	return launch(ctx, h, j, b.proxy, w, func() { b.pool.refill(j.plan) })
}

func (b *bwrap) refused(err error) error {
	var f *jail.Failure
	var c *CannotEnforce
	if errors.As(err, &c) || errors.As(err, &f) && (f.Step == "start" || f.Step == "enter") {
		return err
	}
	return &CannotEnforce{Tier: plan.TierB, Why: "bubblewrap refuses: " + err.Error(), Err: err}
}

func (b *bwrap) dial(ctx context.Context, port int) (net.Conn, error) { return dialMachine(ctx, port) }

func (b *bwrap) close() error {
	b.pool.close()
	b.running.Wait()
	return nil
}
