package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestOutputIsCappedWhileRead(t *testing.T) {
	r := newCommit(t)
	r.commit("repo", "big.txt", strings.Repeat("0123456789abcde\n", 1<<16))
	g, err := New(Options{Env: testEnv(r.root), MaxOutput: 1000})
	if err != nil {
		t.Fatal(err)
	}
	out, err := g.Read(t.Context(), r.dir, "show", "HEAD:big.txt")
	if !errors.Is(err, ErrTooMuch) || len(out.Stdout) != 1000 {
		t.Errorf("%d bytes, %v", len(out.Stdout), err)
	}
}

func TestMissingOrOldGitSaysHowToInstall(t *testing.T) {
	r := newRepo(t)
	var missing *MissingError
	if _, err := New(Options{Path: r.path("nowhere"), Env: testEnv(r.root)}); !errors.As(err, &missing) || !strings.Contains(err.Error(), "install it with") {
		t.Errorf("missing: %v", err)
	}
	r.put("old", "#!/bin/sh\necho git version 2.17.1\n")
	if err := os.Chmod(r.path("old"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Path: r.path("old"), Env: testEnv(r.root)}); !errors.As(err, &missing) || missing.Version != "2.17" {
		t.Errorf("old: %v", err)
	}
	for text, want := range map[string][2]int{
		"git version 2.39.5 (Apple Git-154)": {2, 39}, "git version 2.51.0.windows.1": {2, 51}, "git version 3.0": {3, 0},
	} {
		if got, err := parseVersion(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestRepositoryOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	r := newCommit(t)
	for _, path := range []string{r.dir, r.path("repo/.git")} {
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.g.Identify(t.Context(), r.dir); !errors.Is(err, ErrNotOwner) {
		t.Errorf("identify: %v", err)
	}
}

func TestErrorsAreJudgedByState(t *testing.T) {
	r := newCommit(t)
	r.put("plain/x", "")
	for name, call := range map[string]func(dir string) error{
		"head":      func(dir string) error { _, err := r.g.Head(t.Context(), dir); return err },
		"branches":  func(dir string) error { _, err := r.g.Branches(t.Context(), dir); return err },
		"worktrees": func(dir string) error { _, err := r.g.Worktrees(t.Context(), dir); return err },
		"state":     func(dir string) error { _, err := r.g.State(t.Context(), dir, "main"); return err },
		"changes":   func(dir string) error { _, _, err := r.g.Changes(t.Context(), dir, "main", 1); return err },
		"add": func(dir string) error {
			_, err := r.g.AddTree(t.Context(), NewTree{Repo: dir, Dir: r.path("w")})
			return err
		},
	} {
		if err := call(r.path("plain")); !errors.Is(err, ErrNotRepo) {
			t.Errorf("%s: %v", name, err)
		}
		if err := call(r.path("nowhere")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s of nothing: %v", name, err)
		}
	}
}

func TestCancelEndsTheWholeProcessGroup(t *testing.T) {
	defer goleak.VerifyNone(t)
	r := newCommit(t)
	fifo := r.path("started")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// git starts a shell, which starts a child that says its number and sleeps.
	r.put("home/.gitconfig", r.read("home/.gitconfig")+"[alias]\n\tslow = \"!sh -c 'echo $$ > "+fifo+"; exec sleep 600'\"\n")
	ended := make(chan error)
	go func() {
		_, err := r.g.Run(ctx, r.dir, "slow")
		ended <- err
	}()
	text, err := os.ReadFile(fifo)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(60 * time.Second); syscall.Kill(pid, 0) == nil && !zombie(pid); {
		if time.Now().After(deadline) {
			t.Fatalf("process %d lives", pid)
		}
		time.Sleep(10 * time.Millisecond) // nothing tells of the death of a grandchild
	}
}

func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}
