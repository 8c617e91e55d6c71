//go:build unix

package serve

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestARealBrowserAttachesUnderThePolicy(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium here")
	}
	f := start(t, nil)
	f.projects.paths = make(chan string, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--user-data-dir="+t.TempDir(), f.Link())
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with its children
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-f.projects.paths:
		if got != "inline false, blocked connect-src" {
			t.Errorf("the page reports: %s", got)
		}
	case <-time.After(60 * time.Second):
		t.Errorf("the page did not attach; log:\n%s", f.log)
	}
	cancel()
	_ = cmd.Wait() // killed
}
