package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"carrel/app"
	"carrel/app/wire"
)

// below reports whether dir is top or lies in it, under any spelling.
func below(top, dir string) bool {
	want, err := os.Stat(top)
	if err != nil {
		return false
	}
	for at := dir; ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, want) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// fromLinked says what a run does that is begun in a linked worktree, whose project is the main checkout:
// never work there instead, where nobody looks for it. With a worktree of its own it starts from the
// branch that is checked out where the person stands.
func fromLinked(ctx context.Context, c wire.Caller, p app.Project, dir, runtime string) (base string, err error) {
	if runtime == "local" {
		return "", refuseLinked(ctx, c, p, dir)
	}
	var all app.Branches
	if err := c.Call(ctx, "projects.branches", app.ByID{ID: p.ID}, &all); err != nil {
		return "", err
	}
	for _, held := range all.HeldBy {
		if below(held.Dir, dir) {
			return held.Branch, nil
		}
	}
	return "", &app.Error{Code: "linked_worktree", Message: fmt.Sprintf(
		"%s is a worktree of %s that is on no branch to start from. Switch to one there, or start from another folder with --dir.", line(dir), line(p.Name))}
}

// refuseLinked refuses to work in the main checkout for somebody who stands in a linked worktree.
func refuseLinked(ctx context.Context, c wire.Caller, p app.Project, dir string) error {
	var all []app.Workspace
	if err := c.Call(ctx, "workspaces.list", app.ListWorkspaces{Archived: true}, &all); err != nil {
		return err
	}
	for _, w := range all {
		if w.Runtime != "local" && below(w.Dir, dir) {
			return &app.Error{Code: "linked_worktree", Message: fmt.Sprintf(
				"This folder is the workspace %s. Go on in it with --workspace %s, or start a new one from its branch with --runtime worktree.", line(w.Name), w.ID)}
		}
	}
	return &app.Error{Code: "linked_worktree", Message: fmt.Sprintf(
		"%s is a worktree of %s, whose own folder is %s. Work there with --dir %s, or on a new branch from this one with --runtime worktree.",
		line(dir), line(p.Name), line(p.Path), quote(p.Path))}
}
