package git

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestAddTreeMakesNewBranchFromBase(t *testing.T) { // O-GIT-24
	r := newCommit(t)
	first := r.git(r.dir, "rev-parse", "HEAD")
	r.git(r.dir, "tag", "v1")
	r.git(r.dir, "branch", "origin-like")
	r.git(r.dir, "clone", "-q", "--bare", ".", r.path("remote.git"))
	r.git(r.dir, "remote", "add", "origin", r.path("remote.git"))
	r.git(r.dir, "fetch", "-q", "origin")
	r.git(r.dir, "switch", "-q", "-c", "dev")
	dev := r.commit("repo", "plan.md", "plan\n")
	for _, c := range []struct{ name, base, want string }{
		{"fix-1", "dev", dev}, {"fix-2", "", dev}, {"fix-3", "origin/main", first}, {"fix-4", "v1", first},
		{"fix-5", first[:10], first}, {"user/fix 6"[:8] + "6", "main", first},
	} {
		dir := r.path("w", c.name)
		made, err := r.g.AddTree(t.Context(), NewTree{Repo: r.dir, Dir: dir, Branch: c.name, Base: c.base, Create: true})
		if err != nil {
			t.Fatal(err)
		}
		if made.Commit != c.want || len(made.Warnings) != 0 {
			t.Errorf("base %q: made %+v, want commit %s", c.base, made, c.want)
		}
		h, err := r.g.Head(t.Context(), dir)
		if err != nil || h.Branch != c.name || h.Commit != c.want || h.Detached || h.Unborn {
			t.Errorf("base %q: head %+v, %v", c.base, h, err)
		}
		if out := r.git(dir, "status", "--porcelain"); out != "" {
			t.Errorf("base %q: status %q", c.base, out)
		}
		if out, err := r.try(dir, "rev-parse", "--verify", "@{upstream}"); err == nil {
			t.Errorf("base %q: tracks %s", c.base, out)
		}
	}
}

func TestAddTreeNamesTheFolderThatHoldsTheBranch(t *testing.T) { // O-GIT-02
	r := newCommit(t)
	r.add("f")
	for branch, dir := range map[string]string{"main": r.dir, "f": r.path("f")} {
		_, err := r.g.AddTree(t.Context(), NewTree{Repo: r.dir, Dir: r.path("w2"), Branch: branch})
		var held *HeldError
		if !errors.As(err, &held) || held.Dir != dir || held.Branch != branch {
			t.Errorf("branch %q: %v", branch, err)
		}
	}
	if exists(r.path("w2")) {
		t.Error("a refused creation left a folder")
	}
	r.git(r.dir, "branch", "free")
	if _, err := r.g.AddTree(t.Context(), NewTree{Repo: r.dir, Dir: r.path("w2"), Branch: "free"}); err != nil {
		t.Error(err)
	}
}

func TestAddTreeAfterFolderWasRemovedByHand(t *testing.T) { // O-GIT-03
	r := newCommit(t)
	for _, name := range []string{"w1", "other"} {
		if err := os.RemoveAll(r.add(name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.g.AddTree(t.Context(), NewTree{Repo: r.dir, Dir: r.path("w1"), Branch: "w1"}); err != nil {
		t.Fatal(err)
	}
	trees, err := r.g.Worktrees(t.Context(), r.dir)
	if err != nil || len(trees) != 3 {
		t.Fatalf("the other stale entry must stay: %+v, %v", trees, err)
	}
	for _, tree := range trees {
		if tree.Prunable != (tree.Dir == r.path("other")) {
			t.Errorf("tree %+v", tree)
		}
	}
}

func TestAddTreeRefusesRepositoryWithoutCommit(t *testing.T) { // O-GIT-16
	r := newRepo(t)
	for _, n := range []NewTree{{Branch: "w1", Create: true}, {Branch: "w1", Create: true, Base: "main"}, {Branch: "main"}} {
		n.Repo, n.Dir = r.dir, r.path("w1")
		if _, err := r.g.AddTree(t.Context(), n); !errors.Is(err, ErrUnborn) {
			t.Errorf("%+v: %v", n, err)
		}
	}
	if exists(r.path("w1")) {
		t.Error("a refused creation left a folder")
	}
	if h, err := r.g.Head(t.Context(), r.dir); err != nil || !h.Unborn || h.Branch != "main" {
		t.Errorf("head %+v, %v", h, err)
	}
}

func TestAddTreeRefusals(t *testing.T) {
	r := newCommit(t)
	r.git(r.dir, "branch", "a/b")
	r.put("full/x", "x")
	for _, c := range []struct {
		n    NewTree
		want error
	}{
		{NewTree{Branch: "main", Create: true}, ErrExists},
		{NewTree{Branch: "a", Create: true}, ErrExists},
		{NewTree{Branch: "a/b/c", Create: true}, ErrExists},
		{NewTree{Branch: "x", Create: true, Dir: r.path("full")}, ErrExists},
		{NewTree{Branch: "-x", Create: true}, ErrBadName},
		{NewTree{Branch: "x y", Create: true}, ErrBadName},
		{NewTree{Branch: "x..y", Create: true}, ErrBadName},
	} {
		c.n.Repo = r.dir
		if c.n.Dir == "" {
			c.n.Dir = r.path("deep", "er", "w")
		}
		if _, err := r.g.AddTree(t.Context(), c.n); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c.n, err)
		}
	}
	for _, n := range []NewTree{{Branch: "gone"}, {Branch: "x", Create: true, Base: "gone"}, {Base: "--help"}} {
		n.Repo, n.Dir = r.dir, r.path("deep", "er", "w")
		var missing *NoSuchRefError
		if _, err := r.g.AddTree(t.Context(), n); !errors.As(err, &missing) {
			t.Errorf("%+v: %v", n, err)
		}
	}
	if exists(r.path("deep")) {
		t.Error("a refused creation left a folder")
	}
}

func TestAddTreeWorksFromBareRepository(t *testing.T) {
	r := newCommit(t)
	bare := r.path("bare.git")
	r.git(r.root, "clone", "-q", "--bare", "repo", bare)
	if _, err := r.g.AddTree(t.Context(), NewTree{Repo: bare, Dir: r.path("w1"), Branch: "w1", Base: "main", Create: true}); err != nil {
		t.Fatal(err)
	}
	id, err := r.g.Identify(t.Context(), r.path("w1"))
	if want := (Repo{Top: r.path("w1"), GitDir: bare + "/worktrees/w1", CommonDir: bare, Bare: true, Linked: true}); err != nil || id != want {
		t.Errorf("identify %+v, %v", id, err)
	}
}

func TestAddTreeLeavesNothingWhenCancelled(t *testing.T) {
	r := newCommit(t)
	before := r.git(r.dir, "for-each-ref") + r.git(r.dir, "worktree", "list")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := r.g.AddTree(ctx, NewTree{
		Repo: r.dir, Dir: r.path("x", "w1"), Branch: "w1", Create: true,
		Progress: func(line string) {
			if strings.HasPrefix(line, "Writing") {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if after := r.git(r.dir, "for-each-ref") + r.git(r.dir, "worktree", "list"); after != before || exists(r.path("x")) {
		t.Errorf("left behind: %s", after)
	}
}
