package desktop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/core"
	"carrel/store"
	"carrel/workspaces/runtime"
)

// TestMain lets the test binary be the core, and the core's helper, when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "core":
			os.Exit(beCore())
		case "helper":
			if err := runtime.RunReaper(os.Stdin); err != nil {
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	dir, err := os.MkdirTemp("", "carrel-window-")
	if err == nil {
		err = os.Setenv(binariesVar, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// binariesVar names the folder of what the window tests build.
const binariesVar = "CARREL_TEST_BINARIES"

func beCore() int {
	root, err := store.Open("")
	if err != nil {
		return 1
	}
	version := "dev"
	if text, err := os.ReadFile(root.Path("version")); err == nil { // a test asks for a core of another version
		version = string(text)
	}
	if _, err := os.Stat(root.Path("crash")); err == nil {
		fmt.Fprintln(os.Stderr, "this core was told to crash")
		return 3
	}
	err = core.Run(context.Background(), core.Options{
		Root: root, Version: version, Detached: true, Page: fstest.MapFS{},
		Open: func(_ context.Context, log *slog.Logger, journal app.Journal) (core.App, error) {
			exe, err := os.Executable()
			if err != nil {
				return nil, err
			}
			return app.New(app.Options{Root: root, Environ: append(os.Environ(), "CARREL_MODE=bypass", "CARREL_SANDBOX=danger-full-access"), ReaperArgv: []string{exe, "helper", "reap"}, Logger: log, Journal: journal})
		},
	})
	switch {
	case errors.Is(err, core.ErrRunning):
		return attach.ExitLocked
	case err != nil:
		return 1
	}
	return 0
}

func self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// openRoot is a data root and a home of the test's own. What runs there ends with the test.
func openRoot(t *testing.T) *store.Root {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("CARREL_DEMO_DELAY", "1ms")
	root, err := store.Open(filepath.Join(t.TempDir(), "root"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { killAll(t, root) })
	return root
}

// eventually waits until it holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// repository makes a git repository with one commit.
func repository(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q", "-b", "main")
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("# A repository\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", ".")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.invalid", "commit", "-qm", "first")
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}
