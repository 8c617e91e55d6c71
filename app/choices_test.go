package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"carrel/app"
)

func TestAWorkspaceWithoutABranchWorksAndIsTold(t *testing.T) { // O-GIT-02
	h := newHouse(t)
	p, holder := h.desk(app.NewWorkspace{Branch: "f"})
	_, err := h.api.Workspaces.Create(t.Context(), app.NewWorkspace{ProjectID: p.ID, Branch: "f"})
	if code(err) != "branch_held" {
		t.Fatalf("a second one on f: %v", err)
	}
	w, err := h.api.Workspaces.Create(t.Context(), app.NewWorkspace{ProjectID: p.ID, Base: "f", Detached: true})
	if err != nil || w.Branch != "" || w.Base != "f" {
		t.Fatalf("%+v, %v", w, err)
	}
	h.wait("the git state", func(e app.Event) bool {
		c, ok := e.(app.WorkspaceChanged)
		return ok && c.Workspace.ID == w.ID && c.Workspace.Git != nil && c.Workspace.Git.Detached
	})
	h.send(w, "Make a commit")
	h.wait("the turn's end", ended(w.ID, app.Done))
	risk, err := h.api.Workspaces.AtRisk(t.Context(), app.RiskOfDeleting{ID: w.ID})
	if err != nil || risk.Clean || risk.Counts.Commits != 1 {
		t.Fatalf("%+v, %v", risk, err)
	}
	if got := gitIn(t, holder.Dir, "rev-list", "--count", "main..f"); got != "0" {
		t.Errorf("f has %s commits more", got)
	}
}

func TestAFirstCommitOpensTheWayToWorktrees(t *testing.T) { // O-GIT-16
	h := newHouse(t)
	write(t, filepath.Join(os.Getenv("HOME"), ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n")
	dir := t.TempDir()
	gitIn(t, dir, "init", "-q")
	p, err := h.api.Projects.Add(t.Context(), app.AddProject{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	ask := func() app.Branches {
		t.Helper()
		b, err := h.api.Projects.Branches(t.Context(), app.ByID{ID: p.ID})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if b := ask(); !b.NoCommit || b.Current != "" {
		t.Fatalf("%+v", b)
	}
	if _, err := h.api.Workspaces.Create(t.Context(), app.NewWorkspace{ProjectID: p.ID}); code(err) != "unborn" {
		t.Fatal(err)
	}
	if now, err := h.api.Projects.FirstCommit(t.Context(), app.ByID{ID: p.ID}); err != nil || now.ID != p.ID || now.Branch != "main" {
		t.Fatalf("%+v, %v", now, err)
	}
	if b := ask(); b.NoCommit || b.Current != "main" || len(b.Local) != 1 {
		t.Fatalf("%+v", b)
	}
	if _, err := h.api.Workspaces.Create(t.Context(), app.NewWorkspace{ProjectID: p.ID}); err != nil {
		t.Fatal(err)
	}
	// A branch without commits beside one that has some is no reason to make another first commit.
	gitIn(t, dir, "checkout", "-q", "--orphan", "pages")
	if b := ask(); b.NoCommit || b.Current != "" {
		t.Errorf("%+v", b)
	}
}

func TestTheExitCodeOfAnInitHookIsTold(t *testing.T) {
	h := newHouse(t)
	dir := repository(t)
	if err := os.Mkdir(filepath.Join(dir, ".carrel"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".carrel/init"), []byte("#!/bin/sh\nexit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := h.api.Projects.Add(t.Context(), app.AddProject{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.api.Projects.SetTrust(t.Context(), app.SetTrust{ID: p.ID, Trusted: true}); err != nil {
		t.Fatal(err)
	}
	w, err := h.api.Workspaces.Create(t.Context(), app.NewWorkspace{ProjectID: p.ID})
	if err != nil {
		t.Fatal(err)
	}
	h.wait("the hook's end", func(e app.Event) bool {
		c, ok := e.(app.WorkspaceChanged)
		return ok && c.Workspace.ID == w.ID && c.Workspace.Init == app.InitFailed && c.Workspace.InitCode != nil && *c.Workspace.InitCode == 7
	})
}
