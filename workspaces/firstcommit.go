package workspaces

import (
	"context"
	"errors"
	"fmt"

	"carrel/workspaces/git"
)

// FirstCommit makes the first commit of a project whose repository has none, so that worktrees can be
// made of it. The commit is empty and bears the person's own name: files and index stay as they are, and
// no hook runs, which could stop nothing of worth in an empty commit. Where there is a first commit
// already it does nothing. It is refused without a repository, without a name to commit under, and where
// other branches have commits, since those are what to start from.
func (d *Desks) FirstCommit(ctx context.Context, project string) (Project, error) {
	p, err := d.registry.Project(ctx, project)
	if err != nil {
		return Project{}, err
	}
	release, err := d.take(p.ID)
	if err != nil {
		return Project{}, err
	}
	defer release()
	if r := inspectProject(p); r != nil {
		return Project{}, r
	}
	if !p.Git {
		return Project{}, needsGit(p)
	}
	head, err := d.git.Head(ctx, p.Path)
	if err != nil {
		return Project{}, fmt.Errorf("read head of %q: %w", p.Path, err)
	}
	if !head.Unborn {
		return p, nil
	}
	branches, err := d.git.Branches(ctx, p.Path)
	if err != nil {
		return Project{}, fmt.Errorf("list branches of %q: %w", p.Path, err)
	}
	if len(branches) > 0 {
		return Project{}, onlyHeadUnborn(p, head)
	}
	_, err = d.git.FirstCommit(ctx, p.Path)
	if errors.Is(err, git.ErrNoIdentity) {
		return Project{}, &Refusal{Code: NoIdentity, Dir: p.Path, Cause: err, Message: "Git does not know under which name to commit. " +
			"Tell it with `git config --global user.name \"Your Name\"` and `git config --global user.email you@example.com`, then try again."}
	}
	if err != nil {
		return Project{}, err
	}
	d.emit(Event{Project: &p})
	return p, nil
}
