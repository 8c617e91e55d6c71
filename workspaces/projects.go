package workspaces

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"carrel/store"
	"carrel/workspaces/git"
)

// spot is the folder that stands for a project, and what git says of it.
type spot struct {
	path   string // canonical; a bare repository's own folder
	common string // "" without git
}

// locate finds the project folder that dir, which is canonical, belongs to: the main checkout of a
// linked worktree, the top of a repository that tracks dir, else dir itself.
func (d *Desks) locate(ctx context.Context, dir string) (spot, error) {
	repo, err := d.git.Identify(ctx, dir)
	if errors.Is(err, git.ErrNotRepo) {
		return spot{path: dir}, nil
	}
	if errors.Is(err, git.ErrNotOwner) {
		return spot{}, &Refusal{Code: NotOwner, Dir: dir, Cause: err, Message: fmt.Sprintf(
			"Git refuses the repository at %s, since another user owns it. If you trust it, run `git config --global --add safe.directory %s`, then try again.",
			dir, shellQuote(dir))}
	}
	if err != nil {
		return spot{}, fmt.Errorf("look at %q: %w", dir, err)
	}
	if repo.Top != "" && !samePlace(repo.Top, dir) && !d.tracked(ctx, dir) {
		return spot{path: dir}, nil // a repository further up, such as a home folder's, has nothing to do with it
	}
	switch {
	case repo.Linked && repo.Top == "":
		if err := checkAdmin(repo.GitDir, repo.CommonDir); err != nil {
			return spot{path: dir}, nil // a folder that only claims to be part of a repository
		}
	case repo.Linked:
		if err := checkBacklink(repo.GitDir, repo.Top, repo.CommonDir); err != nil {
			return spot{}, worktreeMoved(repo, err)
		}
	case repo.Top != "" && !ownGitDir(repo.Top, repo.GitDir):
		return spot{path: dir}, nil // its configuration claims a folder above it
	}
	if repo.Bare || repo.Main == "" {
		return spot{path: repo.CommonDir, common: repo.CommonDir}, nil
	}
	return spot{path: repo.Main, common: repo.CommonDir}, nil
}

func worktreeMoved(repo git.Repo, cause error) *Refusal {
	return &Refusal{Code: WorktreeMoved, Dir: repo.Top, Cause: cause, Message: fmt.Sprintf(
		"%s says that it is a worktree of %s, but that repository places it elsewhere. If it was moved, run `git worktree repair` in it, then try again.",
		repo.Top, repo.CommonDir)}
}

// tracked says whether a folder below a repository's top is part of its last commit.
func (d *Desks) tracked(ctx context.Context, dir string) bool {
	_, err := d.git.Read(ctx, dir, "rev-parse", "--quiet", "--verify", "HEAD:./")
	return err == nil
}

// projectAt returns the project whose folder is path under any spelling, or ErrNotFound.
func (d *Desks) projectAt(ctx context.Context, path string) (Project, error) {
	p, err := d.registry.ProjectByPath(ctx, path)
	if !errors.Is(err, ErrNotFound) {
		return p, err
	}
	all, err := d.registry.Projects(ctx)
	if err != nil {
		return Project{}, err
	}
	for _, p := range all {
		if samePlace(p.Path, path) {
			return p, nil
		}
	}
	return Project{}, fmt.Errorf("find project %q: %w", path, ErrNotFound)
}

// AddProject adds a folder, with or without git. The path is made canonical once. A folder that is
// a project already, under any spelling, returns that project; a linked worktree stands for its
// main checkout, a folder that a repository tracks for that repository. name is for display, ""
// takes the folder's. A path that is no folder is refused.
func (d *Desks) AddProject(ctx context.Context, path, name string) (Project, error) {
	dir, err := canonical(path)
	if err != nil {
		return Project{}, err
	}
	at, err := d.locate(ctx, dir)
	if err != nil {
		return Project{}, err
	}
	if p, err := d.projectAt(ctx, at.path); !errors.Is(err, ErrNotFound) {
		return d.refresh(ctx, p, at, err)
	}
	if name = strings.TrimSpace(name); name == "" {
		name = displayName(at.path)
	}
	p, err := d.registry.insertProject(ctx, Project{
		ID: store.NewID(), Name: name, Path: at.path, CommonDir: at.common, Git: at.common != "", AddedAt: d.now(),
	})
	if err != nil {
		return Project{}, err
	}
	d.emit(Event{Project: &p})
	return p, nil
}

// refresh notes when a folder that is a project already has become a repository since, or moved its
// git folder.
func (d *Desks) refresh(ctx context.Context, p Project, at spot, err error) (Project, error) {
	if err != nil || p.CommonDir == at.common || at.common == "" {
		return p, err
	}
	p.CommonDir, p.Git = at.common, true
	if err := d.registry.updateProject(ctx, p); err != nil {
		return Project{}, err
	}
	d.emit(Event{Project: &p})
	return p, nil
}

// displayName is the folder's name, without the ending of a bare repository.
func displayName(path string) string {
	name := filepath.Base(path)
	if name == ".git" {
		name = filepath.Base(filepath.Dir(path))
	}
	if short := strings.TrimSuffix(name, ".git"); short != "" {
		name = short
	}
	return name
}

// RemoveProject forgets a project. The folder stays as it is. Worktree workspaces must be deleted
// before (a Refusal says so); the conversations of its local workspaces go to the trash.
func (d *Desks) RemoveProject(ctx context.Context, id string) error {
	p, err := d.registry.Project(ctx, id)
	if err != nil {
		return err
	}
	release, err := d.take(id)
	if err != nil {
		return err
	}
	defer release()
	all, err := d.registry.WorkspacesOf(ctx, id)
	if err != nil {
		return err
	}
	if n := len(worktrees(all)); n > 0 {
		return hasWorkspaces(p, n)
	}
	for _, w := range all {
		d.endWork(ctx, w)
	}
	removed, err := d.registry.removeProject(ctx, id)
	if err != nil {
		return err
	}
	if !removed {
		return hasWorkspaces(p, 1) // one was created meanwhile
	}
	for _, w := range all {
		if err := d.trashSession(ctx, w); err != nil {
			return err
		}
		d.emit(Event{RemovedWorkspace: w.ID})
	}
	d.emit(Event{RemovedProject: id})
	if !p.Git {
		return nil
	}
	return d.forgetSource(ctx, p)
}

func hasWorkspaces(p Project, n int) *Refusal {
	return &Refusal{Code: HasWorkspaces, Choices: []Choice{DeleteItsDesks}, Message: fmt.Sprintf(
		"%s still has %d worktree workspace(s), archived ones included: delete them first, then remove the project.", p.Name, n)}
}

// RelocateProject says that a project's folder is now at path. The registrations of its worktrees
// are mended; a folder that is not the project's repository is refused.
func (d *Desks) RelocateProject(ctx context.Context, id, path string) (Project, error) {
	p, err := d.registry.Project(ctx, id)
	if err != nil {
		return Project{}, err
	}
	dir, err := canonical(path)
	if err != nil {
		return Project{}, err
	}
	at, err := d.locate(ctx, dir)
	if err != nil {
		return Project{}, err
	}
	if other, err := d.projectAt(ctx, at.path); err == nil && other.ID != id {
		return Project{}, &Refusal{Code: OtherRepository, Dir: at.path, Message: fmt.Sprintf(
			"%s is already the project %s: choose the folder to which %s has moved.", at.path, other.Name, p.Name)}
	}
	all, err := d.registry.WorkspacesOf(ctx, id)
	if err != nil {
		return Project{}, err
	}
	if err := d.sameRepository(p, at, worktrees(all)); err != nil {
		return Project{}, err
	}
	for _, w := range worktrees(all) {
		if !isFolder(w.Dir) {
			continue // Check says so, Repair restores it
		}
		if err := d.git.RepairTree(ctx, at.path, w.Dir); err != nil {
			return Project{}, fmt.Errorf("mend worktree %q: %w", w.Dir, err)
		}
	}
	p.Path, p.CommonDir, p.Git = at.path, at.common, at.common != ""
	if err := d.registry.relocate(ctx, p); err != nil {
		return Project{}, err
	}
	d.emit(Event{Project: &p})
	for _, w := range all {
		if _, err := d.changed(ctx, w.ID); err != nil {
			return Project{}, err
		}
	}
	return p, nil
}

// sameRepository refuses a folder that cannot be where p has moved: without git where p had it, or
// a repository that knows none of p's worktrees.
func (d *Desks) sameRepository(p Project, at spot, trees []Workspace) error {
	if p.Git && at.common == "" {
		return &Refusal{Code: OtherRepository, Dir: at.path, Message: fmt.Sprintf(
			"%s has no git repository, but %s is one: choose the folder to which it has moved.", at.path, p.Name)}
	}
	for _, w := range trees {
		admin, err := adminDir(w.Dir)
		if err != nil {
			continue
		}
		if !isFolder(filepath.Join(at.common, "worktrees", filepath.Base(admin))) {
			return &Refusal{Code: OtherRepository, Dir: at.path, WorkspaceID: w.ID, Message: fmt.Sprintf(
				"%s is another copy of the repository: it does not know the workspace %s. Choose the folder to which %s has moved.",
				at.path, w.Name, p.Name)}
		}
	}
	return nil
}
