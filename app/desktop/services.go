package desktop

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"carrel/app"
	"carrel/app/wire"
)

// callWait bounds one bound call; the core answers these in milliseconds.
const callWait = 10 * time.Second

// guard stands before everything that is bound: it checks the page's secret, bounds the time and
// turns a panic into an error.
type guard struct {
	secret *secret
	caller wire.Caller
	// signals makes a nil dereference a panic again; see fixSignals.
	signals func()
	log     *slog.Logger
}

var (
	errSecret   = &app.Error{Code: "unauthorized", Message: "Only the window's own page may call this."}
	errPanicked = &app.Error{Code: "internal", Message: "Something went wrong inside the window; its log (logs/window.log) has the details."}
)

// guarded runs f for the page that holds the secret.
func guarded[T any](g *guard, given string, f func(ctx context.Context) (T, error)) (result T, err error) {
	defer func() {
		if p := recover(); p != nil {
			g.log.Error("a bound call panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errPanicked
		}
	}()
	g.signals()
	if !g.secret.is(given) {
		return result, errSecret
	}
	ctx, cancel := context.WithTimeout(context.Background(), callWait)
	defer cancel()
	return f(ctx)
}

// Done is the result of a call that has nothing to say.
type Done struct{}

// call asks the core.
func call[T any](ctx context.Context, g *guard, name string, in any) (T, error) {
	var out T
	err := g.caller.Call(ctx, name, in, &out)
	return out, err
}

// ProjectRow is a project as the window's own page shows it.
type ProjectRow struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Path string `json:"path"`
}

// WorkspaceRow is a workspace as the window's own page shows it.
type WorkspaceRow struct {
	ID       string `json:"id"`
	Project  string `json:"project"` // id
	Name     string `json:"name"`
	Title    string `json:"title"`
	Branch   string `json:"branch"`
	Dir      string `json:"dir"`
	Health   string `json:"health"`
	Activity string `json:"activity"`
}

// rows lists the workspaces that want picks.
func rows(ctx context.Context, g *guard, want func(app.Workspace) bool) ([]WorkspaceRow, error) {
	all, err := call[[]app.Workspace](ctx, g, "workspaces.list", app.ListWorkspaces{})
	if err != nil {
		return nil, err
	}
	out := []WorkspaceRow{}
	for _, w := range all {
		if !want(w) {
			continue
		}
		branch := w.Branch
		if w.Git != nil && w.Git.Branch != "" {
			branch = w.Git.Branch
		}
		out = append(out, WorkspaceRow{ID: w.ID, Project: w.ProjectID, Name: w.Name, Title: w.Title, Branch: branch,
			Dir: w.Dir, Health: string(w.Health), Activity: string(w.Activity)})
	}
	return out, nil
}

// works reports whether a turn runs.
func works(w app.Workspace) bool {
	switch w.Activity {
	case app.Preparing, app.Streaming, app.RunningTools, app.Interrupting, app.Retrying, app.Recovering, app.Waiting:
		return true
	case app.Idle, app.Interrupted, app.Failed, app.Done:
	}
	return false
}

// Projects is bound for the window's own page.
type Projects struct{ guard *guard }

// List returns the projects.
func (s *Projects) List(secret string) ([]ProjectRow, error) {
	return guarded(s.guard, secret, func(ctx context.Context) ([]ProjectRow, error) {
		all, err := call[[]app.Project](ctx, s.guard, "projects.list", nil)
		out := []ProjectRow{}
		for _, p := range all {
			out = append(out, ProjectRow{ID: p.ID, Name: p.Name, Path: p.Path})
		}
		return out, err
	})
}

// Workspaces is bound for the window's own page.
type Workspaces struct{ guard *guard }

// List returns the workspaces that are not archived.
func (s *Workspaces) List(secret string) ([]WorkspaceRow, error) {
	return guarded(s.guard, secret, func(ctx context.Context) ([]WorkspaceRow, error) {
		return rows(ctx, s.guard, func(app.Workspace) bool { return true })
	})
}

// Worktrees is bound for the window's own page.
type Worktrees struct{ guard *guard }

// List returns the workspaces that have a worktree of their own, with its folder and health.
func (s *Worktrees) List(secret string) ([]WorkspaceRow, error) {
	return guarded(s.guard, secret, func(ctx context.Context) ([]WorkspaceRow, error) {
		return rows(ctx, s.guard, func(w app.Workspace) bool { return w.Runtime == "worktree" })
	})
}

// Repair restores a worktree that is missing or broken.
func (s *Worktrees) Repair(secret, workspace string) (Done, error) {
	return guarded(s.guard, secret, func(ctx context.Context) (Done, error) {
		return Done{}, s.guard.caller.Call(ctx, "workspaces.repair", app.ByID{ID: workspace}, nil)
	})
}

// Conversations is bound for the window's own page.
type Conversations struct{ guard *guard }

// Running returns the workspaces in which a turn runs.
func (s *Conversations) Running(secret string) ([]WorkspaceRow, error) {
	return guarded(s.guard, secret, func(ctx context.Context) ([]WorkspaceRow, error) {
		return rows(ctx, s.guard, works)
	})
}

// Interrupt stops the turn of a workspace and what it runs.
func (s *Conversations) Interrupt(secret, workspace string) (Done, error) {
	return guarded(s.guard, secret, func(ctx context.Context) (Done, error) {
		return Done{}, interrupt(ctx, s.guard.caller, workspace)
	})
}

// InterruptAll stops every turn.
func (s *Conversations) InterruptAll(secret string) (Done, error) {
	return guarded(s.guard, secret, func(ctx context.Context) (Done, error) {
		return Done{}, interruptAll(ctx, s.guard.caller)
	})
}

func interrupt(ctx context.Context, c wire.Caller, workspace string) error {
	return c.Call(ctx, "conversations.interrupt", app.ByID{ID: workspace}, nil)
}

func interruptAll(ctx context.Context, c wire.Caller) error {
	var all []app.Workspace
	if err := c.Call(ctx, "workspaces.list", app.ListWorkspaces{Archived: true}, &all); err != nil {
		return err
	}
	for _, w := range all {
		if !works(w) {
			continue
		}
		if err := interrupt(ctx, c, w.ID); err != nil {
			return err
		}
	}
	return nil
}

// Feature says whether this version has something, and what of it runs.
type Feature struct {
	Available bool   `json:"available"`
	Message   string `json:"message"`
}

// Terminals is bound for the window's own page.
type Terminals struct{ guard *guard }

// State says what terminals there are.
func (s *Terminals) State(secret string) (Feature, error) {
	return guarded(s.guard, secret, func(ctx context.Context) (Feature, error) {
		all, err := call[[]app.Terminal](ctx, s.guard, "terminals.list", app.ByID{})
		if err != nil {
			return Feature{}, err
		}
		busy := 0
		for _, t := range all {
			if t.Busy {
				busy++
			}
		}
		return Feature{Available: true, Message: fmt.Sprintf("%d terminals are open, and a command runs in %d of them.", len(all), busy)}, nil
	})
}

// Sandbox is bound for the window's own page.
type Sandbox struct{ guard *guard }

// State says how commands are confined.
func (s *Sandbox) State(secret string) (Feature, error) {
	return guarded(s.guard, secret, func(ctx context.Context) (Feature, error) {
		about, err := call[app.About](ctx, s.guard, "system.about", nil)
		if err != nil {
			return Feature{}, err
		}
		if about.Sandbox == "none" {
			return Feature{Message: "Nothing confines commands: they run with your own rights."}, nil
		}
		return Feature{Available: true, Message: "What agents run is confined: the sandbox is " + about.Sandbox + "."}, nil
	})
}

// ComputerUse is bound for the window's own page.
type ComputerUse struct{ guard *guard }

// State says whether an agent uses the screen.
func (s *ComputerUse) State(secret string) (Feature, error) {
	return missing(s.guard, secret, "This version has no computer use: no agent sees the screen or types.")
}

func missing(g *guard, secret, message string) (Feature, error) {
	return guarded(g, secret, func(context.Context) (Feature, error) { return Feature{Message: message}, nil })
}
