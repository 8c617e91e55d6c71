package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/app/wire"
)

func projectCommand(io IO) *cobra.Command {
	return group(&cobra.Command{Use: "project", Aliases: []string{"projects"}, Short: "Add, list and remove projects"},
		projectAdd(io), projectList(io), projectRemove(io), projectRelocate(io), projectFirstCommit(io))
}

func projectAdd(io IO) *cobra.Command {
	var name string
	c := &cobra.Command{Use: "add PATH", Short: "Add a folder as a project", Args: takes(1, 1, "one path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "" { // mostly a variable that is not set, and not the current folder
				return usage("the path is empty")
			}
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				var p app.Project
				if err := s.Call(ctx, "projects.add", app.AddProject{Path: canonical(args[0]), Name: name}, &p); err != nil {
					return err
				}
				return showProject(io, isJSON(cmd), "Added", p)
			})
		}}
	c.Flags().StringVar(&name, "name", "", "display `name` (default: the folder's name)")
	return c
}

func showProject(io IO, asJSON bool, done string, p app.Project) error {
	if asJSON {
		return printJSON(io.Out, p)
	}
	_, err := fmt.Fprintf(io.Out, "%s %s (%s) at %s\n", done, line(p.Name), p.ID, line(p.Path))
	return err
}

func projectList(io IO) *cobra.Command {
	return &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List projects", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				all := []app.Project{}
				if err := s.Call(ctx, "projects.list", nil, &all); err != nil {
					return err
				}
				if isJSON(cmd) {
					return printJSON(io.Out, all)
				}
				if len(all) == 0 {
					_, _ = fmt.Fprintln(io.Err, "carrel: there are no projects yet; add one with: carrel project add PATH")
					return nil
				}
				rows := make([][]string, 0, len(all))
				for _, p := range all {
					rows = append(rows, []string{p.ID, p.Name, projectState(p), p.Path})
				}
				return table(io, []string{"ID", "NAME", "STATE", "PATH"}, rows)
			})
		}}
}

func projectState(p app.Project) string {
	switch {
	case p.Missing:
		return "missing"
	case p.Trusted:
		return "trusted"
	}
	return "not trusted"
}

func projectRemove(io IO) *cobra.Command {
	return &cobra.Command{Use: "rm PROJECT", Aliases: []string{"remove"}, Short: "Forget a project; its folder stays",
		Args: takes(1, 1, "one project: its id, path or name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				p, err := findProject(ctx, s, args[0])
				if err != nil {
					return err
				}
				if err := s.Call(ctx, "projects.remove", app.ByID{ID: p.ID}, nil); err != nil {
					return err
				}
				return showProject(io, isJSON(cmd), "Removed", p)
			})
		}}
}

func projectRelocate(io IO) *cobra.Command {
	return &cobra.Command{Use: "relocate PROJECT PATH", Short: "Say where a project's folder has moved to",
		Args: takes(2, 2, "a project and the path of its folder now"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				p, err := findProject(ctx, s, args[0])
				if err != nil {
					return err
				}
				var moved app.Project
				if err := s.Call(ctx, "projects.relocate", app.RelocateProject{ID: p.ID, Path: canonical(args[1])}, &moved); err != nil {
					return err
				}
				return showProject(io, isJSON(cmd), "Relocated", moved)
			})
		}}
}

func projectFirstCommit(io IO) *cobra.Command {
	return &cobra.Command{Use: "first-commit [PROJECT]", Short: "Make an empty first commit in a repository that has none",
		Long: "A worktree needs a commit to start from. The first commit is empty and bears your name, as git knows it: files and what is staged stay as they are, and no hook runs. Where there is a commit already nothing happens.",
		Args: takes(0, 1, "at most one project: its id, path or name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				which := ""
				if len(args) == 1 {
					which = args[0]
				}
				p, err := findProject(ctx, s, which)
				if err != nil {
					return err
				}
				if err := s.Call(ctx, "projects.firstCommit", app.ByID{ID: p.ID}, &p); err != nil {
					return err
				}
				if isJSON(cmd) {
					return printJSON(io.Out, p)
				}
				_, err = fmt.Fprintf(io.Out, "%s has its first commit; make a workspace with: carrel workspace new --project %s\n", line(p.Name), p.ID)
				return err
			})
		}}
}
