package git

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSettleYieldsToWhoeverHoldsTheIndex(t *testing.T) {
	r := newCommit(t)
	w1 := r.add("w1")
	index := r.path("repo/.git/worktrees/w1/index")
	before := stat(t, index)
	r.put("repo/.git/worktrees/w1/index.lock", "somebody's")
	if err := r.g.Settle(t.Context(), w1); err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, stat(t, index)) || r.read("repo/.git/worktrees/w1/index.lock") != "somebody's" {
		t.Error("the index was written under somebody's lock")
	}
	if err := os.Remove(index + ".lock"); err != nil {
		t.Fatal(err)
	}
	if err := r.g.Settle(t.Context(), w1); err != nil {
		t.Fatal(err)
	}
	if os.SameFile(before, stat(t, index)) {
		t.Error("the index was not refreshed")
	}
	if s, err := r.g.State(t.Context(), w1, "main"); err != nil || s.Dirty() {
		t.Errorf("state %+v, %v", s, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(index), "carrel-index-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left %q, %v", left, err)
	}
}

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
