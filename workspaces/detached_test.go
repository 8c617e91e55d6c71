package workspaces

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"carrel/workspaces/runtime"
)

// detached makes a project with a workspace on the branch f and one that is detached there.
func (b *bench) detached() (p Project, holder, w Workspace) {
	b.t.Helper()
	p = b.add(b.repo("r"))
	holder = b.make(NewWorkspace{ProjectID: p.ID, Name: "holder", Branch: "f"})
	b.write(filepath.Join(holder.Dir, "f.txt"), "f")
	b.commit(holder.Dir, "on f")
	return p, holder, b.make(NewWorkspace{ProjectID: p.ID, Name: "loose", Base: "f", Detached: true})
}

// branches lists a repository's branches.
func (b *bench) branches(dir string) string {
	b.t.Helper()
	return b.git(dir, "branch", "--format=%(refname:short)")
}

func TestAHeldBranchIsCheckedOutDetached(t *testing.T) { // O-GIT-02
	b := newBench(t)
	p := b.add(b.repo("r"))
	_, err := b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Branch: "main"})
	if r := refused(t, err, BranchHeld); !slices.Equal(r.Choices, []Choice{NewBranch, Detach}) {
		t.Fatalf("choices = %v", r.Choices)
	}
	holder := b.make(NewWorkspace{ProjectID: p.ID, Name: "holder", Branch: "f"})
	b.write(filepath.Join(holder.Dir, "f.txt"), "f")
	b.commit(holder.Dir, "on f")
	_, err = b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Branch: "f"})
	r := refused(t, err, BranchHeld)
	if !slices.Equal(r.Choices, []Choice{OpenWorkspace, NewBranch, Detach}) || !strings.Contains(r.Message, "detached") {
		t.Fatalf("refusal = %+v", r)
	}
	b.spareReady(p)
	for _, name := range []string{"from-spare", "without"} {
		w := b.make(NewWorkspace{ProjectID: p.ID, Name: name, Base: r.Branch, Detached: true})
		if w.Branch != "" || w.MadeBranch || w.Base != "f" || b.read(filepath.Join(w.Dir, "f.txt")) != "f" {
			t.Fatalf("workspace = %+v", w)
		}
		s, err := b.Desks.git.State(t.Context(), w.Dir, w.Base)
		if err != nil || !s.Detached || s.Ahead+s.Behind != 0 || s.Dirty() {
			t.Fatalf("state = %+v %v", s, err)
		}
	}
	b.commit(holder.Dir, "more on f")
	if got := b.branches(p.Path); got != "f\nmain" {
		t.Fatalf("branches: %s", got)
	}
}

func TestADetachedCheckoutStandsOnWhatWasAskedFor(t *testing.T) { // O-GIT-02
	b := newBench(t)
	p := b.add(b.repo("r"))
	if w := b.make(NewWorkspace{ProjectID: p.ID, Detached: true}); w.Base != "main" || w.Branch != "" {
		t.Fatalf("workspace = %+v", w)
	}
	_, err := b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Detached: true, Base: "nowhere"})
	refused(t, err, BaseMissing)
	for _, n := range []NewWorkspace{{Branch: "main"}, {Runtime: runtime.Local}} {
		n.ProjectID, n.Detached = p.ID, true
		_, err = b.Create(t.Context(), n)
		refused(t, err, BranchInvalid)
	}
	// A name that only a branch has is free.
	b.git(p.Path, "branch", "topic")
	b.make(NewWorkspace{ProjectID: p.ID, Name: "topic", Detached: true})
}

func TestDeletingADetachedWorkspaceListsTheCommitsThatNoBranchKeeps(t *testing.T) { // O-GIT-02, O-GIT-05
	b := newBench(t)
	p, _, w := b.detached()
	if err := b.Delete(t.Context(), w.ID, "", false); err != nil {
		t.Fatalf("what f has would be lost: %v", err)
	}
	w = b.make(NewWorkspace{ProjectID: p.ID, Name: "loose", Base: "f", Detached: true})
	b.commit(w.Dir, "on no branch")
	tip := b.git(w.Dir, "rev-parse", "HEAD")
	for _, gone := range []bool{false, true} { // the registration keeps the commit when the folder is gone
		if gone {
			if err := os.RemoveAll(w.Dir); err != nil {
				t.Fatal(err)
			}
		}
		var c *ConfirmError
		err := b.Delete(t.Context(), w.ID, "", true)
		if !errors.As(err, &c) || len(c.Risk.Commits) != 1 || !strings.HasSuffix(c.Risk.Commits[0], "on no branch") {
			t.Fatalf("folder gone %v: %v", gone, err)
		}
	}
	if err := b.Delete(t.Context(), w.ID, "loose", false); err != nil {
		t.Fatal(err)
	}
	if said := b.read(trashedSession(t, b, w) + "/deleted.json"); !strings.Contains(said, tip) {
		t.Fatalf("the trash does not name the commit: %s", said)
	}
	if got := b.branches(p.Path); got != "f\nmain" {
		t.Fatalf("branches: %s", got)
	}
}

func TestADetachedWorkspaceThatGotABranchKeepsIt(t *testing.T) { // O-GIT-02
	b := newBench(t)
	p, _, w := b.detached()
	b.git(w.Dir, "switch", "-q", "-c", "mine")
	b.commit(w.Dir, "on mine")
	if err := b.Delete(t.Context(), w.ID, "", false); err != nil {
		t.Fatal(err)
	}
	if got := b.branches(p.Path); got != "f\nmain\nmine" {
		t.Fatalf("branches: %s", got)
	}
}

func TestADetachedWorkspaceIsRenamedAndArchived(t *testing.T) { // O-GIT-02
	b := newBench(t)
	p, _, w := b.detached()
	b.commit(w.Dir, "on no branch")
	tip := b.git(w.Dir, "rev-parse", "HEAD")
	w, err := b.Rename(t.Context(), w.ID, "f2", "")
	if err != nil || filepath.Base(w.Dir) != "f2" || w.Branch != "" || exists(b.movePath(w.ID)) {
		t.Fatalf("%+v %v", w, err)
	}
	for _, change := range []func() (Workspace, error){
		func() (Workspace, error) { return b.Archive(t.Context(), w.ID) },
		func() (Workspace, error) { return b.Unarchive(t.Context(), w.ID) },
	} {
		if w, err = change(); err != nil || b.git(w.Dir, "rev-parse", "HEAD") != tip {
			t.Fatalf("%+v %v", w, err)
		}
	}
	if got := b.branches(p.Path); got != "f\nmain" {
		t.Fatalf("branches: %s", got)
	}
}

func TestAMissingDetachedFolderIsRestoredAtItsCommit(t *testing.T) { // O-GIT-02, O-GIT-03
	b := newBench(t)
	p, _, w := b.detached()
	b.write(filepath.Join(w.Dir, "here.txt"), "here")
	b.commit(w.Dir, "on no branch")
	if err := os.RemoveAll(w.Dir); err != nil {
		t.Fatal(err)
	}
	if h := b.Check(t.Context(), w); h.State != HealthMissing || !strings.Contains(h.Note, "at the commit") {
		t.Fatalf("health = %+v", h)
	}
	if err := b.Repair(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	if b.read(filepath.Join(w.Dir, "here.txt")) != "here" {
		t.Fatal("the commit was not restored")
	}
	// Without a registration nothing knows the commit any more: it starts at its base again.
	if err := os.RemoveAll(w.Dir); err != nil {
		t.Fatal(err)
	}
	b.git(p.Path, "worktree", "prune")
	if err := b.Repair(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	if exists(filepath.Join(w.Dir, "here.txt")) || !exists(filepath.Join(w.Dir, "f.txt")) || !strings.Contains(b.notes(), "not known any more") {
		t.Fatalf("notes: %s", b.notes())
	}
}

func TestCommitsOnNoBranchSurviveRestoringAnyWorkspace(t *testing.T) { // O-GIT-02, O-GIT-03
	b := newBench(t)
	w := b.make(NewWorkspace{ProjectID: b.add(b.repo("r")).ID, Name: "w1"})
	b.git(w.Dir, "checkout", "-q", "--detach")
	b.commit(w.Dir, "on no branch")
	tip := b.git(w.Dir, "rev-parse", "HEAD")
	if err := os.RemoveAll(w.Dir); err != nil {
		t.Fatal(err)
	}
	if err := b.Repair(t.Context(), w.ID); err != nil || b.git(w.Dir, "rev-parse", "HEAD") != tip {
		t.Fatal(err)
	}
}

func TestADetachedFolderWithoutItsDotGitIsRegisteredAgain(t *testing.T) { // O-GIT-02, O-GIT-22
	b := newBench(t)
	p, _, w := b.detached()
	b.write(filepath.Join(w.Dir, "new.txt"), "new")
	for _, prune := range []bool{false, true} {
		if err := os.Remove(filepath.Join(w.Dir, ".git")); err != nil {
			t.Fatal(err)
		}
		if prune {
			b.git(p.Path, "worktree", "prune")
		}
		if err := b.Repair(t.Context(), w.ID); err != nil {
			t.Fatal(err)
		}
		if out := b.git(w.Dir, "status", "--porcelain", "--branch"); out != "## HEAD (no branch)\n?? new.txt" {
			t.Fatalf("status = %q", out)
		}
	}
}

func TestADetachedCreationThatDiedIsFinishedOrClearedUp(t *testing.T) { // O-GIT-02
	b := newBench(t)
	p, _, whole := b.detached()
	half := b.make(NewWorkspace{ProjectID: p.ID, Name: "half", Base: "f", Detached: true})
	b.git(half.Dir, "checkout", "-q", "--detach", "main") // a spare that was not brought to the base yet
	for _, w := range []Workspace{whole, half} {
		b.died(w)
	}
	if err := b.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w, err := b.registry.Workspace(t.Context(), whole.ID); err != nil || w.Creating {
		t.Fatalf("%+v %v", w, err)
	}
	if _, err := b.registry.Workspace(t.Context(), half.ID); !errors.Is(err, ErrNotFound) {
		t.Fatalf("the half one is left: %v", err)
	}
}

func TestADetachedFolderOfARenamingThatDiedIsFoundAgain(t *testing.T) { // O-GIT-02
	b := newBench(t)
	p, _, w := b.detached()
	b.make(NewWorkspace{ProjectID: p.ID, Name: "another", Base: "f", Detached: true})
	b.spareReady(p) // detached there too
	if _, err := b.noteMove(w); err != nil {
		t.Fatal(err)
	}
	cut := w
	cut.Name, cut.Dir = "new", filepath.Join(filepath.Dir(w.Dir), "new")
	if ok, err := b.registry.moveWorkspace(t.Context(), cut); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := b.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	now, err := b.registry.Workspace(t.Context(), w.ID)
	if err != nil || now.Dir != w.Dir || now.Branch != "" || b.Check(t.Context(), now).State != HealthReady {
		t.Fatalf("%+v %v", now, err)
	}
}
