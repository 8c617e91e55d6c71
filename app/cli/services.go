package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/wire"
	"carrel/store"
)

// services runs f with the services of the running core or, when there is none, with ones of our
// own for the moment, holding the root's lock so that no core starts meanwhile.
func services(ctx context.Context, io IO, f func(ctx context.Context, c wire.Caller) error) error {
	root, err := store.Open("")
	if err != nil {
		return err
	}
	for {
		if _, err := attach.Find(ctx, root); err == nil {
			client, err := dial(ctx, root)
			if err != nil {
				return err
			}
			defer func() { _ = client.Close() }()
			return f(ctx, client)
		}
		lock, err := root.Lock()
		var held *store.LockedError
		if errors.As(err, &held) {
			select { // a core is starting, or another command has the lock for a moment
			case <-ctx.Done():
				return fmt.Errorf("wait for process %d to let go of %s: %w", held.PID, root.Dir(), ctx.Err())
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		if err != nil {
			return err
		}
		defer func() { _ = lock.Close() }()
		return withApp(ctx, io, root, func(a *app.App) error { return f(ctx, wire.Local(a.API(), nil)) })
	}
}

// withApp runs f with an application of this process.
func withApp(ctx context.Context, io IO, root *store.Root, f func(*app.App) error) error {
	a, err := app.New(app.Options{Root: root, Environ: io.Environ, ReaperArgv: reaper(io), Headless: true})
	if err != nil {
		return err
	}
	err = f(a)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(err, a.Close(closing))
}

// findProject finds a project by id, path or name; "" means the one that holds the current folder.
func findProject(ctx context.Context, c wire.Caller, which string) (app.Project, error) {
	var all []app.Project
	if err := c.Call(ctx, "projects.list", nil, &all); err != nil {
		return app.Project{}, err
	}
	if which == "" {
		return projectHere(all)
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

func projectHere(all []app.Project) (app.Project, error) {
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
	return app.Workspace{}, &app.Error{Code: "ambiguous", Message: fmt.Sprintf("%d workspaces are named %q. Add --project, or give the id; see: carrel workspace list --all", len(named), which)}
}

// table prints rows in columns.
func table(io IO, head string, rows [][]string) error {
	w := tabwriter.NewWriter(io.Out, 0, 4, 2, ' ', 0)
	if _, err := fmt.Fprintln(w, head); err != nil {
		return err
	}
	for _, r := range rows {
		for i := range r {
			r[i] = strings.ReplaceAll(plain(r[i]), "\n", " ")
		}
		if _, err := fmt.Fprintln(w, strings.Join(r, "\t")); err != nil {
			return err
		}
	}
	return w.Flush()
}
