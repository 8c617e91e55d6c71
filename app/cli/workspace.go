package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/app/wire"
)

func workspaceCommand(io IO) *cobra.Command {
	return group(&cobra.Command{Use: "workspace", Aliases: []string{"workspaces", "ws"}, Short: "Make, list, show and remove workspaces"},
		workspaceNew(io), workspaceList(io), workspaceShow(io), workspaceRename(io), workspaceBase(io), workspaceFork(io), workspaceRemove(io), workspaceRepair(io),
		workspaceCall(io, "archive WORKSPACE", "Hide a workspace and stop what works in it", "workspaces.archive", "Archived"),
		workspaceCall(io, "unarchive WORKSPACE", "Bring an archived workspace back", "workspaces.unarchive", "Brought back"))
}

// onWorkspace makes a command that works on one workspace.
func onWorkspace(io IO, use, short string, f func(ctx context.Context, cmd *cobra.Command, s wire.Caller, w app.Workspace) error) *cobra.Command {
	var project string
	c := &cobra.Command{Use: use, Short: short, Args: takes(1, 1, "one workspace: its id or name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				w, err := findWorkspace(ctx, s, args[0], project)
				if err != nil {
					return err
				}
				return f(ctx, cmd, s, w)
			})
		}}
	projectFlag(c, &project)
	return c
}

func projectFlag(c *cobra.Command, to *string) {
	c.Flags().StringVarP(to, "project", "p", "", "`project`, where two have a workspace of that name")
}

func workspaceCall(io IO, use, short, call, done string) *cobra.Command {
	return onWorkspace(io, use, short, func(ctx context.Context, cmd *cobra.Command, s wire.Caller, w app.Workspace) error {
		var now app.Workspace
		if err := s.Call(ctx, call, app.ByID{ID: w.ID}, &now); err != nil {
			return err
		}
		if isJSON(cmd) {
			return printJSON(io.Out, now)
		}
		_, err := fmt.Fprintf(io.Out, "%s %s (%s)\n", done, line(now.Name), now.ID)
		return err
	})
}

func workspaceShow(io IO) *cobra.Command {
	return onWorkspace(io, "show WORKSPACE", "Show one workspace",
		func(_ context.Context, cmd *cobra.Command, _ wire.Caller, w app.Workspace) error {
			return showWorkspace(io, isJSON(cmd), w)
		})
}

func workspaceRepair(io IO) *cobra.Command {
	return onWorkspace(io, "repair WORKSPACE", "Restore a missing or broken folder",
		func(ctx context.Context, cmd *cobra.Command, s wire.Caller, w app.Workspace) error {
			if err := s.Call(ctx, "workspaces.repair", app.ByID{ID: w.ID}, nil); err != nil {
				return err
			}
			w, err := workspaceNow(ctx, s, w)
			if err != nil {
				return err
			}
			return showWorkspace(io, isJSON(cmd), w)
		})
}

func showWorkspace(io IO, asJSON bool, w app.Workspace) error {
	if asJSON {
		return printJSON(io.Out, w)
	}
	rows := [][]string{}
	for _, r := range [][]string{{"name", w.Name}, {"title", w.Title}, {"id", w.ID}, {"runtime", w.Runtime}, {"folder", w.Dir},
		{"branch", branchOf(w)}, {"base", w.Base}, {"model", w.Model}, {"thinking", w.Level}, {"state", stateOf(w)}, {"trouble", w.HealthNote}} {
		if r[1] != "" {
			rows = append(rows, r)
		}
	}
	if w.Init != app.InitNone {
		rows = append(rows, []string{"init hook", initOf(w)})
		if w.Init != app.InitSkipped {
			rows = append(rows, []string{"held by", app.HookHold().Text})
		}
	}
	return table(io, nil, rows)
}

// branchOf is the branch that is checked out, in words where there is none.
func branchOf(w app.Workspace) string {
	switch {
	case w.Git != nil && w.Git.Detached:
		return fmt.Sprintf("none, at %.8s", w.Git.Head)
	case w.Git != nil && w.Git.Branch != "":
		return w.Git.Branch
	case w.Branch == "" && w.Runtime == "worktree":
		return "none"
	}
	return w.Branch
}

// initOf is the state of the init hook, with its exit code where that is not 0.
func initOf(w app.Workspace) string {
	if w.InitCode != nil && *w.InitCode != 0 {
		return fmt.Sprintf("%s with exit code %d", w.Init, *w.InitCode)
	}
	return string(w.Init)
}

func stateOf(w app.Workspace) string {
	switch {
	case w.ArchivedAt != nil:
		return "archived"
	case w.Health != app.Ready:
		return string(w.Health)
	}
	return string(w.Activity)
}

func workspaceNew(io IO) *cobra.Command {
	var in app.NewWorkspace
	var project string
	c := &cobra.Command{Use: "new [NAME]", Short: "Make a workspace", Args: takes(0, 1, "at most one name; a title with spaces goes into --title"),
		Example: `  carrel workspace new                       a new branch with a name of its own
  carrel workspace new dry-run --base v1.2
  carrel workspace new --branch existing-branch
  carrel workspace new --detach --base main  what main is now, on no branch`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkNew(&in); err != nil {
				return err
			}
			if len(args) == 1 {
				in.Name = args[0]
			}
			return withHost(cmd.Context(), io, func(ctx context.Context, h host) error {
				p, err := findProject(ctx, h, project)
				if err != nil {
					return err
				}
				in.ProjectID = p.ID
				w, err := createWorkspace(ctx, h, in, hookOutput(io.Err))
				if err != nil {
					return err
				}
				return showWorkspace(io, isJSON(cmd), w)
			})
		}}
	f := c.Flags()
	f.StringVarP(&project, "project", "p", "", "`project`: id, path or name (default: the one that holds the current folder)")
	f.StringVar(&in.Title, "title", "", "`title`, anything (default: the name)")
	f.StringVarP(&in.Runtime, "runtime", "r", "", "`kind`: local or worktree (default: worktree in a git project)")
	f.StringVarP(&in.Branch, "branch", "b", "", "`branch` to work on; made when it does not exist (default: a new one named like the workspace)")
	f.StringVar(&in.Base, "base", "", "`ref` where a new branch or a detached checkout starts (default: what the project has checked out)")
	f.BoolVar(&in.Detached, "detach", false, "on no branch: check out what --base (or --branch) is now, also where another workspace has that branch")
	f.StringVarP(&in.Model, "model", "m", "", "`model`, as provider:name or a short name")
	return c
}

// checkNew refuses flags that don't go together. A branch that is to be checked out detached is what the
// workspace starts from.
func checkNew(in *app.NewWorkspace) error {
	switch {
	case in.Runtime != "" && in.Runtime != "local" && in.Runtime != "worktree":
		return usage("the runtime must be local or worktree, not %q", in.Runtime)
	case !in.Detached:
		return nil
	case in.Runtime == "local":
		return usage("--detach needs a worktree: leave out --runtime local")
	case in.Branch != "" && in.Base != "":
		return usage("with --detach, --branch and --base both say what to check out: leave one out")
	case in.Branch != "":
		in.Base, in.Branch = in.Branch, ""
	}
	return nil
}

// hookOutput shows what an init hook prints.
func hookOutput(w io.Writer) func(text string) {
	return func(text string) { _, _ = io.WriteString(w, plain(text)) }
}

func workspaceRename(io IO) *cobra.Command {
	var project, title string
	c := &cobra.Command{Use: "rename WORKSPACE [NAME]", Short: "Change a workspace's name or title",
		Args: takes(1, 2, "a workspace and its new name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := app.RenameWorkspace{Title: title}
			if len(args) == 2 {
				in.Name = args[1]
			}
			if in.Name == "" && in.Title == "" {
				return usage("give a new name, or --title")
			}
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				w, err := findWorkspace(ctx, s, args[0], project)
				if err != nil {
					return err
				}
				in.ID = w.ID
				if err := s.Call(ctx, "workspaces.rename", in, &w); err != nil {
					return err
				}
				return showWorkspace(io, isJSON(cmd), w)
			})
		}}
	projectFlag(c, &project)
	c.Flags().StringVar(&title, "title", "", "new `title`")
	return c
}
