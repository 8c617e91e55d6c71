package git

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestFirstCommitIsEmptyAndLeavesIndexAndFilesAlone(t *testing.T) { // O-GIT-16
	r := newRepo(t)
	r.put("repo/staged.txt", "staged")
	r.put("repo/loose.txt", "loose")
	r.git(r.dir, "add", "staged.txt")
	before := r.git(r.dir, "status", "--porcelain")
	commit, err := r.g.FirstCommit(t.Context(), r.dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.git(r.dir, "log", "--format=%H %an <%ae> %cn <%ce> %s", "main"); got != commit+" A <a@example.com> A <a@example.com> Initial commit" {
		t.Errorf("log: %s", got)
	}
	if got := r.git(r.dir, "ls-tree", "-r", commit); got != "" {
		t.Errorf("it holds %s", got)
	}
	if got := r.git(r.dir, "status", "--porcelain"); got != before {
		t.Errorf("status was %q and is %q", before, got)
	}
	r.git(r.dir, "fsck", "--strict")
	if got := r.git(r.dir, "reflog", "main"); !strings.Contains(got, "commit (initial)") {
		t.Errorf("reflog: %s", got)
	}
	if _, err := r.g.AddTree(t.Context(), NewTree{Repo: r.dir, Dir: r.path("w1"), Branch: "w1", Create: true}); err != nil {
		t.Error(err)
	}
	if again, err := r.g.FirstCommit(t.Context(), r.dir); err != nil || again != commit {
		t.Errorf("again: %s %v", again, err)
	}
}

func TestFirstCommitOfABareRepository(t *testing.T) { // O-GIT-16
	r := newRepo(t)
	for _, format := range []string{"sha1", "sha256"} {
		dir := r.path(format)
		r.git(r.root, "init", "-q", "--bare", "--object-format="+format, format)
		commit, err := r.g.FirstCommit(t.Context(), dir)
		if err != nil || r.git(dir, "rev-parse", "main") != commit {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func TestFirstCommitNeedsAName(t *testing.T) { // O-GIT-16
	for _, config := range []string{"", "[user]\n\tname = A\n", "[user]\n\temail = a@example.com\n"} {
		r := newRepo(t)
		r.put("home/.gitconfig", config)
		_, err := r.g.FirstCommit(t.Context(), r.dir)
		if !errors.Is(err, ErrNoIdentity) {
			t.Errorf("with %q: %v", config, err)
		}
		if h, err := r.g.Head(t.Context(), r.dir); err != nil || !h.Unborn {
			t.Errorf("with %q: head %+v %v", config, h, err)
		}
	}
}

func TestFirstCommitRunsNothingOfTheRepository(t *testing.T) { // O-GIT-16
	r := newRepo(t)
	for _, hook := range []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction"} {
		r.put("repo/.git/hooks/"+hook, "#!/bin/sh\ntouch "+r.path("ran-"+hook)+"\n")
		if err := os.Chmod(r.path("repo/.git/hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.put("signer", "#!/bin/sh\ntouch "+r.path("ran-signer")+"\nexit 1\n")
	if err := os.Chmod(r.path("signer"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.git(r.dir, "config", "commit.gpgSign", "true")
	r.git(r.dir, "config", "gpg.program", r.path("signer"))
	if _, err := r.g.FirstCommit(t.Context(), r.dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(r.root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "ran-") {
			t.Errorf("%s ran", e.Name())
		}
	}
}
