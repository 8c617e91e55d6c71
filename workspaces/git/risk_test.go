package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func (r *repo) risk(dir string) Risk {
	r.t.Helper()
	risk, err := r.g.AtRisk(r.t.Context(), dir)
	if err != nil {
		r.t.Fatal(err)
	}
	return risk
}

func TestAtRiskFindsChangesThatGitWasToldNotToSee(t *testing.T) { // O-GIT-05
	r := newCommit(t)
	r.put("repo/name with \"é\"", "q\n")
	r.put("repo/skipped", "s\n")
	if err := os.Symlink("a.txt", r.path("repo/link")); err != nil {
		t.Fatal(err)
	}
	r.commit("repo", "b.txt", "b\n")
	dir := r.add("w1")
	names := []string{"a.txt", "name with \"é\"", "link"}
	r.git(dir, append([]string{"update-index", "--assume-unchanged", "--"}, names...)...)
	r.git(dir, "update-index", "--skip-worktree", "--", "skipped", "b.txt")
	if err := os.Remove(filepath.Join(dir, "b.txt")); err != nil { // as in a sparse checkout
		t.Fatal(err)
	}
	if risk := r.risk(dir); !risk.Nothing() {
		t.Errorf("hidden, and as committed: %+v", risk)
	}
	r.put("w1/a.txt", "my own settings\n")
	r.put("w1/name with \"é\"", "mine\n")
	r.put("w1/skipped", "mine too\n")
	if err := os.Remove(filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("b.txt", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	risk := r.risk(dir)
	slices.Sort(risk.Changed)
	if want := []string{"a.txt", "link", "name with \"é\"", "skipped"}; !slices.Equal(risk.Changed, want) || risk.Unknown != "" {
		t.Errorf("at risk: %q, not %q", risk.Changed, want)
	}
}

func TestAtRiskOfASparseCheckoutIsNothing(t *testing.T) {
	r := newCommit(t)
	r.put("repo/sub/x", "x\n")
	r.commit("repo", "other/y", "y\n")
	dir := r.add("w1")
	r.git(dir, "sparse-checkout", "set", "sub")
	if risk := r.risk(dir); exists(r.path("w1/other")) || !risk.Nothing() {
		t.Errorf("at risk: %+v", risk)
	}
}

func TestAtRiskFindsEverythingThatASubmoduleHas(t *testing.T) { // O-GIT-05
	r := newCommit(t)
	withSubmodule(r)
	before := r.git(r.dir, "rev-parse", "HEAD~")
	dir := r.add("w1")
	if risk := r.risk(dir); !risk.Nothing() {
		t.Fatalf("at risk in a fresh one: %+v", risk)
	}
	lib := filepath.Join(dir, "lib")
	ahead := r.commit("libsource", "ahead", "of us\n")
	r.git(lib, "fetch", "-q", r.path("libsource"), ahead+":refs/prefetch/remotes/origin/main")
	if risk := r.risk(dir); !risk.Nothing() {
		t.Errorf("at risk of what maintenance fetched: %+v", risk)
	}
	home := r.git(lib, "rev-parse", "HEAD")
	r.git(lib, "checkout", "-q", "-b", "fix")
	r.commit("w1/lib", "fixed", "1\n")
	r.git(lib, "checkout", "-q", "--detach", home)
	if risk := r.risk(dir); len(risk.Commits) != 1 || !strings.Contains(risk.Commits[0], "change fixed") {
		t.Errorf("on another branch of the submodule: %+v", risk)
	}
	r.put("w1/lib/a.txt", "stashed\n")
	r.git(lib, "stash", "-q")
	if risk := r.risk(dir); len(risk.Commits) < 2 || len(risk.Changed) > 0 {
		t.Errorf("with a stash: %+v", risk)
	}
	// A branch without the submodule: its folder is gone, its repository not.
	r.git(dir, "checkout", "-q", "--recurse-submodules", "-b", "without", before)
	if exists(filepath.Join(lib, ".git")) {
		t.Fatal("the submodule is still there")
	}
	if risk := r.risk(dir); len(risk.Commits) < 2 || risk.Unknown != "" {
		t.Errorf("of a submodule that is not checked out: %+v", risk)
	}
}

func TestAtRiskOfASubmoduleThatWasLeftIsNothing(t *testing.T) {
	r := newCommit(t)
	withSubmodule(r)
	before := r.git(r.dir, "rev-parse", "HEAD~")
	dir := r.add("w1")
	r.git(dir, "checkout", "-q", "--recurse-submodules", "-b", "without", before)
	if risk := r.risk(dir); !risk.Nothing() {
		t.Errorf("at risk: %+v", risk)
	}
}

func TestAtRiskFindsWhatARebaseHasSetAside(t *testing.T) { // O-GIT-05
	r := newCommit(t)
	r.commit("repo", "b.txt", "b\n")
	dir := r.add("w1")
	r.put("w1/a.txt", "not committed\n")
	_, _ = r.try(dir, "-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", "-q", "-i", "--autostash", "HEAD~")
	if progressOf(r.path("repo/.git/worktrees/w1")) != "rebase" || r.git(dir, "status", "--porcelain") != "" {
		t.Fatal("no rebase is under way, or it is not clean")
	}
	if risk := r.risk(dir); !strings.Contains(strings.Join(risk.Commits, "\n"), "autostash") {
		t.Errorf("at risk: %+v", risk)
	}
}
