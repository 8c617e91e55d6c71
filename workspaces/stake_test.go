package workspaces

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Of two branches with the same commits each is safe because of the other.
func TestTwoDeletionsAtOnceKeepTheCommitsThatBothHave(t *testing.T) { // O-GIT-05
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	one := b.make(NewWorkspace{ProjectID: p.ID, Name: "one"})
	b.commit(one.Dir, "in both")
	tip := b.git(one.Dir, "rev-parse", "HEAD")
	two := b.make(NewWorkspace{ProjectID: p.ID, Name: "two", Base: "one"})
	// Both have been looked at before either goes.
	var looked, done sync.WaitGroup
	looked.Add(2)
	b.Desks.stop = func(context.Context, string) (bool, error) { looked.Done(); looked.Wait(); return false, nil }
	for _, w := range []Workspace{one, two} {
		done.Go(func() {
			if err := b.Delete(t.Context(), w.ID, "", false); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if out := b.git(repo, "branch", "--contains", tip); out != "one" && out != "two" {
		t.Errorf("the commit is on %q", out)
	}
	if !strings.Contains(b.notes(), "was kept") {
		t.Errorf("told: %q", b.notes())
	}
}

func TestDeletionLooksAgainAtWhatWasWorkedIn(t *testing.T) { // O-GIT-05
	b := newBench(t)
	w := b.make(NewWorkspace{ProjectID: b.add(b.repo("r")).ID, Name: "w1"})
	b.Desks.stop = func(context.Context, string) (bool, error) {
		b.write(filepath.Join(w.Dir, "late.txt"), "the last thing that the agent wrote")
		return true, nil
	}
	var c *ConfirmError
	if err := b.Delete(t.Context(), w.ID, "", false); !errors.As(err, &c) || len(c.Risk.Untracked) != 1 {
		t.Fatalf("delete: %v", err)
	}
	if !exists(filepath.Join(w.Dir, "late.txt")) {
		t.Error("it is gone")
	}
}

func TestABranchThatGitCannotDeleteIsKeptAndTold(t *testing.T) {
	b := newBench(t)
	repo := b.repo("r")
	w := b.make(NewWorkspace{ProjectID: b.add(repo).ID, Name: "w1"})
	b.write(filepath.Join(repo, ".git", "packed-refs.lock"), "") // a git that crashed left it
	if err := b.Delete(t.Context(), w.ID, "", false); err != nil {
		t.Fatal(err)
	}
	if notes := b.notes(); !strings.Contains(notes, "The branch w1 was kept") || !strings.Contains(notes, "packed-refs.lock") {
		t.Errorf("told: %q", notes)
	}
	trashedSession(t, b, w)
}

func TestTheTrashHasTheRepositoriesOfSubmodules(t *testing.T) {
	b := newBench(t)
	lib := b.repo("lib")
	repo := b.repo("r")
	b.git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "lib")
	b.commit(repo, "add lib")
	w := b.make(NewWorkspace{ProjectID: b.add(repo).ID, Name: "w1"})
	b.commit(filepath.Join(w.Dir, "lib"), "only here")
	tip := b.git(filepath.Join(w.Dir, "lib"), "rev-parse", "HEAD")
	var c *ConfirmError
	if err := b.Delete(t.Context(), w.ID, "", false); !errors.As(err, &c) {
		t.Fatalf("delete: %v", err)
	}
	if err := b.Delete(t.Context(), w.ID, "w1", false); err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(b.root.Path("trash", w.ID+"-modules-*.work", "lib"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("the trash holds %v, %v", kept, err)
	}
	if out := b.git(repo, "--git-dir="+kept[0], "cat-file", "-t", tip); out != "commit" {
		t.Errorf("the commit is a %q", out)
	}
}
