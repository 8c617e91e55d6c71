package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/app/wire"
)

func workspaceCommand(io IO) *cobra.Command {
	c := &cobra.Command{Use: "workspace", Aliases: []string{"workspaces", "ws"}, Short: "Make, list, show and remove workspaces",
		Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(workspaceNew(io), workspaceList(io), workspaceRename(io), workspaceRemove(io))
	for _, one := range []struct{ use, short, call, done string }{
		{"archive WORKSPACE", "Hide a workspace and stop what works in it", "workspaces.archive", "Archived"},
		{"unarchive WORKSPACE", "Bring an archived workspace back", "workspaces.unarchive", "Brought back"},
		{"show WORKSPACE", "Show one workspace", "", ""},
		{"repair WORKSPACE", "Restore a missing or broken folder", "workspaces.repair", ""},
	} {
		c.AddCommand(onWorkspace(io, one.use, one.short, func(ctx context.Context, s wire.Caller, w app.Workspace, asJSON bool) error {
			if one.call != "" {
				var out app.Workspace
				if err := s.Call(ctx, one.call, app.ByID{ID: w.ID}, &out); err != nil {
					return err
				}
			}
			now, err := findWorkspace(ctx, s, w.ID, "")
			if err != nil {
				return err
			}
			if asJSON || one.done == "" {
				return showWorkspace(io, asJSON, now)
			}
			_, err = fmt.Fprintf(io.Out, "%s %s\n", one.done, now.Name)
			return err
		}))
	}
	return c
}

// onWorkspace makes a command that works on one workspace.
func onWorkspace(io IO, use, short string, f func(ctx context.Context, s wire.Caller, w app.Workspace, asJSON bool) error) *cobra.Command {
	var asJSON bool
	var project string
	c := &cobra.Command{Use: use, Short: short, Args: exactArgs(1, "one workspace: its id or name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				w, err := findWorkspace(ctx, s, args[0], project)
				if err != nil {
					return err
				}
				return f(ctx, s, w, asJSON)
			})
		}}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVarP(&project, "project", "p", "", "project, where two have a workspace of that name")
	return c
}

func workspaceNew(io IO) *cobra.Command {
	var in app.NewWorkspace
	var project string
	var asJSON bool
	c := &cobra.Command{Use: "new [NAME]", Short: "Make a workspace", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				in.Name = args[0]
			}
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				p, err := findProject(ctx, s, project)
				if err != nil {
					return err
				}
				in.ProjectID = p.ID
				var w app.Workspace
				if err := s.Call(ctx, "workspaces.create", in, &w); err != nil {
					return err
				}
				return showWorkspace(io, asJSON, w)
			})
		}}
	f := c.Flags()
	f.StringVarP(&project, "project", "p", "", "project: id, path or name (default: the one that holds the current folder)")
	f.StringVar(&in.Title, "title", "", "title")
	f.StringVarP(&in.Runtime, "runtime", "r", "", "local or worktree (default: worktree in a git project)")
	f.StringVarP(&in.Branch, "branch", "b", "", "branch to work on; made when it does not exist (default: a new one named like the workspace)")
	f.StringVar(&in.Base, "base", "", "where a new branch starts (default: what the project has checked out)")
	f.StringVarP(&in.Model, "model", "m", "", "model, as provider:name")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func showWorkspace(io IO, asJSON bool, w app.Workspace) error {
	if asJSON {
		return printJSON(io.Out, w)
	}
	rows := [][]string{{"name", w.Name}, {"title", w.Title}, {"id", w.ID}, {"runtime", w.Runtime}, {"folder", w.Dir},
		{"branch", branchOf(w)}, {"base", w.Base}, {"model", w.Model}, {"state", stateOf(w)}, {"init hook", string(w.Init)}}
	if w.HealthNote != "" {
		rows = append(rows, []string{"trouble", w.HealthNote})
	}
	return table(io, "", rows)
}

func branchOf(w app.Workspace) string {
	if w.Git != nil && w.Git.Branch != "" {
		return w.Git.Branch
	}
	return w.Branch
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

func workspaceList(io IO) *cobra.Command {
	var asJSON, all bool
	var project string
	c := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List workspaces", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				found := []app.Workspace{}
				if err := s.Call(ctx, "workspaces.list", app.ListWorkspaces{Archived: all}, &found); err != nil {
					return err
				}
				if project != "" {
					p, err := findProject(ctx, s, project)
					if err != nil {
						return err
					}
					kept := found[:0]
					for _, w := range found {
						if w.ProjectID == p.ID {
							kept = append(kept, w)
						}
					}
					found = kept
				}
				if asJSON {
					return printJSON(io.Out, found)
				}
				rows := make([][]string, 0, len(found))
				for _, w := range found {
					rows = append(rows, []string{w.ID, w.Name, stateOf(w), w.Runtime, branchOf(w), w.Dir})
				}
				return table(io, "ID\tNAME\tSTATE\tRUNTIME\tBRANCH\tFOLDER", rows)
			})
		}}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&all, "all", false, "archived ones too")
	c.Flags().StringVarP(&project, "project", "p", "", "only this project's")
	return c
}

func workspaceRename(io IO) *cobra.Command {
	var asJSON bool
	var project, title string
	c := &cobra.Command{Use: "rename WORKSPACE [NAME]", Short: "Change a workspace's name or title", Args: cobra.RangeArgs(1, 2),
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
				return showWorkspace(io, asJSON, w)
			})
		}}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVarP(&project, "project", "p", "", "project, where two have a workspace of that name")
	c.Flags().StringVar(&title, "title", "", "new title")
	return c
}

func workspaceRemove(io IO) *cobra.Command {
	var confirm string
	var keepBranch bool
	c := onWorkspace(io, "rm WORKSPACE", "Delete a workspace and its worktree",
		func(ctx context.Context, s wire.Caller, w app.Workspace, asJSON bool) error {
			var risk app.AtRisk
			if err := s.Call(ctx, "workspaces.atRisk", app.ByID{ID: w.ID}, &risk); err != nil {
				return err
			}
			if !risk.Clean && confirm != risk.Confirm {
				return &app.Error{Code: "confirm", Message: fmt.Sprintf("Deleting %s would lose %s. To delete it all the same: carrel workspace rm %s --confirm %s",
					w.Name, riskText(risk), w.ID, risk.Confirm)}
			}
			if err := s.Call(ctx, "workspaces.delete", app.DeleteWorkspace{ID: w.ID, Confirm: confirm, KeepBranch: keepBranch}, nil); err != nil {
				return err
			}
			if asJSON {
				return printJSON(io.Out, map[string]any{"deleted": w.ID})
			}
			_, err := fmt.Fprintln(io.Out, "Deleted", w.Name)
			return err
		})
	c.Aliases = []string{"remove", "delete"}
	c.Flags().StringVar(&confirm, "confirm", "", "the workspace's name, to delete work that exists nowhere else")
	c.Flags().BoolVar(&keepBranch, "keep-branch", false, "keep the branch that Carrel made")
	return c
}

// riskText says what a deletion would lose, in numbers and the first names.
func riskText(r app.AtRisk) string {
	if r.Unknown != "" {
		return "what can't be inspected (" + plain(r.Unknown) + ")"
	}
	var parts []string
	for _, one := range []struct {
		n    int
		what string
		some []string
	}{{r.Counts.Changed, "changed file", r.Changed}, {r.Counts.Untracked, "untracked file", r.Untracked}, {r.Counts.Commits, "commit", r.Commits}} {
		if one.n == 0 {
			continue
		}
		text := strconv.Itoa(one.n) + " " + one.what
		if one.n > 1 {
			text += "s"
		}
		parts = append(parts, text+" ("+plain(strings.Join(one.some[:min(3, len(one.some))], ", "))+")")
	}
	return strings.Join(parts, ", ")
}
