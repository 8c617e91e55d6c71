package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestIdentityIsTheCommonFolder(t *testing.T) { // O-GIT-14
	r := newCommit(t)
	link := r.path("link")
	if err := os.Symlink(r.root, link); err != nil {
		t.Fatal(err)
	}
	viaLink := filepath.Join(link, "repo")
	if _, err := r.g.AddTree(t.Context(), NewTree{Repo: viaLink, Dir: filepath.Join(link, "w1"), Branch: "w1", Create: true}); err != nil {
		t.Fatal(err)
	}
	want := Repo{Top: r.dir, GitDir: r.path("repo/.git"), CommonDir: r.path("repo/.git"), Main: r.dir}
	for _, dir := range []string{r.dir, viaLink, viaLink + "/"} {
		if got, err := r.g.Identify(t.Context(), dir); err != nil || got != want {
			t.Errorf("%s: %+v, %v", dir, got, err)
		}
	}
	want = Repo{Top: r.path("w1"), GitDir: r.path("repo/.git/worktrees/w1"), CommonDir: want.CommonDir, Main: r.dir, Linked: true}
	for _, dir := range []string{r.path("w1"), filepath.Join(link, "w1")} {
		if got, err := r.g.Identify(t.Context(), dir); err != nil || got != want {
			t.Errorf("%s: %+v, %v", dir, got, err)
		}
	}
	trees, err := r.g.Worktrees(t.Context(), viaLink)
	if err != nil || len(trees) != 2 || trees[0].Dir != r.dir || trees[1].Dir != r.path("w1") {
		t.Errorf("trees %+v, %v", trees, err)
	}
	// A folder below the top belongs to the same checkout, and says so.
	r.put("repo/sub/x", "")
	if got, err := r.g.Identify(t.Context(), r.path("repo/sub")); err != nil || got.Top != r.dir {
		t.Errorf("sub folder: %+v, %v", got, err)
	}
	if _, err := r.g.Identify(t.Context(), r.path("home")); !errors.Is(err, ErrNotRepo) {
		t.Errorf("no repository: %v", err)
	}
	if _, err := r.g.Identify(t.Context(), r.path("nowhere")); err == nil {
		t.Error("a folder that is not there is identified")
	}
}

func TestRepairTreeKeepsFilesWhenGitFileIsGone(t *testing.T) { // O-GIT-22
	r := newCommit(t)
	w1 := r.add("w1")
	r.put("w1/a.txt", "edited\n")
	r.put("w1/new.txt", "new\n")
	if err := os.Remove(r.path("w1/.git")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.g.Identify(t.Context(), w1); !errors.Is(err, ErrNotRepo) {
		t.Errorf("identify: %v", err)
	}
	if risk, err := r.g.AtRisk(t.Context(), w1); err != nil || risk.Unknown == "" || risk.Nothing() {
		t.Errorf("at risk: %+v, %v", risk, err)
	}
	if err := r.g.RepairTree(t.Context(), r.dir, w1); err != nil {
		t.Fatal(err)
	}
	s, err := r.g.State(t.Context(), w1, "main")
	if err != nil || s.Branch != "w1" || s.Unstaged != 1 || s.Untracked != 1 {
		t.Errorf("state %+v, %v", s, err)
	}
	// Pruned meanwhile: the registration is gone too.
	if err := os.Remove(r.path("w1/.git")); err != nil {
		t.Fatal(err)
	}
	r.git(r.dir, "worktree", "prune")
	if err := r.g.RepairTree(t.Context(), r.dir, w1); !errors.Is(err, ErrNotRegistered) {
		t.Errorf("repair: %v", err)
	}
	if err := r.g.AdoptTree(t.Context(), r.dir, w1, "w1", ""); err != nil {
		t.Fatal(err)
	}
	if again, err := r.g.State(t.Context(), w1, "main"); err != nil || again != s {
		t.Errorf("adopted: state %+v, %v", again, err)
	}
	if got := r.read("w1/a.txt") + r.read("w1/new.txt"); got != "edited\nnew\n" {
		t.Errorf("files %q", got)
	}
	if left, _ := filepath.Glob(r.path(".adopt-*")); len(left) > 0 || r.git(r.dir, "status", "--porcelain") != "" {
		t.Errorf("left %q", left)
	}
	if list := r.git(r.dir, "worktree", "list"); strings.Count(list, "\n") != 1 {
		t.Errorf("registered: %s", list)
	}
}

func TestRepairTreeAfterMoveByHand(t *testing.T) {
	r := newCommit(t)
	w1 := r.add("w1")
	if err := os.Rename(w1, r.path("w2")); err != nil {
		t.Fatal(err)
	}
	if err := r.g.RepairTree(t.Context(), r.dir, r.path("w2")); err != nil {
		t.Fatal(err)
	}
	if trees, err := r.g.Worktrees(t.Context(), r.dir); err != nil || trees[1].Dir != r.path("w2") || trees[1].Prunable {
		t.Errorf("trees %+v, %v", trees, err)
	}
	// A copy must not take the registration away from the original.
	r.put("copy/.git", r.read("w2/.git"))
	if err := r.g.RepairTree(t.Context(), r.dir, r.path("copy")); !errors.Is(err, ErrInUse) {
		t.Errorf("copy: %v", err)
	}
}

func TestMoveTreeThenForgetTree(t *testing.T) {
	r := newCommit(t)
	w1 := r.add("w1")
	r.put("w1/new", "x")
	r.put("taken/x", "")
	if err := r.g.MoveTree(t.Context(), r.dir, w1, r.path("taken")); !errors.Is(err, ErrExists) {
		t.Errorf("onto a folder: %v", err)
	}
	if err := r.g.MoveTree(t.Context(), r.dir, r.dir, r.path("w2")); !errors.Is(err, ErrNotRegistered) {
		t.Errorf("the main checkout: %v", err)
	}
	r.git(r.dir, "worktree", "lock", w1)
	if err := r.g.MoveTree(t.Context(), r.dir, w1, r.path("w2")); !errors.Is(err, ErrLocked) {
		t.Errorf("locked: %v", err)
	}
	r.git(r.dir, "worktree", "unlock", w1)
	if err := r.g.MoveTree(t.Context(), r.dir, w1, r.path("w2")); err != nil {
		t.Fatal(err)
	}
	if s, err := r.g.State(t.Context(), r.path("w2"), "main"); err != nil || s.Branch != "w1" || s.Untracked != 1 {
		t.Errorf("state %+v, %v", s, err)
	}
	r.git(r.dir, "fsck")
	if err := r.g.ForgetTree(t.Context(), r.dir, r.path("w2")); !errors.Is(err, ErrInUse) {
		t.Errorf("forgot one that is there: %v", err)
	}
	other := r.add("other")
	if err := os.RemoveAll(other); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(r.path("w2"), r.path("trash")); err != nil {
		t.Fatal(err)
	}
	if err := r.g.ForgetTree(t.Context(), r.dir, r.path("w2")); err != nil {
		t.Fatal(err)
	}
	if list := r.git(r.dir, "worktree", "list"); !strings.Contains(list, "other") || strings.Contains(list, "w2") {
		t.Errorf("registered: %s", list)
	}
	if err := r.g.ForgetTree(t.Context(), r.dir, r.dir); !errors.Is(err, ErrNotRegistered) {
		t.Errorf("the main checkout: %v", err)
	}
}

func TestDeleteBranchIsGuarded(t *testing.T) { // O-GIT-02
	r := newCommit(t)
	r.add("w1")
	tip := r.git(r.dir, "rev-parse", "main")
	r.git(r.dir, "branch", "b")
	var held *HeldError
	if err := r.g.DeleteBranch(t.Context(), r.dir, "w1", tip); !errors.As(err, &held) {
		t.Errorf("held: %v", err)
	}
	next := r.commit("repo", "a.txt", "2\n")
	r.git(r.dir, "branch", "-f", "b", next)
	if err := r.g.DeleteBranch(t.Context(), r.dir, "b", tip); !errors.Is(err, ErrMoved) {
		t.Errorf("moved: %v", err)
	}
	r.git(r.dir, "config", "branch.b.description", "x")
	if err := r.g.DeleteBranch(t.Context(), r.dir, "b", next); err != nil {
		t.Error(err)
	}
	var missing *NoSuchRefError
	if err := r.g.DeleteBranch(t.Context(), r.dir, "b", next); !errors.As(err, &missing) {
		t.Errorf("gone: %v", err)
	}
	if _, err := r.try(r.dir, "config", "branch.b.description"); err == nil {
		t.Error("its configuration is left")
	}
}

func TestRenameBranchFollowsInItsCheckout(t *testing.T) {
	r := newCommit(t)
	w1 := r.add("w1")
	r.git(r.dir, "branch", "taken")
	if err := r.g.RenameBranch(t.Context(), r.dir, "w1", "taken"); !errors.Is(err, ErrExists) {
		t.Errorf("taken: %v", err)
	}
	if err := r.g.RenameBranch(t.Context(), r.dir, "w1", "bad name"); !errors.Is(err, ErrBadName) {
		t.Errorf("bad: %v", err)
	}
	if err := r.g.RenameBranch(t.Context(), r.dir, "w1", "w1/new"); err != nil {
		t.Fatal(err)
	}
	if h, err := r.g.Head(t.Context(), w1); err != nil || h.Branch != "w1/new" {
		t.Errorf("head %+v, %v", h, err)
	}
}

func TestCheckBareFindsTurnedCheckout(t *testing.T) { // O-GIT-13
	r := newCommit(t)
	w1 := r.add("w1")
	bare := r.path("bare.git")
	r.git(r.root, "clone", "-q", "--bare", "repo", bare)
	r.git(bare, "worktree", "add", "-q", r.path("w2"), "main")
	check := func(dir string, want bool) {
		t.Helper()
		if broken, err := r.g.CheckBare(t.Context(), dir); err != nil || broken != want {
			t.Errorf("%s: %v, %v", dir, broken, err)
		}
	}
	for _, dir := range []string{r.dir, w1, bare, r.path("w2")} {
		check(dir, false)
	}
	r.git(r.dir, "config", "core.bare", "true")
	check(r.dir, true)
	check(w1, true)
}

func TestInheritedVariablesBindNoChild(t *testing.T) { // O-GIT-13
	r := newCommit(t)
	r.git(r.root, "init", "-q", "other")
	env := append(testEnv(r.root), "GIT_DIR="+r.path("other/.git"), "GIT_WORK_TREE="+r.path("other"),
		"GIT_INDEX_FILE="+r.path("x"), "GIT_COMMON_DIR="+r.path("other/.git"), "GIT_EXTERNAL_DIFF=false",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.bare", "GIT_CONFIG_VALUE_0=true", "GIT_PREFIX=x/",
		"GIT_CONFIG_PARAMETERS='core.bare'='true'", "GIT_OBJECT_DIRECTORY="+r.path("x"), "GIT_NAMESPACE=n")
	g, err := New(Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	id, err := g.Identify(t.Context(), r.dir)
	if err != nil || id.Top != r.dir {
		t.Errorf("identify %+v, %v", id, err)
	}
	if _, err := g.AddTree(t.Context(), NewTree{Repo: r.dir, Dir: r.path("w1"), Branch: "w1", Create: true}); err != nil {
		t.Error(err)
	}
	if s, err := g.State(t.Context(), r.path("w1"), "main"); err != nil || s.Dirty() {
		t.Errorf("state %+v, %v", s, err)
	}
}
