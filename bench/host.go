package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// show opens the page in the host that was asked for, until closeHost. It says what it is.
func (b *bench) show(ctx context.Context, s *pageServer) (h *shown, err error) {
	switch b.host {
	case "window":
		return b.showWindow(ctx, s)
	case "chromium":
		// Not the product's window: for working on the bench where there is none.
		path, err := exec.LookPath("chromium")
		if err != nil {
			return nil, fmt.Errorf("%w: no chromium", errSkipped)
		}
		return start("headless Chromium", exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu",
			"--user-data-dir="+s.dir+"-chromium", s.url+"/#t="+s.token), b.env())
	}
	return nil, fmt.Errorf("%w: -host %s shows no page", errSkipped, b.host)
}

func (b *bench) showWindow(_ context.Context, s *pageServer) (*shown, error) {
	path := b.window
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.module, path)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w: there is no %s; make window builds it", errSkipped, b.window)
	}
	argv := []string{path}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		if _, err := exec.LookPath("xvfb-run"); err != nil {
			return nil, fmt.Errorf("%w: no display, and no xvfb-run to make one", errSkipped)
		}
		argv = []string{filepath.Join(b.module, "build", "display.sh"), path}
	}
	return start("the window", exec.Command(argv[0], argv[1:]...), b.env("CARREL_ROOT="+s.dir))
}

// showApart opens the window with the core beside it on a data root, always on a display of its own: the
// row that asks for it types there.
func (b *bench) showApart(root string, env ...string) (*shown, error) {
	path := b.window
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.module, path)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w: there is no %s; make window builds it", errSkipped, b.window)
	}
	for _, tool := range []string{"xvfb-run", "openbox", "xdotool"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("%w: no %s", errSkipped, tool)
		}
	}
	return start("the window", exec.Command(filepath.Join(b.module, "build", "display.sh"), path), b.env(append(env, "CARREL_ROOT="+root)...))
}

// shown is a host that shows the page.
type shown struct {
	name  string
	cmd   *exec.Cmd
	said  bytes.Buffer
	ended chan struct{} // closed when it has
}

func start(name string, cmd *exec.Cmd, env []string) (*shown, error) {
	h := &shown{name: name, cmd: cmd, ended: make(chan struct{})}
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &h.said, &h.said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(h.ended)
		_ = cmd.Wait() // it is ended by a signal
	}()
	return h, nil
}

// close ends the host and all that it started.
func (h *shown) close() error {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := syscall.Kill(-h.cmd.Process.Pid, sig); errors.Is(err, syscall.ESRCH) {
			return nil
		}
		select {
		case <-h.ended:
		case <-time.After(3 * time.Second):
		}
	}
	return nil
}
