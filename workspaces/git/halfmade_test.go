package git

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestListingWaitsForARegistrationInTheMaking(t *testing.T) {
	r := newCommit(t)
	half := filepath.Join(r.dir, ".git", "worktrees", "half")
	if err := os.MkdirAll(half, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"commondir", "gitdir", "HEAD"} {
		if err := os.WriteFile(filepath.Join(half, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// A git that finds it in its first list, and not in its second.
	script := fmt.Sprintf(`#!/bin/sh
case " $* " in *" worktree list "*) if [ -e '%[1]s/once' ]; then rm -rf '%[2]s'; else : > '%[1]s/once'; fi ;; esac
exec git "$@"
`, r.root, half)
	r.put("bin/git", script)
	if err := os.Chmod(r.path("bin/git"), 0o755); err != nil {
		t.Fatal(err)
	}
	g, err := New(Options{Path: r.path("bin/git"), Env: testEnv(r.root)})
	if err != nil {
		t.Fatal(err)
	}
	if trees, err := g.Worktrees(t.Context(), r.dir); err != nil || len(trees) != 1 {
		t.Fatalf("trees = %v, %v", trees, err)
	}
}
