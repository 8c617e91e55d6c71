package git

import (
	"os"
	"path/filepath"
	"testing"
	"time"
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
	gone := time.AfterFunc(2*listPause, func() { _ = os.RemoveAll(half) })
	defer gone.Stop()
	if trees, err := r.g.Worktrees(t.Context(), r.dir); err != nil || len(trees) != 1 {
		t.Fatalf("trees = %v, %v", trees, err)
	}
}
