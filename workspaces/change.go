package workspaces

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"carrel/workspaces/runtime"
)

// Rename changes a workspace's title, its name or both; "" leaves one as it is, but a title that is the name
// follows it. A new name moves the
// folder of a worktree, so nothing should run there meanwhile, and renames its branch if Carrel made
// that under the old name and it has no upstream.
func (d *Desks) Rename(ctx context.Context, id, name, title string) (Workspace, error) {
	w, p, err := d.load(ctx, id)
	if err != nil {
		return Workspace{}, err
	}
	if title = strings.TrimSpace(title); title != "" && title != w.Title {
		if err := d.registry.setTitle(ctx, id, title); err != nil {
			return Workspace{}, err
		}
	}
	if name != "" && name != w.Name {
		if err := d.move(ctx, p, w, name); err != nil {
			return Workspace{}, err
		}
		if title == "" && w.Title == w.Name { // it never had one of its own
			if err := d.registry.setTitle(ctx, id, name); err != nil {
				return Workspace{}, err
			}
		}
	}
	return d.changed(ctx, id)
}

// move gives a workspace another name, and a worktree another folder. The row is written first: if
// this process dies before the folder has moved, Recover finds it where noteMove says that it was.
func (d *Desks) move(ctx context.Context, p Project, w Workspace, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	release, err := d.take(w.ID)
	if err != nil {
		return err
	}
	defer release()
	if r := inspect(p, w); r != nil {
		return r
	}
	if d.jobs.running(initKey(w.ID)) {
		return &Refusal{Code: Busy, WorkspaceID: w.ID, Message: "Its init hook is still running: wait for it, then rename the workspace."}
	}
	to := w
	to.Name = name
	if w.Runtime == runtime.Worktree {
		to.Dir = filepath.Join(filepath.Dir(w.Dir), name)
		if exists(to.Dir) {
			return &Refusal{Code: FolderTaken, Dir: to.Dir, Choices: []Choice{ChooseName},
				Message: fmt.Sprintf("The folder %s exists already: choose another name.", to.Dir)}
		}
	}
	if w.Runtime == runtime.Worktree {
		moved, err := d.noteMove(w)
		if err != nil {
			return fmt.Errorf("rename workspace %q: %w", w.Name, err)
		}
		defer moved()
	}
	free, err := d.registry.moveWorkspace(ctx, to)
	if err != nil {
		return err
	}
	if !free {
		return d.taken(ctx, p, name)
	}
	if w.Runtime != runtime.Worktree {
		return nil
	}
	if err := d.git.MoveTree(ctx, p.Path, w.Dir, to.Dir); err != nil {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupLimit)
		defer cancel()
		_, undoErr := d.registry.moveWorkspace(undo, w)
		return fmt.Errorf("rename workspace %q: %w", w.Name, errors.Join(d.refusal(undo, p, err), undoErr))
	}
	return d.renameBranch(ctx, p, w, to)
}

// renameBranch lets the branch follow the name, where nothing speaks against it. The workspace has
// its new name either way.
func (d *Desks) renameBranch(ctx context.Context, p Project, from, to Workspace) error {
	if !from.MadeBranch || from.Branch != from.Name {
		return nil
	}
	branches, err := d.git.Branches(ctx, p.Path)
	if err != nil {
		return fmt.Errorf("rename branch %q: %w", from.Branch, err)
	}
	pl := plan{branches: branches}
	b, ok := pl.find(from.Branch, false)
	if !ok || b.Upstream != "" || b.HeldBy != "" && !samePlace(b.HeldBy, to.Dir) || pl.taken(to.Name) {
		d.emit(Event{Workspace: &to, Notes: []string{fmt.Sprintf("The branch keeps its name %s", from.Branch)}})
		return nil
	}
	if err := d.git.RenameBranch(ctx, p.Path, from.Branch, to.Name); err != nil {
		return fmt.Errorf("rename branch %q: %w", from.Branch, err)
	}
	to.Branch = to.Name
	_, err = d.registry.moveWorkspace(ctx, to)
	return err
}

// SetBase changes what a workspace is compared with, such as when its base was deleted. Nothing in its place
// changes. A base that is not there is refused.
func (d *Desks) SetBase(ctx context.Context, id, base string) (Workspace, error) {
	w, p, err := d.load(ctx, id)
	if err != nil {
		return Workspace{}, err
	}
	if r := inspectProject(p); r != nil {
		return Workspace{}, r
	}
	if !p.Git {
		return Workspace{}, needsGit(p)
	}
	head, err := d.git.Head(ctx, p.Path)
	if err != nil {
		return Workspace{}, fmt.Errorf("read head of %q: %w", p.Path, err)
	}
	branches, err := d.git.Branches(ctx, p.Path)
	if err != nil {
		return Workspace{}, fmt.Errorf("list branches of %q: %w", p.Path, err)
	}
	pl := plan{base: base, branches: branches}
	if err := d.chosenBase(ctx, p, head, &pl); err != nil {
		return Workspace{}, err
	}
	if err := d.registry.setBase(ctx, w.ID, pl.base); err != nil {
		return Workspace{}, err
	}
	return d.changed(ctx, id)
}

// Archive ends what runs in a workspace, runs its archive hook and takes it off the list. Tree,
// branch and conversation stay. Archiving twice does nothing more.
func (d *Desks) Archive(ctx context.Context, id string) (Workspace, error) {
	w, p, err := d.load(ctx, id)
	if err != nil || w.ArchivedAt != nil {
		return w, err
	}
	if w.Creating {
		return Workspace{}, inspect(p, w)
	}
	release, err := d.take(id)
	if err != nil {
		return Workspace{}, err
	}
	defer release()
	if _, err := d.halt(ctx, w); err != nil {
		return Workspace{}, err
	}
	if d.runHook(ctx, p, w, "archive") {
		d.endWork(ctx, w)
	}
	now := d.now()
	if _, err := d.registry.setArchived(ctx, id, &now); err != nil {
		return Workspace{}, err
	}
	return d.changed(ctx, id)
}

// Unarchive puts an archived workspace back on the list.
func (d *Desks) Unarchive(ctx context.Context, id string) (Workspace, error) {
	if _, err := d.registry.setArchived(ctx, id, nil); err != nil {
		return Workspace{}, err
	}
	return d.changed(ctx, id)
}
