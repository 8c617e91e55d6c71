package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"carrel/app"
	"carrel/app/wire"
)

// findProject finds a project by id, path or name; "" means the one that holds the current folder.
func findProject(ctx context.Context, c wire.Caller, which string) (app.Project, error) {
	var all []app.Project
	if err := c.Call(ctx, "projects.list", nil, &all); err != nil {
		return app.Project{}, err
	}
	if which == "" {
		return projectHere(ctx, c, all)
	}
	path := canonical(which)
	var named []app.Project
	for _, p := range all {
		if p.ID == which || p.Path == path {
			return p, nil
		}
		if p.Name == which {
			named = append(named, p)
		}
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		return app.Project{}, &app.Error{Code: "not_found", Message: fmt.Sprintf("There is no project %q. See: carrel project list", which)}
	}
	return app.Project{}, &app.Error{Code: "ambiguous", Message: fmt.Sprintf("%d projects are named %q. Give the path or the id; see: carrel project list", len(named), which)}
}

// projectHere is the project whose folder, or whose workspace's, holds the current one.
func projectHere(ctx context.Context, c wire.Caller, all []app.Project) (app.Project, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return app.Project{}, err
	}
	var best app.Project
	cwd = canonical(cwd)
	for _, p := range all {
		if (cwd == p.Path || strings.HasPrefix(cwd, p.Path+string(filepath.Separator))) && len(p.Path) > len(best.Path) {
			best = p
		}
	}
	if best.ID == "" {
		var desks []app.Workspace
		if err := c.Call(ctx, "workspaces.list", app.ListWorkspaces{Archived: true}, &desks); err != nil {
			return best, err
		}
		for _, w := range desks {
			if at := slices.IndexFunc(all, func(p app.Project) bool { return p.ID == w.ProjectID }); at >= 0 && below(w.Dir, cwd) {
				return all[at], nil
			}
		}
		return best, &app.Error{Code: "not_found", Message: "This folder belongs to no project. Add it with: carrel project add . (or name one with --project)"}
	}
	return best, nil
}

// canonical is a path without links, as projects keep theirs; a path that does not exist stays.
func canonical(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	return abs
}

// folder is a path of an existing folder that a flag or an argument names.
func folder(what, path string) (string, error) {
	if path == "" {
		path = "."
	}
	path = canonical(path)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", usage("%s: there is no folder %s", what, path)
	case !info.IsDir():
		return "", usage("%s: %s is not a folder", what, path)
	}
	return path, nil
}

// findWorkspace finds a workspace by id or name; with a project, only there.
func findWorkspace(ctx context.Context, c wire.Caller, which, project string) (app.Workspace, error) {
	var all []app.Workspace
	if err := c.Call(ctx, "workspaces.list", app.ListWorkspaces{Archived: true}, &all); err != nil {
		return app.Workspace{}, err
	}
	if project != "" {
		p, err := findProject(ctx, c, project)
		if err != nil {
			return app.Workspace{}, err
		}
		project = p.ID
	}
	var named []app.Workspace
	for _, w := range all {
		if w.ID == which {
			return w, nil
		}
		if w.Name == which && (project == "" || w.ProjectID == project) {
			named = append(named, w)
		}
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		return app.Workspace{}, &app.Error{Code: "not_found", Message: fmt.Sprintf("There is no workspace %q. See: carrel workspace list --all", which)}
	}
	return app.Workspace{}, &app.Error{Code: "ambiguous", Message: fmt.Sprintf("%d workspaces are named %q. Give the id, or --project; see: carrel workspace list --all", len(named), which)}
}
