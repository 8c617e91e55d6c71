package workspaces

import (
	"context"
	"errors"
	"fmt"

	"carrel/workspaces/git"
	"carrel/workspaces/runtime"
)

// Repair restores a missing folder from its branch, or without one at the commit that was checked out, or registers a folder whose .git is gone again;
// files in it are not touched. What is ready stays as it is.
func (d *Desks) Repair(ctx context.Context, id string) error {
	w, p, err := d.load(ctx, id)
	if err != nil {
		return err
	}
	release, err := d.take(id)
	if err != nil {
		return err
	}
	defer release()
	r := inspect(p, w)
	if r == nil {
		return nil
	}
	if w.Runtime == runtime.Local {
		return r
	}
	switch {
	case r.Code == FolderMissing:
		err = d.restore(ctx, p, w)
	case r.Code == NotWorktreeThere:
		err = d.reregister(ctx, p, w)
	default:
		return r
	}
	if err != nil {
		return err
	}
	_, err = d.changed(ctx, id)
	return err
}

// reregister lets a folder and its registration find each other again; where git has dropped the
// registration, the folder becomes a new worktree on the workspace's branch, or without one at its base.
func (d *Desks) reregister(ctx context.Context, p Project, w Workspace) error {
	err := d.git.RepairTree(ctx, p.Path, w.Dir)
	if errors.Is(err, git.ErrNotRegistered) {
		if err = d.git.AdoptTree(ctx, p.Path, w.Dir, w.Branch, w.Base); err == nil && w.Branch == "" {
			d.emit(Event{Workspace: &w, Notes: []string{forgotten(w)}})
		}
	}
	if errors.Is(err, git.ErrExists) {
		return inspect(p, w) // it is a repository of its own now
	}
	if err != nil {
		return fmt.Errorf("repair workspace %q: %w", w.Name, d.refusal(ctx, p, err))
	}
	if r := inspect(p, w); r != nil {
		return r
	}
	return nil
}

// forgotten tells of a worktree without a branch whose registration is gone.
func forgotten(w Workspace) string {
	return fmt.Sprintf("The commit that was checked out in %s is not known any more, so it is at %s now", w.Name, w.Base)
}

// restore makes a missing folder again from what was checked out in it.
func (d *Desks) restore(ctx context.Context, p Project, w Workspace) error {
	if r := inspectProject(p); r != nil {
		return r
	}
	n, notes, err := d.lastSeen(ctx, p, w)
	if err != nil {
		return fmt.Errorf("restore workspace %q: %w", w.Name, err)
	}
	if _, err = d.source(p); err != nil {
		return fmt.Errorf("restore workspace %q: %w", w.Name, err)
	}
	made, err := d.git.AddTree(ctx, n)
	var missing *git.NoSuchRefError
	if errors.As(err, &missing) {
		return &Refusal{Code: BranchMissing, WorkspaceID: w.ID, Branch: missing.Ref, Cause: err, Choices: []Choice{RemoveIt},
			Message: fmt.Sprintf("There is no branch or commit %s any more, so there is nothing to restore: remove the workspace.", missing.Ref)}
	}
	if err != nil {
		return d.refusal(ctx, p, err)
	}
	d.freshen(w)
	d.emit(Event{Workspace: &w, Notes: append(notes, made.Warnings...)})
	return nil
}

// lastSeen is the worktree that a missing folder was, by its registration if that is left: the branch
// that was checked out last, or the commit where there was none or where it alone has commits.
func (d *Desks) lastSeen(ctx context.Context, p Project, w Workspace) (git.NewTree, []string, error) {
	n := git.NewTree{Repo: p.Path, Dir: w.Dir, Branch: w.Branch, Filters: filters(p)}
	tree, ok, err := d.registered(ctx, p, w.Dir)
	if err != nil {
		return n, nil, err
	}
	switch {
	case ok && tree.Branch != "":
		n.Branch = tree.Branch // perhaps switched by hand
	case ok && tree.Commit != "" && (w.Branch == "" || d.onlyThere(ctx, p, tree.Commit)):
		n.Branch, n.Base = "", tree.Commit
		return n, []string{fmt.Sprintf("%s is on no branch, at the commit %.10s, as it was", w.Name, tree.Commit)}, nil
	case w.Branch == "":
		n.Base = w.Base
		return n, []string{forgotten(w)}, nil
	}
	return n, nil, nil
}

// onlyThere says whether a commit is on no branch, remote or tag.
func (d *Desks) onlyThere(ctx context.Context, p Project, commit string) bool {
	var risk git.Risk
	d.commitsAtStake(ctx, p, commit, "", &risk)
	return risk.Counts[2] > 0
}
