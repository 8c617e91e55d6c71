package runtime_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"carrel/workspaces/runtime"
)

// spied seals itself, then starts a command that reads what it can of it.
func spied(dir string) {
	if err := runtime.Seal(); err != nil {
		panic(err)
	}
	rt, err := runtime.NewLocal(runtime.Local, dir, runtime.Options{Tag: "spied"})
	if err != nil {
		panic(err)
	}
	script := "ls -l /proc/self/fd; cat /proc/$PPID/environ; head -c 1 /proc/$PPID/mem; ls /proc/$PPID/fd/; tr '\\0' ' ' < /proc/$PPID/cmdline; exit 0"
	p, err := rt.Start(context.Background(), runtime.Command{Argv: []string{"sh", "-c", script}, Output: os.Stdout})
	if err != nil {
		panic(err)
	}
	if _, err := p.Wait(); err != nil {
		panic(err)
	}
}

func TestCommandsSeeNothingOfWhoStartedThem(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o777), os.Chmod(filepath.Dir(dir), 0o755))
	leak, err := os.Open(dir) // as a shell hands descriptors on
	must(t, err)
	defer func() { _ = leak.Close() }()
	cmd := exec.Command(copySelf(t), "seal", dir)
	cmd.ExtraFiles = []*os.File{leak}
	cmd.Env = append(os.Environ(), "ANTHROPIC_API_KEY=the-secret-key")
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "self seal") {
		t.Fatalf("the command did not run: %v %s", err, out)
	}
	if strings.Contains(string(out), "-> "+dir+"\n") {
		t.Errorf("the command inherited a descriptor: %s", out)
	}
	if strings.Contains(string(out), "the-secret-key") || strings.Count(string(out), "Permission denied") < 2 {
		t.Errorf("the command saw %s", out)
	}
}

func TestACommandIsKnownByItsWorkspace(t *testing.T) {
	rt := newLocal(t, runtime.Options{Tag: "w1"})
	p, err := rt.Start(t.Context(), runtime.Command{Argv: []string{"sleep", "100"}})
	must(t, err)
	// A program that is being loaded has closed our pipe but shows no environment for a moment.
	got := runtime.ProcessOf(p.PID())
	for end := time.Now().Add(10 * time.Second); got == "" && time.Now().Before(end); time.Sleep(time.Millisecond) {
		got = runtime.ProcessOf(p.PID())
	}
	if got != "w1" {
		t.Errorf("the command is one of %q", got)
	}
	if got := runtime.ProcessOf(os.Getpid()); got != "" {
		t.Errorf("we are one of %q", got)
	}
	must(t, runtime.KillTagged(t.Context(), "w1"))
	for environ, want := range map[string]string{"CARREL_TAG=w1/x/3": "w1", "CARREL_TAG=": "", "CARREL_TAG=w1": "", "A=w1/x/3": ""} {
		if got := runtime.StartedFor([]string{"B=1", environ}); got != want {
			t.Errorf("%s: %q", environ, got)
		}
	}
}
