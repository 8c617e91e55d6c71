package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// makeRepo makes a git repository with one commit.
func makeRepo(dir, home string) error {
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("# Harbor\n\nIt ships things.\n"), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-qm", "Start"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w\n%s", args, err, out)
		}
	}
	return nil
}

// killRoot kills every process of ours that works on a data root.
func killRoot(root string) {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(text), "CARREL_ROOT="+root+"\x00") {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(name, "/")[2]); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// stopCores ends what runs on the script's data root: cores stop.
func stopCores(ts *testscript.TestScript, _ bool, _ []string) { killRoot(ts.Getenv("CARREL_ROOT")) }

// openPipe makes a named pipe and holds it open without ever writing to it: pipe FILE.
func openPipe(ts *testscript.TestScript, neg bool, args []string) {
	path := ts.MkAbs(args[0])
	ts.Check(syscall.Mkfifo(path, 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	ts.Check(err)
	ts.Defer(func() { _ = f.Close() })
}
