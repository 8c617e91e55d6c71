package git

import (
	"errors"
	"os"
	"testing"
)

func TestSpareBecomesTheWorktree(t *testing.T) {
	r := newCommit(t)
	first := r.git(r.dir, "rev-parse", "HEAD")
	for _, c := range []struct {
		name   string
		n      NewTree
		change func()
		want   func() string
	}{
		{"same", NewTree{Branch: "same", Create: true}, func() {}, nil},
		{"stale", NewTree{Branch: "stale", Create: true}, func() { r.commit("repo", "sub/b.txt", "b\n") }, nil},
		{"older", NewTree{Branch: "older", Create: true, Base: first}, func() {}, func() string { return first }},
		{"existing", NewTree{Branch: "existing"}, func() { r.git(r.dir, "branch", "existing") }, nil},
		{"detached", NewTree{Base: "main"}, func() {}, nil},
	} {
		if err := r.g.PrepareSpare(t.Context(), r.dir, r.path("spare")); err != nil {
			t.Fatal(err)
		}
		c.change()
		c.n.Repo, c.n.Dir, c.n.Spare = r.dir, r.path(c.name), r.path("spare")
		made, err := r.g.AddTree(t.Context(), c.n)
		if err != nil || !made.FromSpare || len(made.Warnings) > 0 {
			t.Fatalf("%s: made %+v, %v", c.name, made, err)
		}
		want := r.git(r.dir, "rev-parse", "HEAD")
		if c.want != nil {
			want = c.want()
		}
		h, err := r.g.Head(t.Context(), c.n.Dir)
		if err != nil || h.Branch != c.n.Branch || h.Commit != want || made.Commit != want {
			t.Errorf("%s: head %+v, want %s, %v", c.name, h, want, err)
		}
		if out := r.git(c.n.Dir, "status", "--porcelain", "--ignored"); out != "" || exists(r.path("spare")) {
			t.Errorf("%s: status %q", c.name, out)
		}
	}
	r.git(r.dir, "fsck")
}

func TestSpareWithContentIsNotUsed(t *testing.T) {
	for _, path := range []string{"spare/new.txt", "spare/a.txt", "spare/ignored.log", "spare/folder/x"} {
		r := newCommit(t)
		r.commit("repo", ".gitignore", "*.log\n")
		if err := r.g.PrepareSpare(t.Context(), r.dir, r.path("spare")); err != nil {
			t.Fatal(err)
		}
		r.put(path, "precious\n")
		made, err := r.g.AddTree(t.Context(), NewTree{Repo: r.dir, Dir: r.path("w1"), Branch: "w1", Create: true, Spare: r.path("spare")})
		if err != nil || made.FromSpare {
			t.Errorf("%s: made %+v, %v", path, made, err)
		}
		if r.read(path) != "precious\n" || r.git(r.path("w1"), "status", "--porcelain") != "" {
			t.Errorf("%s: touched", path)
		}
		r.commit("repo", "b.txt", "b\n")
		if err := r.g.PrepareSpare(t.Context(), r.dir, r.path("spare")); !errors.Is(err, ErrInUse) {
			t.Errorf("%s: prepare: %v", path, err)
		}
	}
}

func TestSpareThatIsGoneOrNoSpareIsNoObstacle(t *testing.T) {
	r := newCommit(t)
	r.put("folder/x", "x")
	r.add("branchy")
	for i, spare := range []string{"nowhere", "folder", "repo", "branchy"} {
		name := string(rune('a' + i))
		made, err := r.g.AddTree(t.Context(), NewTree{Repo: r.dir, Dir: r.path("w", name), Branch: name, Create: true, Spare: r.path(spare)})
		if err != nil || made.FromSpare {
			t.Errorf("%s: made %+v, %v", spare, made, err)
		}
	}
	if !exists(r.path("folder/x")) || r.git(r.path("branchy"), "branch", "--show-current") != "branchy" {
		t.Error("something else than a spare was taken")
	}
	// Its folder was removed: it is made anew.
	if err := r.g.PrepareSpare(t.Context(), r.dir, r.path("spare")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(r.path("spare")); err != nil {
		t.Fatal(err)
	}
	if err := r.g.PrepareSpare(t.Context(), r.dir, r.path("spare")); err != nil {
		t.Error(err)
	}
}
