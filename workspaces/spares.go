package workspaces

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"carrel/workspaces/git"
	"carrel/workspaces/runtime"
)

// A spare is a worktree that lies ready, detached, beside a project's workspaces: claiming it saves
// the checkout, which is nearly all that creation takes. A marker beside it says that it is whole;
// a lock keeps the one who prepares it and the one who claims it apart, over processes.
const (
	spareName   = ".spare-1"
	spareMarker = ".spare-1.ready"
	spareLock   = ".spare.lock"
	// maxSpares is the number of projects that have one; those used longest ago lose theirs.
	maxSpares = 8

	sparesKey = "spares"
)

// WarmSpares prepares, in the background and at low priority, a spare for each project that has
// worktree workspaces, at most eight. Called again while it works it looks once more afterwards.
func (d *Desks) WarmSpares(context.Context) {
	d.jobs.ask(sparesKey, func(ctx context.Context) {
		lowerPriority()
		if err := d.warm(ctx); err != nil && ctx.Err() == nil {
			d.emit(Event{Notes: []string{fmt.Sprintf("Preparing spare worktrees: %v", err)}})
		}
	})
}

func (d *Desks) warm(ctx context.Context) error {
	projects, err := d.recent(ctx)
	if err != nil {
		return err
	}
	var failures []error
	for i, p := range projects {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if i < d.spareLimit {
			err = d.prepareSpare(ctx, p)
		} else {
			err = d.dropSpare(ctx, p)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", p.Name, err))
		}
	}
	return errors.Join(failures...)
}

// recent lists the projects that have worktree workspaces, the one used last first.
func (d *Desks) recent(ctx context.Context) ([]Project, error) {
	all, err := d.registry.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	trees := worktrees(all)
	slices.SortStableFunc(trees, func(a, b Workspace) int { return b.ActiveAt.Compare(a.ActiveAt) })
	var projects []Project
	seen := map[string]bool{}
	for _, w := range trees {
		if seen[w.ProjectID] {
			continue
		}
		seen[w.ProjectID] = true
		p, err := d.registry.Project(ctx, w.ProjectID)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		projects = append(projects, p)
	}
	return projects, nil
}

// prepareSpare makes a project's spare, or brings it to what the project has checked out now.
func (d *Desks) prepareSpare(ctx context.Context, p Project) error {
	if inspectProject(p) != nil {
		return nil // Check tells the person
	}
	head, err := d.git.Head(ctx, p.Path)
	if err != nil || head.Unborn {
		return err
	}
	dir, err := d.source(p)
	if err != nil {
		return err
	}
	spare, marker := filepath.Join(dir, spareName), filepath.Join(dir, spareMarker)
	if at, err := pointerText(marker); err == nil && at == head.Commit && checkLink(spare, p.CommonDir) == nil {
		return nil
	}
	unlock, err := tryLock(filepath.Join(dir, spareLock))
	if errors.Is(err, errLocked) {
		return nil // another process is at it
	}
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.RemoveAll(marker); err != nil {
		return err
	}
	err = d.git.PrepareSpare(ctx, p.Path, spare)
	if errors.Is(err, git.ErrInUse) { // somebody worked in it
		if err = d.discardSpare(ctx, p, spare); err == nil {
			err = d.git.PrepareSpare(ctx, p.Path, spare)
		}
	}
	if err != nil {
		return err
	}
	if _, err := d.registry.Project(ctx, p.ID); errors.Is(err, ErrNotFound) {
		return d.discardSpare(ctx, p, spare) // removed by another process meanwhile
	}
	return os.WriteFile(marker, []byte(head.Commit+"\n"), 0o600)
}

// claimSpare takes a project's spare, "" when none is ready. done must be called once git has used it.
func (d *Desks) claimSpare(p Project) (spare string, done func()) {
	nothing := func() {}
	dir, err := d.source(p)
	if err != nil {
		return "", nothing
	}
	spare, marker := filepath.Join(dir, spareName), filepath.Join(dir, spareMarker)
	if !exists(marker) {
		return "", nothing
	}
	unlock, err := tryLock(filepath.Join(dir, spareLock))
	if err != nil {
		return "", nothing // being prepared, or claimed by another creation
	}
	if checkLink(spare, p.CommonDir) != nil || os.Remove(marker) != nil {
		unlock()
		return "", nothing
	}
	return spare, unlock
}

// dropSpare moves a project's spare to the trash and forgets it.
func (d *Desks) dropSpare(ctx context.Context, p Project) error {
	dir, err := d.source(p)
	if err != nil {
		return err
	}
	unlock, err := tryLock(filepath.Join(dir, spareLock))
	if errors.Is(err, errLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	spare := filepath.Join(dir, spareName)
	if err := os.RemoveAll(filepath.Join(dir, spareMarker)); err != nil || !exists(spare) {
		return err
	}
	return d.discardSpare(ctx, p, spare)
}

func (d *Desks) discardSpare(ctx context.Context, p Project, spare string) error {
	keep := plain // somebody may have worked in it by hand
	if s := d.atStake(ctx, p, Workspace{Dir: spare, Runtime: runtime.Worktree}, true); !s.clean() {
		keep = withWork
	}
	if err := d.toTrash(ctx, spare, "spare-"+p.ID, keep); err != nil {
		return err
	}
	if !isFolder(p.CommonDir) {
		return nil
	}
	if err := d.git.ForgetTree(ctx, p.Path, spare); !errors.Is(err, git.ErrNotRegistered) {
		return err
	}
	return nil
}

// forgetSource removes what is left of a removed project's folder of worktrees, if it is empty.
func (d *Desks) forgetSource(ctx context.Context, p Project) error {
	d.jobs.stop(sparesKey) // it may be at this very spare
	defer d.WarmSpares(ctx)
	if err := d.dropSpare(ctx, p); err != nil {
		return err
	}
	dir, err := d.source(p)
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, spareLock)); err != nil {
		return err
	}
	_ = os.Remove(dir) // the person may keep something there
	return nil
}
