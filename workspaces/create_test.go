package workspaces

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"carrel/workspaces/runtime"
)

func TestBranchThatAnotherFolderHoldsIsNeverTaken(t *testing.T) { // O-GIT-02
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	_, err := b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Branch: "main"})
	if r := refused(t, err, BranchHeld); r.Dir != repo || r.WorkspaceID != "" || !strings.Contains(r.Message, repo) {
		t.Fatalf("refusal = %+v", r)
	}
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w1", Branch: "f"})
	_, err = b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Branch: "f"})
	if r := refused(t, err, BranchHeld); r.Dir != w.Dir || r.WorkspaceID != w.ID {
		t.Fatalf("refusal = %+v", r)
	}
	b.git(repo, "branch", "mine")
	w = b.make(NewWorkspace{ProjectID: p.ID, Name: "w2", Branch: "mine"})
	if w.MadeBranch {
		t.Fatal("a branch that was there counts as made")
	}
	if err := b.Delete(t.Context(), w.ID, "", false); err != nil {
		t.Fatal(err)
	}
	b.git(repo, "rev-parse", "--verify", "refs/heads/mine")
}

func TestNewBranchStartsAtWhatTheProjectHasCheckedOut(t *testing.T) { // O-GIT-24
	b := newBench(t)
	origin := b.repo("origin")
	repo := filepath.Join(realTemp(t), "clone")
	b.git(origin, "clone", "-q", origin, repo)
	b.git(repo, "checkout", "-q", "-b", "dev")
	b.write(filepath.Join(repo, "plan.md"), "plan")
	b.commit(repo, "plan")
	p := b.add(repo)
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "fix-1"})
	if w.Base != "dev" || w.Branch != "fix-1" || !w.MadeBranch {
		t.Fatalf("workspace = %+v", w)
	}
	if b.read(filepath.Join(w.Dir, "plan.md")) != "plan" {
		t.Fatal("the commit just made is missing")
	}
	if got := b.git(w.Dir, "symbolic-ref", "--short", "HEAD"); got != "fix-1" {
		t.Fatalf("branch = %s", got)
	}
	w = b.make(NewWorkspace{ProjectID: p.ID, Name: "old", Base: "main"})
	if w.Base != "main" || exists(filepath.Join(w.Dir, "plan.md")) {
		t.Fatalf("the chosen base was not used: %+v", w)
	}
	_, err := b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Base: "nowhere"})
	refused(t, err, BaseMissing)
	b.git(repo, "checkout", "-q", "--detach", "HEAD~1")
	w = b.make(NewWorkspace{ProjectID: p.ID, Name: "loose"})
	if w.Base != b.git(repo, "rev-parse", "HEAD") || !strings.Contains(b.notes(), "no branch checked out") {
		t.Fatalf("workspace = %+v, notes %s", w, b.notes())
	}
}

func TestABranchThatOnlyTheRemoteHasStartsThere(t *testing.T) {
	b := newBench(t)
	origin := b.repo("origin")
	b.git(origin, "checkout", "-q", "-b", "topic")
	b.write(filepath.Join(origin, "t.txt"), "t")
	b.commit(origin, "topic")
	b.git(origin, "checkout", "-q", "main")
	repo := filepath.Join(realTemp(t), "clone")
	b.git(origin, "clone", "-q", origin, repo)
	p := b.add(repo)
	w := b.make(NewWorkspace{ProjectID: p.ID, Name: "w", Branch: "topic"})
	if w.Base != "origin/topic" || w.Branch != "topic" || !exists(filepath.Join(w.Dir, "t.txt")) {
		t.Fatalf("workspace = %+v", w)
	}
	_, err := b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Branch: "origin/topic"})
	refused(t, err, BranchHeld)
}

func TestRepositoryWithoutCommitIsRefusedWithChoices(t *testing.T) { // O-GIT-16
	b := newBench(t)
	repo := realTemp(t)
	b.git(repo, "init", "-q")
	p := b.add(repo)
	_, err := b.Create(t.Context(), NewWorkspace{ProjectID: p.ID})
	if r := refused(t, err, Unborn); len(r.Choices) != 2 {
		t.Fatalf("choices = %v", r.Choices)
	}
	if all, _ := b.registry.Workspaces(t.Context()); len(all) != 0 {
		t.Fatalf("a workspace was made all the same: %+v", all)
	}
	if w := b.make(NewWorkspace{ProjectID: p.ID, Runtime: runtime.Local}); w.Dir != repo {
		t.Fatalf("in place = %+v", w)
	}
}

func TestWorktreesLieOutsideOfTheProject(t *testing.T) { // O-GIT-18
	b := newBench(t)
	repo := b.repo("r")
	w := b.make(NewWorkspace{ProjectID: b.add(repo).ID, Name: "w1"})
	if strings.HasPrefix(w.Dir, repo) || !strings.HasPrefix(w.Dir, b.root.Path("src")) {
		t.Fatalf("dir = %s", w.Dir)
	}
	if out := b.git(repo, "status", "--porcelain", "--ignored"); out != "" {
		t.Fatalf("the project's status = %q", out)
	}
}

func TestNames(t *testing.T) {
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	for _, name := range []string{"Fix", "a b", "-x", "ü", "a/b", "..", strings.Repeat("a", 65)} {
		_, err := b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Name: name})
		refused(t, err, NameInvalid)
	}
	w := b.make(NewWorkspace{ProjectID: p.ID, Title: "Größere Änderung: 日本 & Café!"})
	if w.Name != "grossere-anderung-cafe" || w.Title != "Größere Änderung: 日本 & Café!" {
		t.Fatalf("workspace = %+v", w)
	}
	again := b.make(NewWorkspace{ProjectID: p.ID, Title: w.Title})
	if again.Name != w.Name+"-2" || again.Branch != again.Name {
		t.Fatalf("workspace = %+v", again)
	}
	two := b.make(NewWorkspace{ProjectID: p.ID, Title: "日本"})
	if CheckName(two.Name) != nil || strings.Count(two.Name, "-") != 1 {
		t.Fatalf("workspace = %+v", two)
	}
	_, err := b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Name: w.Name})
	if r := refused(t, err, NameTaken); r.WorkspaceID != w.ID {
		t.Fatalf("refusal = %+v", r)
	}
	b.git(repo, "branch", "deep/er")
	b.git(repo, "branch", "shallow")
	for _, name := range []string{"deep", "shallow"} {
		_, err = b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Name: name})
		refused(t, err, NameTaken)
	}
	_, err = b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Branch: "a..b"})
	refused(t, err, BranchInvalid)
}

func TestTwoProcessesNeverShareAName(t *testing.T) {
	b := newBench(t)
	p := b.add(b.repo("r"))
	other := openBench(t, b.root.Dir(), b.env)
	var wg sync.WaitGroup
	made := make([]Workspace, 6)
	for i := range made {
		at := b
		if i%2 == 1 {
			at = other
		}
		wg.Go(func() {
			w, err := at.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Title: "same title"})
			if err != nil {
				t.Error(err)
			}
			made[i] = w
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, w := range made {
		if seen[w.Name] || seen[w.Dir] || other.Check(t.Context(), w).State != HealthReady {
			t.Fatalf("shared or broken: %+v", w)
		}
		seen[w.Name], seen[w.Dir] = true, true
	}
}

func TestFailedCreationLeavesNothing(t *testing.T) {
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	source, err := b.source(p)
	if err != nil {
		t.Fatal(err)
	}
	b.write(filepath.Join(source, "w1", "theirs"), "x")
	_, err = b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Name: "w1"})
	refused(t, err, FolderTaken)
	b.read(filepath.Join(source, "w1", "theirs"))
	if err := os.Rename(filepath.Join(repo, ".git", "objects"), filepath.Join(repo, ".git", "gone")); err != nil {
		t.Fatal(err)
	}
	b.write(filepath.Join(repo, ".git", "objects", "x"), "")
	if _, err := b.Create(t.Context(), NewWorkspace{ProjectID: p.ID, Name: "w2"}); err == nil {
		t.Fatal("made a workspace of a broken repository")
	}
	if all, _ := b.registry.Workspaces(t.Context()); len(all) != 0 {
		t.Fatalf("rows are left: %+v", all)
	}
	if exists(filepath.Join(source, "w2")) || exists(filepath.Join(repo, ".git", "refs", "heads", "w2")) {
		t.Fatal("folder or branch is left")
	}
}

func TestProjectWhoseFolderIsGoneIsRefused(t *testing.T) {
	b := newBench(t)
	repo := b.repo("r")
	p := b.add(repo)
	if err := os.RemoveAll(repo); err != nil {
		t.Fatal(err)
	}
	_, err := b.Create(t.Context(), NewWorkspace{ProjectID: p.ID})
	refused(t, err, FolderMissing)
	if _, err := b.Create(t.Context(), NewWorkspace{ProjectID: "nope"}); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
}
