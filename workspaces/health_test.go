package workspaces

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"carrel/workspaces/runtime"
)

func TestMissingFolderIsNeverReplacedByAnother(t *testing.T) { // O-GIT-03
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
	b.write(filepath.Join(w.Dir, "b.txt"), "b")
	b.commit(w.Dir, "kept by the branch")
	if err := os.RemoveAll(w.Dir); err != nil {
		t.Fatal(err)
	}
	if h := b.Check(t.Context(), w); h.State != HealthMissing || !strings.Contains(h.Note, "restore") {
		t.Fatalf("health = %+v", h)
	}
	_, err := b.Runtime(t.Context(), w)
	if r := refused(t, err, FolderMissing); r.Choices[0] != Restore || r.Choices[1] != RemoveIt {
		t.Fatalf("choices = %v", r.Choices)
	}
	_, err = b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Name: "w1"})
	refused(t, err, NameTaken)
	if err := b.Repair(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	if h := b.Check(t.Context(), w); h.State != HealthReady || b.read(filepath.Join(w.Dir, "b.txt")) != "b" {
		t.Fatalf("health = %+v", h)
	}
	if err := os.RemoveAll(w.Dir); err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context(), w.ID, "w1", false); err != nil {
		t.Fatal(err)
	}
	b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
}

func TestFolderWithoutItsDotGitRunsNothingUntilRepaired(t *testing.T) { // O-GIT-22
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
	b.write(filepath.Join(w.Dir, "new.txt"), "new")
	b.write(filepath.Join(w.Dir, "a.txt"), "changed")
	if err := os.Remove(filepath.Join(w.Dir, ".git")); err != nil {
		t.Fatal(err)
	}
	if h := b.Check(t.Context(), w); h.State != HealthNotWorktree {
		t.Fatalf("health = %+v", h)
	}
	_, err := b.Runtime(t.Context(), w)
	refused(t, err, NotWorktreeThere)
	if err := b.Repair(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Runtime(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if out := b.git(w.Dir, "status", "--porcelain"); out != "M a.txt\n?? new.txt" {
		t.Fatalf("status = %q", out)
	}
	if out := b.git(repo, "status", "--porcelain"); out != "" {
		t.Fatalf("the main checkout changed: %q", out)
	}
	if err := os.Remove(filepath.Join(w.Dir, ".git")); err != nil {
		t.Fatal(err)
	}
	b.git(repo, "worktree", "prune")
	if err := b.Repair(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	if out := b.git(w.Dir, "status", "--porcelain", "--branch"); out != "## w1\n M a.txt\n?? new.txt" {
		t.Fatalf("status = %q", out)
	}
}

func TestFolderThatPointsElsewhereIsRefused(t *testing.T) { // O-GIT-22
	b := newBench(t)
	p := b.add(b.repo("r"))
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
	other := b.make(NewWorkspace{ProjectID: p.ID, Name: "w2"})
	b.write(filepath.Join(w.Dir, ".git"), b.read(filepath.Join(other.Dir, ".git")))
	_, err := b.Runtime(t.Context(), w)
	refused(t, err, NotWorktreeThere)
	if err := os.Remove(filepath.Join(w.Dir, ".git")); err != nil {
		t.Fatal(err)
	}
	b.git(w.Dir, "init", "-q")
	_, err = b.Runtime(t.Context(), w)
	refused(t, err, NotWorktreeThere)
}

func TestEachWorkspaceGetsItsOwnFolderOrAnError(t *testing.T) { // O-GIT-23
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
	here := b.make(NewWorkspace{ProjectID: p.ID, Name: "main", Runtime: runtime.Local})
	for range 10 {
		next := openBench(t, b.root.Dir(), b.env)
		var wg sync.WaitGroup
		for _, ws := range []Workspace{w, here} {
			wg.Go(func() {
				rt, err := next.Runtime(t.Context(), ws)
				if err != nil || rt.Dir() != ws.Dir {
					t.Errorf("%s runs in %v, %v", ws.Name, rt, err)
				}
			})
		}
		wg.Wait()
	}
	// What an unmounted path leaves: an empty folder.
	if err := os.Rename(w.Dir, w.Dir+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(w.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := b.Runtime(t.Context(), w)
	refused(t, err, NotWorktreeThere)
}

func TestLocalWorkspaceOfAFolderThatLostItsRepositoryIsRefused(t *testing.T) { // O-GIT-22
	b := newBench(t)
	outer := b.repo("outer")
	inner := filepath.Join(outer, "inner")
	b.write(filepath.Join(inner, "x"), "x")
	b.git(inner, "init", "-q")
	b.commit(inner, "x")
	w := b.make(NewWorkspace{ProjectID: b.add(inner).ID, Runtime: runtime.Local})
	if err := os.RemoveAll(filepath.Join(inner, ".git")); err != nil {
		t.Fatal(err)
	}
	_, err := b.Runtime(t.Context(), w)
	refused(t, err, NotWorktreeThere)
}

func TestBranchesSwitchedByHandAndDetachedHeadsAreFine(t *testing.T) {
	b := newBench(t)
	p := b.add(b.repo("r"))
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
	b.git(w.Dir, "checkout", "-q", "-b", "by-hand")
	if h := b.Check(t.Context(), w); h.State != HealthReady {
		t.Fatalf("health = %+v", h)
	}
	if err := os.RemoveAll(w.Dir); err != nil {
		t.Fatal(err)
	}
	if err := b.Repair(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	if got := b.git(w.Dir, "symbolic-ref", "--short", "HEAD"); got != "by-hand" {
		t.Fatalf("restored on %s", got)
	}
	b.git(w.Dir, "checkout", "-q", "--detach")
	if h := b.Check(t.Context(), w); h.State != HealthReady {
		t.Fatalf("health = %+v", h)
	}
}
