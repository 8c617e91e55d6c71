package workspaces

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAFirstCommitMakesWorktreesPossible(t *testing.T) { // O-GIT-16
	b := newBench(t)
	repo := realTemp(t)
	b.git(repo, "init", "-q", "-b", "trunk")
	b.write(filepath.Join(repo, "mine.txt"), "mine")
	p := b.add(repo)
	_, err := b.Create(t.Context(), NewWorkspace{ProjectID: p.ID})
	r := refused(t, err, Unborn)
	if !slices.Equal(r.Choices, []Choice{FirstCommit, WorkInPlace}) || !strings.Contains(r.Message, "carrel project first-commit '"+repo+"'") {
		t.Fatalf("refusal = %+v", r)
	}
	for range 2 { // the second time there is nothing to do
		if _, err := b.FirstCommit(t.Context(), p.ID); err != nil {
			t.Fatal(err)
		}
	}
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
	if w.Base != "trunk" || b.git(w.Dir, "rev-list", "--count", "HEAD") != "1" || exists(filepath.Join(w.Dir, "mine.txt")) {
		t.Fatalf("workspace = %+v", w)
	}
	if out := b.git(repo, "status", "--porcelain"); out != "?? mine.txt" {
		t.Fatalf("the folder's status = %q", out)
	}
}

func TestAFirstCommitIsRefusedWhereItIsNotTheFirst(t *testing.T) { // O-GIT-16
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	b.git(repo, "checkout", "-q", "--orphan", "pages")
	_, err := b.FirstCommit(t.Context(), p.ID)
	if r := refused(t, err, Unborn); r.Branch != "pages" || !slices.Contains(r.Choices, ChooseBase) {
		t.Fatalf("refusal = %+v", r)
	}
	_, err = b.FirstCommit(t.Context(), b.add(realTemp(t)).ID)
	refused(t, err, NeedsGit)
}

func TestAFirstCommitWithoutANameSaysHowToGiveOne(t *testing.T) { // O-GIT-16
	env := slices.DeleteFunc(testEnv(t), func(pair string) bool {
		return strings.HasPrefix(pair, "GIT_AUTHOR") || strings.HasPrefix(pair, "GIT_COMMITTER")
	})
	b := openBench(t, filepath.Join(realTemp(t), "root"), env)
	repo := realTemp(t)
	b.git(repo, "init", "-q")
	_, err := b.FirstCommit(t.Context(), b.add(repo).ID)
	if r := refused(t, err, NoIdentity); !strings.Contains(r.Message, "git config --global user.email") {
		t.Fatalf("refusal = %+v", r)
	}
}
