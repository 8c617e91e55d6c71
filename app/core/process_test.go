//go:build linux

package core

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/wire"
	"carrel/store"
)

// ensure starts a core in a process of its own, or finds it.
func ensure(t *testing.T, root *store.Root) attach.Core {
	t.Helper()
	t.Cleanup(func() { killCores(t, root) })
	core, err := attach.Ensure(t.Context(), root, self(t))
	if err != nil {
		t.Fatal(err)
	}
	return core
}

// killCores ends every core of the root, also those that are still looking for the lock.
func killCores(t *testing.T, root *store.Root) {
	eventually(t, "the cores' end", func() bool {
		environs, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			t.Fatal(err)
		}
		none := true
		for _, name := range environs {
			text, _ := os.ReadFile(name) // another user's, or gone
			if strings.Contains(string(text), "CARREL_ROOT="+root.Dir()) {
				none = false
				pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		return none
	})
}

func self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

func gone(pid int) func() bool {
	return func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
}

func coreLog(root *store.Root) string {
	text, _ := os.ReadFile(root.Path("logs", "core.log"))
	return string(text)
}

func TestTwoStartersAtOnceGetOneCore(t *testing.T) {
	root := openRoot(t)
	t.Cleanup(func() { killCores(t, root) })
	pids := make([]int, 4)
	var all sync.WaitGroup
	for i := range pids {
		all.Go(func() {
			core, err := attach.Ensure(t.Context(), root, self(t))
			if err != nil {
				t.Error(err)
			}
			pids[i] = core.PID
		})
	}
	all.Wait()
	for _, pid := range pids {
		if pid != pids[0] || pid == os.Getpid() {
			t.Errorf("cores %v", pids)
		}
	}
}

func TestAHostOutlivesAKilledCore(t *testing.T) {
	root := openRoot(t)
	first := ensure(t, root)
	reset := make(chan struct{}, 8)
	c := dial(t, wire.ClientOptions{Reset: func() { reset <- struct{}{} }}, func(ctx context.Context) (attach.Core, error) {
		return attach.Ensure(ctx, root, self(t))
	})
	before := c.Core()
	if err := c.Call(t.Context(), "projects.add", app.AddProject{Path: "/x"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(first.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	receive(t, reset)
	if err := c.Call(t.Context(), "projects.add", app.AddProject{Path: "/y"}, nil); err != nil {
		t.Error(err)
	}
	second := ensure(t, root)
	_ = c.Close() // or it starts a third one when the second is killed
	if second.PID == first.PID || c.Core() == before {
		t.Errorf("cores %d and %d, %s and %s", first.PID, second.PID, before, c.Core())
	}
}

func TestASignalSavesBeforeTheEnd(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		root := openRoot(t)
		core := ensure(t, root)
		if err := syscall.Kill(core.PID, sig); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the core's end", gone(core.PID))
		if _, err := os.Stat(root.Path("saved")); err != nil {
			t.Errorf("%v: %v; log:\n%s", sig, err, coreLog(root))
		}
	}
}

func TestACoreOfAnotherVersionIsReplacedWhenIdle(t *testing.T) {
	root := openRoot(t)
	first := ensure(t, root)
	second, err := first.Replace(t.Context(), self(t))
	if err != nil {
		t.Fatal(err)
	}
	if second.PID == first.PID {
		t.Error("the same core")
	}
}

func TestACoreInheritsNothingFromItsStarter(t *testing.T) {
	root := openRoot(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self(t), "core")
	cmd.Env = append(os.Environ(), "CARREL_ROOT="+root.Dir())
	cmd.ExtraFiles = []*os.File{w} // arrives without close-on-exec, as WebKit's descriptors do
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	_ = w.Close()
	_ = r.SetReadDeadline(time.Now().Add(60 * time.Second))
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the core holds the pipe: %v", err)
	}
}

func TestACoreStandsOnItsOwn(t *testing.T) {
	core := ensure(t, openRoot(t))
	if sid, err := unix.Getsid(core.PID); err != nil || sid != core.PID {
		t.Errorf("session %d, %v", sid, err)
	}
	proc := "/proc/" + strconv.Itoa(core.PID)
	if dir, err := os.Readlink(proc + "/cwd"); err != nil || dir != "/" {
		t.Errorf("works in %q, %v", dir, err)
	}
	if in, err := os.Readlink(proc + "/fd/0"); err != nil || in != os.DevNull {
		t.Errorf("reads from %q, %v", in, err)
	}
}

func TestACrashIsInTheLog(t *testing.T) {
	root := openRoot(t)
	core := ensure(t, root)
	c := dial(t, wire.ClientOptions{}, func(context.Context) (attach.Core, error) { return core, nil })
	var failed *app.Error
	if err := c.Call(t.Context(), "projects.add", app.AddProject{Path: "/crash"}, nil); !errors.As(err, &failed) || failed.Code != "disconnected" {
		t.Errorf("the call: %v", err)
	}
	eventually(t, "the core's end", gone(core.PID))
	if log := coreLog(root); !containsAll(log, "the core is ready", "a bug somewhere", "fake_test.go") {
		t.Errorf("log:\n%s", log)
	}
}

func TestTheTokenIsInNoFileAndOnNoCommandLine(t *testing.T) { // O-SRV-02
	root := openRoot(t)
	core := ensure(t, root)
	c := dial(t, wire.ClientOptions{}, func(context.Context) (attach.Core, error) { return core, nil })
	if err := c.Call(t.Context(), "projects.add", app.AddProject{Path: "/x"}, nil); err != nil {
		t.Error(err)
	}
	files := []string{}
	for _, name := range []string{"cmdline", "environ"} {
		files = append(files, filepath.Join("/proc", strconv.Itoa(core.PID), name), filepath.Join("/proc/self", name))
	}
	err := filepath.WalkDir(root.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil || strings.Contains(string(text), core.Token) {
			t.Errorf("%s: the token is there, or %v", name, err)
		}
	}
}

func TestTheLogIsRotatedWithThePanicsOutput(t *testing.T) {
	if os.Getenv("CARREL_TEST_ROTATE") == "" {
		cmd := exec.Command(self(t), "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "CARREL_TEST_ROTATE="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	root, err := store.Open(os.Getenv("CARREL_TEST_ROTATE"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := openLogFile(root)
	if err != nil {
		t.Fatal(err)
	}
	l.max = 100
	for range 3 {
		if _, err := l.Write([]byte(strings.Repeat("x", 60) + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stderr.WriteString("a panic\n"); err != nil {
		t.Fatal(err)
	}
	if got := coreLog(root); got != strings.Repeat("x", 60)+"\na panic\n" {
		t.Fatalf("the log holds %q", got)
	}
	if err := l.Empty(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Write([]byte("after\n")); err != nil {
		t.Fatal(err)
	}
	if got := coreLog(root); got != "after\n" {
		t.Fatalf("the emptied log holds %q", got)
	}
	if _, err := os.Stat(root.Path("logs", "core.log.1")); err == nil {
		t.Fatal("the older log is still there")
	}
}
