package workspaces

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"carrel/workspaces/compat"
)

// SetTrust grants or revokes what a project's repository brings the right to run.
func (d *Desks) SetTrust(ctx context.Context, id string, trusted bool) (Project, error) {
	if err := d.registry.setTrust(ctx, id, trusted); err != nil {
		return Project{}, err
	}
	p, err := d.registry.Project(ctx, id)
	if err != nil {
		return Project{}, err
	}
	d.emit(Event{Project: &p})
	return p, nil
}

// TrustedFor says whether dir belongs to a trusted project, and which: dir may be the project's
// folder, a tracked folder below it, one of its workspaces or another linked worktree of it. It
// registers nothing; without a project it returns false and a Project without ID whose Path is where
// one would be.
func (d *Desks) TrustedFor(ctx context.Context, dir string) (bool, Project, error) {
	dir, err := canonical(dir)
	if err != nil {
		return false, Project{}, err
	}
	at, err := d.locate(ctx, dir)
	if err != nil {
		return false, Project{}, err
	}
	p, err := d.projectAt(ctx, at.path)
	if errors.Is(err, ErrNotFound) {
		return false, Project{Name: displayName(at.path), Path: at.path, CommonDir: at.common, Git: at.common != ""}, nil
	}
	if err != nil {
		return false, Project{}, err
	}
	return p.Trusted && !d.automationOff(), p, nil
}

// hookNames are the scripts of a project that Carrel runs.
var hookNames = [...]string{"init", "archive", "delete"}

// Automation lists what would run from dir, a project's folder, once it is trusted: paths relative
// to dir, in the order in which they would be looked for.
func (d *Desks) Automation(dir string) []string {
	var list []string
	for _, name := range hookNames {
		path, _, ok := compat.Find(dir, name)
		if name != "init" {
			path, ok = compat.FindExecutable(dir, name)
		}
		if !ok {
			continue
		}
		if rel, err := filepath.Rel(dir, path); err == nil {
			list = append(list, rel)
		}
	}
	return list
}

// mayRun says whether hooks of p may run, by the registry as it is now.
func (d *Desks) mayRun(ctx context.Context, project string) (bool, error) {
	p, err := d.registry.Project(ctx, project)
	if err != nil {
		return false, fmt.Errorf("ask for trust: %w", err)
	}
	return p.Trusted && !d.automationOff(), nil
}
