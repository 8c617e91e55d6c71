package workspaces

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"carrel/workspaces/runtime"
)

// Health is the state of a workspace's place.
type Health struct {
	State string // HealthReady and so on
	Note  string // what is wrong and what to do; "" when ready
}

// The states of a place.
const (
	HealthReady       = "ready"
	HealthCreating    = "creating"
	HealthMissing     = "missing"      // the folder is gone
	HealthNotWorktree = "not_worktree" // .git is gone or points elsewhere
	HealthBroken      = "broken"       // the repository behind it cannot be found
)

// Check says whether a workspace's place is what it should be. It reads a few small files and
// starts no process. A branch that the person switched by hand, or a detached HEAD, is fine.
func (d *Desks) Check(ctx context.Context, w Workspace) Health {
	p, err := d.registry.Project(ctx, w.ProjectID)
	if err != nil {
		return Health{State: HealthBroken, Note: fmt.Sprintf("Its project cannot be read: %v.", err)}
	}
	r := inspect(p, w)
	if r == nil {
		return Health{State: HealthReady}
	}
	state := HealthBroken
	switch {
	case r.Code == StillCreating:
		state = HealthCreating
	case r.Code == FolderMissing:
		state = HealthMissing
	case r.Code == NotWorktreeThere:
		state = HealthNotWorktree
	}
	return Health{State: state, Note: r.Message}
}

// Runtime returns the place where a workspace's commands run, with Vars in its environment. It
// refuses a place that Check does not call ready: there is no fallback folder.
func (d *Desks) Runtime(ctx context.Context, w Workspace) (runtime.Runtime, error) {
	p, err := d.registry.Project(ctx, w.ProjectID)
	if err != nil {
		return nil, err
	}
	if r := inspect(p, w); r != nil {
		return nil, r
	}
	return d.open(p, w)
}

// open opens a place that was inspected.
func (d *Desks) open(p Project, w Workspace) (runtime.Runtime, error) {
	env := append(runtime.BaseEnv(d.env), d.Vars(p, w)...)
	o := runtime.Options{Env: env, Reaper: d.reaper, Tag: w.ID}
	if d.boxes != nil {
		o.Boxes = func(ctx context.Context, h runtime.Hold) (*runtime.Boxed, error) { return d.boxes(ctx, w.ID, h) }
	}
	rt, err := runtime.NewLocal(w.Runtime, w.Dir, o)
	if err != nil {
		return nil, fmt.Errorf("open workspace %q: %w", w.Name, err)
	}
	return rt, nil
}

// inspect returns nil for a place where commands may run, else what is wrong with it.
func inspect(p Project, w Workspace) *Refusal {
	if w.Creating {
		return &Refusal{Code: StillCreating, WorkspaceID: w.ID, Message: "The workspace is still being created."}
	}
	if w.Runtime == runtime.Local {
		return inspectProject(p)
	}
	return inspectTree(p, w)
}

// inspectTree judges a worktree's folder.
func inspectTree(p Project, w Workspace) *Refusal {
	r := &Refusal{Dir: w.Dir, WorkspaceID: w.ID, Choices: []Choice{Restore, RemoveIt}}
	if !isFolder(w.Dir) {
		r.Code = FolderMissing
		r.Message = fmt.Sprintf("The folder %s is missing: restore it from the branch %s, or remove the workspace.", w.Dir, w.Branch)
		if w.Branch == "" {
			r.Message = fmt.Sprintf("The folder %s is missing: restore it at the commit that was checked out there, or remove the workspace.", w.Dir)
		}
		return r
	}
	err := checkLink(w.Dir, p.CommonDir)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNoAdmin), !isFolder(p.CommonDir):
		r.Code = BrokenPlace
		r.Message = fmt.Sprintf("The repository of %s is not at %s any more: say where it has moved.", p.Name, p.Path)
		r.Choices = []Choice{Relocate, RemoveIt}
	default:
		r.Code = NotWorktreeThere
		r.Message = fmt.Sprintf("%s is no longer a worktree of %s: %v. Nothing runs there until it is repaired; its files are kept.",
			w.Dir, p.Name, err)
	}
	r.Cause = err
	return r
}

// inspectProject judges a project's own folder: where it had git, it must still be that checkout and
// not merely lie in some other one.
func inspectProject(p Project) *Refusal {
	r := &Refusal{Dir: p.Path, Choices: []Choice{Relocate}}
	if !isFolder(p.Path) {
		r.Code = FolderMissing
		r.Message = fmt.Sprintf("The folder of %s is not at %s any more: say where it has moved.", p.Name, p.Path)
		return r
	}
	if !p.Git || samePlace(p.Path, p.CommonDir) {
		return nil
	}
	at := filepath.Join(p.Path, ".git")
	if !isFolder(at) {
		target, err := adminDir(p.Path) // a file: the git folder lies elsewhere, as in a submodule
		if err != nil {
			r.Code, r.Cause = NotWorktreeThere, err
			r.Message = fmt.Sprintf("%s is no longer the repository that it was: %v. Put it back, or remove the project and add the folder again.", p.Path, err)
			return r
		}
		at = target
	}
	if !samePlace(at, p.CommonDir) {
		r.Code = NotWorktreeThere
		r.Message = fmt.Sprintf("The .git of %s points to another repository than it did. Put it back, or remove the project and add the folder again.", p.Path)
		return r
	}
	return nil
}
