package workspaces

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"carrel/store"
	"carrel/workspaces/git"
	"carrel/workspaces/runtime"
)

// Delete deletes a workspace: what runs there ends, its delete hook runs, its folder and its
// conversation go to the trash, and its branch is deleted if Carrel made it and keepBranch is false.
// Unless nothing would be lost, confirm must be the workspace's name; else it fails with a
// *ConfirmError and nothing is removed. The project's own folder is never touched.
func (d *Desks) Delete(ctx context.Context, id, confirm string, keepBranch bool) error {
	w, p, err := d.load(ctx, id)
	if err != nil {
		return err
	}
	release, err := d.take(id)
	if err != nil {
		return err
	}
	defer release()
	if w.Creating {
		return d.abandon(ctx, p, w)
	}
	if lockedTree(w) {
		return &Refusal{Code: Locked, Dir: w.Dir, WorkspaceID: id, Message: fmt.Sprintf(
			"The worktree %s is locked: run `git worktree unlock` on it first, if it may go.", w.Dir)}
	}
	s := d.atStake(ctx, p, w, keepBranch)
	if !s.clean() && confirm != w.Name {
		return &ConfirmError{Name: w.Name, Risk: s.risk}
	}
	worked, err := d.halt(ctx, w)
	if err != nil {
		return err
	}
	if d.runHook(ctx, p, w, "delete") {
		d.endWork(ctx, w)
		worked = true
	}
	if worked && confirm != w.Name { // it may have written something meanwhile
		if s = d.atStake(ctx, p, w, keepBranch); !s.clean() {
			return &ConfirmError{Name: w.Name, Risk: s.risk}
		}
	}
	if err := d.discard(ctx, p, w, s); err != nil {
		return fmt.Errorf("delete workspace %q: %w", w.Name, err)
	}
	return nil
}

// abandon deletes a creation that died; one that is under way is left alone.
func (d *Desks) abandon(ctx context.Context, p Project, w Workspace) error {
	unlock, err := d.claim(w.ID)
	if errors.Is(err, errLocked) {
		return inspect(p, w)
	}
	if err != nil {
		return err
	}
	defer unlock()
	return d.clear(ctx, p, w)
}

// lockedTree says whether the person locked a worktree with git.
func lockedTree(w Workspace) bool {
	if w.Runtime != runtime.Worktree {
		return false
	}
	admin, err := adminDir(w.Dir)
	return err == nil && exists(filepath.Join(admin, "locked"))
}

// discard moves a workspace to the trash and forgets it. The folder goes first, in one step; if
// this process dies after that, the row says that its folder is missing and can be deleted again.
func (d *Desks) discard(ctx context.Context, p Project, w Workspace, s stake) error {
	if w.Runtime == runtime.Worktree {
		if err := d.writeEpitaph(w, s); err != nil {
			return err
		}
		keep := plain
		if !s.clean() {
			keep = withWork
		}
		modules := ownModules(p, w)
		if err := d.toTrash(ctx, w.Dir, w.ID, keep); err != nil {
			return err
		}
		if keep == withWork && modules != "" {
			if err := d.toTrashBeside(ctx, modules, p.CommonDir, w.ID+"-modules", keep); err != nil {
				return err
			}
		}
	}
	if err := d.registry.removeWorkspace(ctx, w.ID); err != nil {
		return err
	}
	d.emit(Event{RemovedWorkspace: w.ID})
	var left error // that something of it is left does not keep its conversation here
	if w.Runtime == runtime.Worktree && isFolder(p.CommonDir) {
		left = d.git.ForgetTree(ctx, p.Path, w.Dir)
		if errors.Is(left, git.ErrNotRegistered) {
			left = nil
		}
		if left == nil && s.tip != "" {
			left = d.dropBranch(ctx, p, w, s)
		}
	}
	return errors.Join(left, d.trashSession(ctx, w))
}

// ownModules is where a worktree's submodules have their repositories, which go with its registration; ""
// when it has none.
func ownModules(p Project, w Workspace) string {
	if checkLink(w.Dir, p.CommonDir) != nil {
		return ""
	}
	admin, err := adminDir(w.Dir)
	if modules := filepath.Join(admin, "modules"); err == nil && isFolder(modules) {
		return modules
	}
	return ""
}

// branchesGone counts the branches of a project that went with their workspaces.
func (d *Desks) branchesGone(p Project) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gone[p.ID]
}

// dropBranch deletes a workspace's branch at the commit that was inspected. A branch that has moved
// since, that another folder has checked out or that git can't delete stays. So does one whose commits were on another
// branch when it was inspected, and that one has gone meanwhile.
func (d *Desks) dropBranch(ctx context.Context, p Project, w Workspace, s stake) error {
	d.dropping.Lock() // one looks and deletes at a time
	defer d.dropping.Unlock()
	if d.branchesGone(p) != s.seen {
		var now git.Risk
		d.commitsAtStake(ctx, p, s.tip, w.Branch, &now)
		if now.Unknown != "" || now.Counts[2] > s.risk.Counts[2] {
			d.emit(Event{Workspace: &w, Notes: []string{fmt.Sprintf("The branch %s was kept: another one that had its commits was deleted at the same time", w.Branch)}})
			return nil
		}
	}
	err := d.git.DeleteBranch(ctx, p.Path, w.Branch, s.tip)
	if err == nil {
		d.mu.Lock()
		d.gone[p.ID]++
		d.mu.Unlock()
	}
	var missing *git.NoSuchRefError
	if err != nil && !errors.As(err, &missing) { // the workspace is deleted all the same
		d.emit(Event{Workspace: &w, Notes: []string{fmt.Sprintf("The branch %s was kept: %v", w.Branch, err)}})
	}
	return ctx.Err()
}

// epitaph is what the trash keeps of a workspace beside its files, so that a person can bring it
// back by hand: `git branch NAME TIP` works until git collects its garbage.
type epitaph struct {
	Project string `json:"project"`
	Name    string `json:"name"`
	Title   string `json:"title"`
	Branch  string `json:"branch"`
	Tip     string `json:"tip,omitempty"` // of the branch, if that was deleted too; the commit of a detached checkout
}

func (d *Desks) writeEpitaph(w Workspace, s stake) error {
	text, err := json.MarshalIndent(epitaph{Project: w.ProjectID, Name: w.Name, Title: w.Title, Branch: w.Branch, Tip: s.last()}, "", "\t")
	if err != nil {
		return err
	}
	if _, err := d.root.SessionDir(w.ID); err != nil {
		return err
	}
	return store.WriteFile(d.root.Path("sessions", w.ID, "deleted.json"), append(text, '\n'), 0o600)
}
