package workspaces

import (
	"context"
	"errors"
	"fmt"

	"carrel/workspaces/git"
	"carrel/workspaces/runtime"
)

// errLocked says that another process works on a thing.
var errLocked = errors.New("in use by another process")

// claim takes a workspace's lock, which its creation and its init hook hold while they run. Another
// process thereby tells a creation under way from one that died.
func (d *Desks) claim(id string) (unlock func(), err error) {
	if _, err := d.root.SessionDir(id); err != nil {
		return nil, fmt.Errorf("claim workspace %q: %w", id, err)
	}
	return tryLock(d.root.Path("sessions", id, "desk.lock"))
}

// Recover puts right what a process left behind that died: a creation is finished if its tree is
// whole and unchanged, else cleared up; an init hook that was running is noted as failed; a
// folder whose renaming was cut short is found again. What another process is doing is left alone.
// Call it at start. It goes on after a failure and returns all of them.
func (d *Desks) Recover(ctx context.Context) error {
	all, err := d.registry.Workspaces(ctx)
	if err != nil {
		return err
	}
	var failures []error
	for _, w := range all {
		if err := d.recoverOne(ctx, w); err != nil {
			failures = append(failures, fmt.Errorf("recover workspace %q: %w", w.Name, err))
		}
	}
	return errors.Join(failures...)
}

func (d *Desks) recoverOne(ctx context.Context, w Workspace) error {
	lost := w.Runtime == runtime.Worktree && !isFolder(w.Dir)
	if w.ProjectID == "" || !w.Creating && w.Init != InitRunning && !lost {
		return nil
	}
	p, err := d.registry.Project(ctx, w.ProjectID)
	if err != nil {
		return err
	}
	release, err := d.take(w.ID)
	if err != nil {
		return nil // we are at it ourselves
	}
	defer release()
	unlock, err := d.claim(w.ID)
	if errors.Is(err, errLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	switch {
	case w.Creating:
		return d.finish(ctx, p, w)
	case w.Init == InitRunning:
		if err := d.registry.setInit(ctx, w.ID, InitFailed, noCode); err != nil {
			return err
		}
		_, err = d.changed(ctx, w.ID)
		return err
	default:
		return d.findAgain(ctx, p, w)
	}
}

// finish ends a creation that died. A tree that is whole is kept; its init hook did not run, and
// RetryInit runs it.
func (d *Desks) finish(ctx context.Context, p Project, w Workspace) error {
	whole := w
	whole.Creating = false
	if inspect(p, whole) == nil && d.untouched(ctx, p, w) {
		if err := d.registry.settle(ctx, w.ID, InitNone); err != nil {
			return err
		}
		w, err := d.changed(ctx, w.ID)
		if err == nil {
			d.emit(Event{Workspace: &w, Notes: []string{"Its creation was cut short and is finished now; ignored files were perhaps not all copied, and the init hook did not run"}})
		}
		return err
	}
	return d.clear(ctx, p, w)
}

// untouched says whether a worktree is on its branch, or without one at its base, and as git made it.
func (d *Desks) untouched(ctx context.Context, p Project, w Workspace) bool {
	s, err := d.git.State(ctx, w.Dir, "")
	if err != nil || s.Branch != w.Branch || s.Dirty() {
		return false
	}
	if w.Branch != "" {
		return true
	}
	base, err := d.commit(ctx, p, w.Base)
	return err == nil && s.Commit == base
}

// clear removes what a failed creation left: its folder goes to the trash, never away; its branch
// goes only while it adds nothing to its base.
func (d *Desks) clear(ctx context.Context, p Project, w Workspace) error {
	if w.Runtime == runtime.Worktree {
		if err := d.clearTree(ctx, p, w); err != nil {
			return err
		}
	}
	if err := d.registry.removeWorkspace(ctx, w.ID); err != nil {
		return err
	}
	d.emit(Event{RemovedWorkspace: w.ID})
	return d.trashSession(ctx, w)
}

func (d *Desks) clearTree(ctx context.Context, p Project, w Workspace) error {
	if exists(w.Dir) && (checkLink(w.Dir, p.CommonDir) == nil || !exists(w.Dir+"/.git")) {
		if err := d.toTrash(ctx, w.Dir, w.ID, withWork); err != nil {
			return err
		}
	}
	if exists(w.Dir) || !isFolder(p.CommonDir) {
		return nil // not ours, or nothing left to tell
	}
	if err := d.git.ForgetTree(ctx, p.Path, w.Dir); err != nil && !errors.Is(err, git.ErrNotRegistered) {
		return err
	}
	if !w.MadeBranch {
		return nil
	}
	tip, err := d.commit(ctx, p, "refs/heads/"+w.Branch)
	if err != nil {
		return nil // it was not made
	}
	if base, err := d.commit(ctx, p, w.Base); err != nil || base != tip {
		return nil
	}
	return d.git.DeleteBranch(ctx, p.Path, w.Branch, tip)
}

// findAgain looks for a missing folder among the project's worktrees: a renaming that died half way
// has moved the folder but not noted it, or the other way round.
func (d *Desks) findAgain(ctx context.Context, p Project, w Workspace) error {
	if inspectProject(p) != nil {
		return nil
	}
	trees, err := d.git.Worktrees(ctx, p.Path)
	if err != nil {
		return err
	}
	others, err := d.registry.WorkspacesOf(ctx, p.ID)
	if err != nil {
		return err
	}
	source, err := d.source(p)
	if err != nil {
		return err
	}
	if t, ok := lostTree(trees, others, source, d.movedFrom(w.ID), w); ok {
		w.Dir = t.Dir
		if _, err := d.registry.moveWorkspace(ctx, w); err != nil {
			return err
		}
		_, err = d.changed(ctx, w.ID)
	}
	return err
}
