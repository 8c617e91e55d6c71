package workspaces

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// died puts a workspace into the state of a creation whose process died.
func (b *bench) died(w Workspace) {
	b.t.Helper()
	if _, err := b.registry.db.ExecContext(b.t.Context(), `UPDATE workspaces SET creating = 1 WHERE id = ?`, w.ID); err != nil {
		b.t.Fatal(err)
	}
}

func TestCreationThatDiedIsFinishedOrClearedUp(t *testing.T) {
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	whole, half, none := b.make(NewWorkspace{ProjectID: p.ID, Name: "whole"}), b.make(NewWorkspace{ProjectID: p.ID, Name: "half"}), b.make(NewWorkspace{ProjectID: p.ID, Name: "none"})
	if err := errors.Join(os.Remove(filepath.Join(half.Dir, "a.txt")), os.RemoveAll(none.Dir)); err != nil {
		t.Fatal(err)
	}
	for _, w := range []Workspace{whole, half, none} {
		b.died(w)
	}
	_, err := b.Runtime(t.Context(), Workspace{ProjectID: p.ID, ID: half.ID, Creating: true})
	refused(t, err, StillCreating)
	if err := b.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := b.registry.Workspaces(t.Context())
	if err != nil || len(left) != 1 || left[0].ID != whole.ID || left[0].Creating {
		t.Fatalf("left: %+v %v", left, err)
	}
	if out := b.git(repo, "branch", "--list", "half", "none"); out != "" {
		t.Fatalf("branches are left: %s", out)
	}
	if out := b.git(repo, "worktree", "list"); strings.Contains(out, "half") || strings.Contains(out, "none") {
		t.Fatalf("registrations are left: %s", out)
	}
	if kept, _ := filepath.Glob(b.root.Path("trash", half.ID+"-2*.work")); len(kept) != 1 {
		t.Fatalf("the half tree is not in the trash: %v", kept)
	}
}

func TestCreationUnderWayInAnotherProcessIsLeftAlone(t *testing.T) {
	b := newBench(t)
	w := b.make(NewWorkspace{ProjectID: b.add(b.repo("r")).ID, Name: "w1"})
	b.died(w)
	other := openBench(t, b.root.Dir(), b.env)
	unlock, err := other.claim(w.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := b.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w, err := b.registry.Workspace(t.Context(), w.ID); err != nil || !w.Creating {
		t.Fatalf("%+v %v", w, err)
	}
	refused(t, b.Delete(t.Context(), w.ID, "w1", false), StillCreating)
}

func TestInitHookThatDiedIsNotedAsFailed(t *testing.T) {
	b := newBench(t)
	w := b.make(NewWorkspace{ProjectID: b.add(b.repo("r")).ID})
	if err := b.registry.setInit(t.Context(), w.ID, InitRunning, noCode); err != nil {
		t.Fatal(err)
	}
	if err := b.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w, err := b.registry.Workspace(t.Context(), w.ID); err != nil || w.Init != InitFailed {
		t.Fatalf("%+v %v", w, err)
	}
}

func TestFolderOfARenamingThatDiedIsFoundAgain(t *testing.T) {
	b := newBench(t)
	w := b.make(NewWorkspace{ProjectID: b.add(b.repo("r")).ID, Name: "old"})
	cut := w
	cut.Name, cut.Dir = "new", filepath.Join(filepath.Dir(w.Dir), "new")
	if ok, err := b.registry.moveWorkspace(t.Context(), cut); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := b.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	now, err := b.registry.Workspace(t.Context(), w.ID)
	if err != nil || now.Dir != w.Dir || b.Check(t.Context(), now).State != HealthReady {
		t.Fatalf("%+v %v", now, err)
	}
}

func TestSpareMakesTheNextWorkspaceAndIsReplaced(t *testing.T) {
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
	spare := b.spareReady(p)
	before, err := os.Stat(filepath.Join(spare, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	b.write(filepath.Join(repo, "b.txt"), "b")
	b.commit(repo, "after the spare")
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w2"})
	after, err := os.Stat(filepath.Join(w.Dir, "a.txt"))
	if err != nil || !os.SameFile(before, after) {
		t.Fatalf("the spare was not used: %v", err)
	}
	if b.read(filepath.Join(w.Dir, "b.txt")) != "b" || b.git(w.Dir, "status", "--porcelain", "--branch") != "## w2" {
		t.Fatalf("status = %s", b.git(w.Dir, "status", "--porcelain", "--branch"))
	}
	b.spareReady(p)
	all, err := b.Desks.git.Worktrees(t.Context(), repo)
	if err != nil || len(all) != 4 {
		t.Fatalf("worktrees: %+v %v", all, err)
	}
}

// spareReady waits until a project's spare is prepared.
func (b *bench) spareReady(p Project) string {
	b.t.Helper()
	b.WarmSpares(b.t.Context())
	b.jobs.wait(sparesKey)
	dir, err := b.source(p)
	if err != nil {
		b.t.Fatal(err)
	}
	if !exists(filepath.Join(dir, spareMarker)) {
		b.t.Fatalf("no spare was prepared: %s", b.notes())
	}
	return filepath.Join(dir, spareName)
}

// wait waits for a job to end by itself.
func (j *jobs) wait(key string) {
	j.mu.Lock()
	this := j.all[key]
	j.mu.Unlock()
	if this != nil {
		<-this.done
	}
}

func TestOnlyTheProjectsUsedLastHaveASpare(t *testing.T) {
	b := newBench(t)
	b.Desks.spareLimit = 2
	var projects []Project
	for range 3 {
		p := b.add(b.repo("r"))
		b.make(NewWorkspace{ProjectID: p.ID})
		b.spareReady(p)
		projects = append(projects, p)
	}
	dir, err := b.source(projects[0])
	if err != nil {
		t.Fatal(err)
	}
	if exists(filepath.Join(dir, spareName)) || exists(filepath.Join(dir, spareMarker)) {
		t.Fatal("the project used longest ago still has its spare")
	}
	trees, err := b.Desks.git.Worktrees(t.Context(), projects[0].Path)
	if err != nil || len(trees) != 2 {
		t.Fatalf("worktrees: %+v %v", trees, err)
	}
}

func TestSpareThatSomebodyWorkedInIsKeptInTheTrash(t *testing.T) { // O-GIT-05
	b := newBench(t)
	p := b.add(b.repo("r"))
	w := b.make(NewWorkspace{ProjectID: p.ID})
	b.write(filepath.Join(b.spareReady(p), "mine"), "mine")
	b.commit(p.Path, "so that it is brought up to date")
	b.spareReady(p)
	if kept, _ := filepath.Glob(b.root.Path("trash", "spare-*.work", "mine")); len(kept) != 1 {
		t.Fatalf("after a refresh the trash holds %v", kept)
	}
	b.write(filepath.Join(b.spareReady(p), "mine"), "mine")
	if err := errors.Join(b.Delete(t.Context(), w.ID, "", false), b.RemoveProject(t.Context(), p.ID)); err != nil {
		t.Fatal(err)
	}
	if kept, _ := filepath.Glob(b.root.Path("trash", "spare-*.work", "mine")); len(kept) != 2 {
		t.Fatalf("the trash holds %v", kept)
	}
}
