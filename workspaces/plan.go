package workspaces

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"carrel/workspaces/git"
)

// plan is where a new worktree starts, settled before anything is written.
type plan struct {
	branch   string // "" for none, or with create for one that is named like the workspace
	create   bool   // the branch is new
	base     string // branch or commit; what the person is shown
	branches []git.Branch
	notes    []string
}

// named says whether the branch gets the workspace's name.
func (pl *plan) named() bool { return pl.create && pl.branch == "" }

// planTree settles branch and base: what the person chose, else what the project has checked out.
// No remote is asked, and none is preferred.
func (d *Desks) planTree(ctx context.Context, p Project, n NewWorkspace) (plan, error) {
	head, err := d.git.Head(ctx, p.Path)
	if err != nil {
		return plan{}, fmt.Errorf("read head of %q: %w", p.Path, err)
	}
	branches, err := d.git.Branches(ctx, p.Path)
	if err != nil {
		return plan{}, fmt.Errorf("list branches of %q: %w", p.Path, err)
	}
	if len(branches) == 0 && head.Unborn {
		return plan{}, unborn(p, nil)
	}
	pl := plan{branch: n.Branch, base: n.Base, branches: branches}
	if pl.base == "" {
		err = pl.defaultBase(p, head)
	} else {
		err = d.chosenBase(ctx, p, head, &pl)
	}
	if err != nil {
		return plan{}, err
	}
	if n.Detached && n.Branch != "" {
		return plan{}, &Refusal{Code: BranchInvalid, Branch: n.Branch,
			Message: "A detached checkout is on no branch: choose only what it starts from."}
	}
	pl.create = !n.Detached
	if n.Branch == "" {
		return pl, nil
	}
	if b, ok := pl.find(n.Branch, false); ok {
		if b.HeldBy != "" {
			return plan{}, d.held(ctx, p, b.Name, b.HeldBy, nil)
		}
		pl.create = false
		return pl, nil
	}
	return pl, d.newBranch(ctx, p, n, &pl)
}

// defaultBase is what the project has checked out, whatever a remote calls its default.
func (pl *plan) defaultBase(p Project, head git.Head) error {
	switch {
	case head.Unborn:
		return onlyHeadUnborn(p, head)
	case head.Detached:
		pl.base = head.Commit
		pl.notes = append(pl.notes, fmt.Sprintf("%s has no branch checked out, so the workspace starts at the commit %.10s", p.Name, head.Commit))
	default:
		pl.base = head.Branch
	}
	return nil
}

// newBranch checks a branch name that does not exist yet. One that exists on a remote starts there,
// as git itself would, unless a base was chosen.
func (d *Desks) newBranch(ctx context.Context, p Project, n NewWorkspace, pl *plan) error {
	if remote, local, ok := pl.onRemote(n.Branch); ok && n.Base == "" {
		pl.branch, pl.base = local, remote
		if b, ok := pl.find(local, false); ok {
			if b.HeldBy != "" {
				return d.held(ctx, p, b.Name, b.HeldBy, nil)
			}
			pl.create = false
			return nil
		}
		pl.notes = append(pl.notes, fmt.Sprintf("The branch %s starts at %s", local, remote))
	}
	if _, err := d.git.Read(ctx, p.Path, "check-ref-format", "--branch", pl.branch); err != nil {
		return &Refusal{Code: BranchInvalid, Branch: pl.branch, Cause: err, Suggestion: Slug(pl.branch), Choices: []Choice{ChooseName},
			Message: fmt.Sprintf("Git does not allow the branch name %q: choose another one.", pl.branch)}
	}
	if other := pl.clash(pl.branch); other != "" {
		return &Refusal{Code: BranchInvalid, Branch: pl.branch, Choices: []Choice{ChooseName}, Message: fmt.Sprintf(
			"The branch %s cannot exist beside %s: git would need one name to be a folder and a branch. Choose another name.", pl.branch, other)}
	}
	return nil
}

func (pl *plan) find(name string, remote bool) (git.Branch, bool) {
	for _, b := range pl.branches {
		if b.Name == name && b.Remote == remote {
			return b, true
		}
	}
	return git.Branch{}, false
}

// onRemote finds the remote branch that name means: its full name, or the only one that ends so.
func (pl *plan) onRemote(name string) (remote, local string, ok bool) {
	var found []string
	for _, b := range pl.branches {
		if !b.Remote {
			continue
		}
		_, short, cut := strings.Cut(b.Name, "/")
		if !cut || short == "HEAD" {
			continue
		}
		if b.Name == name {
			return b.Name, short, true
		}
		if short == name {
			found = append(found, b.Name)
		}
	}
	if len(found) != 1 {
		return "", "", false
	}
	return found[0], name, true
}

// clash returns a local branch that cannot exist beside name: "a" and "a/b" exclude each other.
func (pl *plan) clash(name string) string {
	for _, b := range pl.branches {
		if !b.Remote && (strings.HasPrefix(b.Name, name+"/") || strings.HasPrefix(name, b.Name+"/")) {
			return b.Name
		}
	}
	return ""
}

// taken says whether a new branch of that name is impossible.
func (pl *plan) taken(name string) bool {
	_, ok := pl.find(name, false)
	return ok || pl.clash(name) != ""
}

// chosenBase refuses a chosen base that is not there. The name of a branch or tag is kept, since the
// workspace is compared with where that is. Whatever else names a commit, such as HEAD~2, would name another
// one in the workspace, or later; so what it is now counts.
func (d *Desks) chosenBase(ctx context.Context, p Project, head git.Head, pl *plan) error {
	base := pl.base
	commit, err := d.commit(ctx, p, base)
	var failed *git.Error
	switch {
	case errors.As(err, &failed):
		return baseMissing(p, base, err)
	case err != nil:
		return fmt.Errorf("find base %q: %w", base, err)
	}
	_, local := pl.find(base, false)
	_, remote := pl.find(base, true)
	if local || remote {
		return nil
	}
	if base == "HEAD" || base == "@" {
		return pl.defaultBase(p, head)
	}
	ref := base
	if !strings.HasPrefix(base, "refs/") {
		ref = "refs/tags/" + base
	}
	if _, err := d.git.Read(ctx, p.Path, "show-ref", "--verify", "--quiet", "--", ref); err != nil {
		pl.base = commit
	}
	return nil
}

func baseMissing(p Project, base string, cause error) *Refusal {
	return &Refusal{Code: BaseMissing, Branch: base, Cause: cause, Choices: []Choice{ChooseBase},
		Message: fmt.Sprintf("%s has no branch or commit %q to start from: choose another one.", p.Name, base)}
}

func unborn(p Project, cause error) *Refusal {
	return &Refusal{Code: Unborn, Dir: p.Path, Cause: cause, Choices: []Choice{FirstCommit, WorkInPlace},
		Message: fmt.Sprintf("%s has no commit yet, so git cannot make a worktree of it: make a first commit (`carrel project first-commit %s` makes an empty one), or work in the folder itself.",
			p.Name, shellQuote(p.Path))}
}

// onlyHeadUnborn refuses what the project has checked out where other branches have commits.
func onlyHeadUnborn(p Project, head git.Head) *Refusal {
	return &Refusal{Code: Unborn, Dir: p.Path, Branch: head.Branch, Choices: []Choice{ChooseBase, WorkInPlace},
		Message: fmt.Sprintf("%s is on the branch %s, which has no commit yet: choose another branch to start from.", p.Name, head.Branch)}
}

func needsGit(p Project) *Refusal {
	return &Refusal{Code: NeedsGit, Dir: p.Path, Choices: []Choice{WorkInPlace}, Message: fmt.Sprintf(
		"%s is not a git repository, so it has no worktrees: work in the folder itself, or run `git init` there and add it again.", p.Name)}
}

// held names the folder that has a branch, and the workspace if it is one of ours.
func (d *Desks) held(ctx context.Context, p Project, branch, dir string, cause error) error {
	r := &Refusal{Code: BranchHeld, Branch: branch, Dir: dir, Cause: cause, Choices: []Choice{NewBranch, Detach}}
	if !exists(dir) {
		r.Message = fmt.Sprintf("The branch %s is registered as checked out in %s, which is missing: put the folder back, run `git worktree prune` in %s, start a new branch from it, or check it out detached.",
			branch, dir, p.Path)
	}
	all, err := d.registry.WorkspacesOf(ctx, p.ID)
	if err != nil {
		return err
	}
	for _, w := range worktrees(all) {
		if w.Dir == dir || samePlace(w.Dir, dir) {
			r.WorkspaceID, r.Choices = w.ID, []Choice{OpenWorkspace, NewBranch, Detach}
			r.Message = fmt.Sprintf("The branch %s is checked out in the workspace %s (%s): open that one, start a new branch from it, or check it out detached.", branch, w.Name, dir)
			return r
		}
	}
	if r.Message != "" {
		return r
	}
	r.Message = fmt.Sprintf("The branch %s is checked out in %s: start a new branch from it, check it out detached, or check out another branch there first.", branch, dir)
	return r
}

// refusal turns git's typed errors into what the person is told.
func (d *Desks) refusal(ctx context.Context, p Project, err error) error {
	var held *git.HeldError
	var missing *git.NoSuchRefError
	switch {
	case errors.As(err, &held):
		return d.held(ctx, p, held.Branch, held.Dir, err)
	case errors.As(err, &missing):
		return baseMissing(p, missing.Ref, err)
	case errors.Is(err, git.ErrUnborn):
		return unborn(p, err)
	case errors.Is(err, git.ErrLocked):
		return &Refusal{Code: Locked, Cause: err,
			Message: "The worktree is locked: run `git worktree unlock` on it first."}
	case errors.Is(err, git.ErrExists):
		return &Refusal{Code: FolderTaken, Cause: err, Choices: []Choice{ChooseName},
			Message: "A folder or branch of that name exists already: choose another name."}
	}
	return err
}
