package workspaces

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carrel/workspaces/runtime"
)

// worked makes a workspace with a changed file, an untracked one and a commit of its own.
func (b *bench) worked(p Project, name string) Workspace {
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: name})
	b.write(filepath.Join(w.Dir, "c.txt"), "c")
	b.commit(w.Dir, "only here")
	b.write(filepath.Join(w.Dir, "a.txt"), "changed")
	b.write(filepath.Join(w.Dir, "new.txt"), "new")
	return w
}

func TestDeleteListsWhatExistsNowhereElseAndWantsTheName(t *testing.T) { // O-GIT-05
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	w := b.worked(p, "w1")
	for _, confirm := range []string{"", "W1", "w1 ", "yes"} {
		err := b.Delete(t.Context(), w.ID, confirm, false)
		var c *ConfirmError
		if !errors.As(err, &c) || c.Name != "w1" || c.Risk.Counts != [3]int{1, 1, 1} {
			t.Fatalf("confirm %q: %v", confirm, err)
		}
	}
	if b.read(filepath.Join(w.Dir, "new.txt")) != "new" {
		t.Fatal("the refusal touched the folder")
	}
	if err := b.Delete(t.Context(), w.ID, "w1", false); err != nil {
		t.Fatal(err)
	}
	if exists(w.Dir) || strings.Contains(b.git(repo, "worktree", "list"), "w1") || b.git(repo, "branch", "--list", "w1") != "" {
		t.Fatal("folder, registration or branch is left")
	}
	kept, err := filepath.Glob(b.root.Path("trash", w.ID+"-2*.work", "new.txt"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("the trash holds %v, %v", kept, err)
	}
	if said := b.read(trashedSession(t, b, w) + "/deleted.json"); !strings.Contains(said, `"tip"`) {
		t.Fatalf("the trash does not say where the branch was: %s", said)
	}
}

func TestARefusedDeletionStopsNothing(t *testing.T) {
	b := newBench(t)
	var stopped []string
	fails := errors.New("it would not end")
	b.Desks.stop = func(_ context.Context, id string) (bool, error) { stopped = append(stopped, id); return false, fails }
	w := b.worked(b.add(b.repo("r")), "w1")
	var c *ConfirmError
	if err := b.Delete(t.Context(), w.ID, "", false); !errors.As(err, &c) || len(stopped) != 0 {
		t.Fatalf("%v, stopped %v", err, stopped)
	}
	if err := b.Delete(t.Context(), w.ID, "w1", false); !errors.Is(err, fails) || len(stopped) != 1 || !exists(w.Dir) {
		t.Fatalf("%v, stopped %v", err, stopped)
	}
}

func trashedSession(t *testing.T, b *bench, w Workspace) string {
	t.Helper()
	found, err := filepath.Glob(b.root.Path("trash", w.ID+"-session-*"))
	if err != nil || len(found) != 1 || exists(b.root.Path("sessions", w.ID)) {
		t.Fatalf("the conversation is in %v, %v", found, err)
	}
	return found[0]
}

func TestNoAutomaticPathRemovesWork(t *testing.T) { // O-GIT-05
	b := newBench(t)
	p := b.add(b.repo("r"))
	w := b.worked(p, "w1")
	if _, err := b.Archive(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil { // the session ends
		t.Fatal(err)
	}
	next := openBench(t, b.root.Dir(), b.env)
	next.Desks.now = func() time.Time { return time.Now().Add(30 * 24 * time.Hour) }
	if err := next.Recover(t.Context()); err != nil { // startup cleanup
		t.Fatal(err)
	}
	if err := next.PurgeTrash(t.Context()); err != nil { // retention
		t.Fatal(err)
	}
	if err := next.Repair(t.Context(), w.ID); err != nil { // nothing to restore
		t.Fatal(err)
	}
	if _, err := next.Unarchive(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	refused(t, next.RemoveProject(t.Context(), p.ID), HasWorkspaces)
	if b.read(filepath.Join(w.Dir, "new.txt")) != "new" || b.read(filepath.Join(w.Dir, "a.txt")) != "changed" {
		t.Fatal("work is gone")
	}
	if out := b.git(w.Dir, "log", "--format=%s", "-1"); out != "only here" {
		t.Fatalf("the commit is gone: %s", out)
	}
}

func TestWhatCannotBeInspectedCountsAsWork(t *testing.T) { // O-GIT-05
	b := newBench(t)
	p := b.add(b.repo("r"))
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1"})
	if err := os.Remove(filepath.Join(w.Dir, ".git")); err != nil {
		t.Fatal(err)
	}
	risk, err := b.AtRisk(t.Context(), w.ID, false)
	if err != nil || risk.Unknown == "" {
		t.Fatalf("risk = %+v, %v", risk, err)
	}
	var c *ConfirmError
	if err := b.Delete(t.Context(), w.ID, "", false); !errors.As(err, &c) {
		t.Fatalf("delete: %v", err)
	}
	if err := b.Delete(t.Context(), w.ID, "w1", false); err != nil {
		t.Fatal(err)
	}
	if exists(w.Dir) {
		t.Fatal("confirmed, and still there")
	}
}

func TestCommitsOnABranchThatStaysAreNotAtRisk(t *testing.T) {
	b := newBench(t)
	repo := b.repo("r")
	b.git(repo, "branch", "mine")
	p := b.add(repo)
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1", Branch: "mine"})
	b.write(filepath.Join(w.Dir, "c.txt"), "c")
	b.commit(w.Dir, "on my branch")
	if err := b.Delete(t.Context(), w.ID, "", false); err != nil {
		t.Fatal(err)
	}
	if out := b.git(repo, "log", "--format=%s", "-1", "mine"); out != "on my branch" {
		t.Fatalf("mine is at %s", out)
	}
	w = b.make(NewWorkspace{ProjectID: p.ID, Name: "w2"})
	b.write(filepath.Join(w.Dir, "d.txt"), "d")
	b.commit(w.Dir, "on Carrel's branch")
	b.git(w.Dir, "checkout", "-q", "-b", "by-hand", "main")
	var c *ConfirmError
	if err := b.Delete(t.Context(), w.ID, "", false); !errors.As(err, &c) || c.Risk.Counts != [3]int{0, 0, 1} {
		t.Fatalf("delete: %v", err)
	}
	if risk, err := b.AtRisk(t.Context(), w.ID, true); err != nil || !risk.Nothing() {
		t.Fatalf("with the branch kept: %+v, %v", risk, err)
	}
	if err := b.Delete(t.Context(), w.ID, "", true); err != nil {
		t.Fatal(err)
	}
	b.git(repo, "rev-parse", "--verify", "refs/heads/w2")
	b.git(repo, "rev-parse", "--verify", "refs/heads/by-hand")
}

func TestDeletingAMissingWorkspaceStillGuardsItsBranch(t *testing.T) { // O-GIT-05
	b := newBench(t)
	p := b.add(b.repo("r"))
	w := b.worked(p, "w1")
	if err := os.RemoveAll(w.Dir); err != nil {
		t.Fatal(err)
	}
	var c *ConfirmError
	if err := b.Delete(t.Context(), w.ID, "", false); !errors.As(err, &c) || c.Risk.Counts != [3]int{0, 0, 1} {
		t.Fatalf("delete: %v", err)
	}
}

func TestLocalWorkspaceNeverLosesTheProjectsFolder(t *testing.T) { // O-GIT-14
	b := newBench(t)
	repo := b.repo("r")
	b.write(filepath.Join(repo, "new.txt"), "new")
	p := b.add(repo)
	w := b.make(NewWorkspace{ProjectID: p.ID, Runtime: runtime.Local})
	if err := b.Delete(t.Context(), w.ID, "", false); err != nil {
		t.Fatal(err)
	}
	if b.read(filepath.Join(repo, "new.txt")) != "new" {
		t.Fatal("a file of the project is gone")
	}
	b.git(repo, "rev-parse", "--verify", "refs/heads/main")
	trashedSession(t, b, w)
}

func TestLockedWorktreeIsNotDeleted(t *testing.T) {
	b := newBench(t)
	repo := b.repo("r")
	w := b.make(NewWorkspace{ProjectID: b.add(repo).ID, Name: "w1"})
	b.git(repo, "worktree", "lock", w.Dir)
	refused(t, b.Delete(t.Context(), w.ID, "w1", false), Locked)
}

func TestTrashIsPurgedAfterADayOrAWeek(t *testing.T) {
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	clean, work := b.make(NewWorkspace{ProjectID: p.ID, Name: "clean"}), b.worked(p, "work")
	for _, w := range []Workspace{clean, work} {
		if err := b.Delete(t.Context(), w.ID, w.Name, false); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		after time.Duration
		left  int
	}{{23 * time.Hour, 4}, {25 * time.Hour, 3}, {6 * 24 * time.Hour, 3}, {8 * 24 * time.Hour, 0}} {
		b.Desks.now = func() time.Time { return time.Now().Add(step.after) }
		if err := b.PurgeTrash(t.Context()); err != nil {
			t.Fatal(err)
		}
		if entries, _ := os.ReadDir(b.root.Path("trash")); len(entries) != step.left {
			t.Fatalf("after %v the trash holds %v", step.after, entries)
		}
	}
}

func TestRenameMovesFolderAndBranch(t *testing.T) {
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	w := b.worked(p, "old")
	other := b.make(NewWorkspace{ProjectID: p.ID, Name: "other"})
	_, err := b.Rename(t.Context(), w.ID, "other", "")
	refused(t, err, FolderTaken)
	_, err = b.Rename(t.Context(), w.ID, "No", "")
	refused(t, err, NameInvalid)
	n, err := b.Rename(t.Context(), w.ID, "", "Ein Titel: 日本")
	if err != nil || n.Name != "old" || n.Title != "Ein Titel: 日本" {
		t.Fatalf("title: %+v %v", n, err)
	}
	n, err = b.Rename(t.Context(), w.ID, "new", "")
	if err != nil || n.Name != "new" || n.Branch != "new" || filepath.Base(n.Dir) != "new" || exists(w.Dir) {
		t.Fatalf("name: %+v %v", n, err)
	}
	if h := b.Check(t.Context(), n); h.State != HealthReady || b.read(filepath.Join(n.Dir, "new.txt")) != "new" {
		t.Fatalf("health = %+v", h)
	}
	if o, err := b.Rename(t.Context(), other.ID, "another", ""); err != nil || o.Title != "another" {
		t.Fatalf("a title that is the name: %+v %v", o, err)
	}
	b.git(repo, "branch", "there")
	if n, err = b.Rename(t.Context(), w.ID, "there", ""); err != nil || n.Branch != "new" || n.Name != "there" {
		t.Fatalf("a branch of that name exists: %+v %v", n, err)
	}
}
