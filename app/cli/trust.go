package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/app/wire"
)

func trustCommand(io IO) *cobra.Command {
	var dir string
	var revoke, asJSON bool
	c := &cobra.Command{Use: "trust", Short: "Let a project's hooks and settings run", Args: noArgs,
		Long: "Trust lets what a repository brings, such as hooks, run by itself. Look at the repository first. A linked worktree has the trust of its main checkout.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				if dir == "" {
					dir = "."
				}
				var p app.Project
				if err := s.Call(ctx, "projects.add", app.AddProject{Path: canonical(dir)}, &p); err != nil {
					return err
				}
				if err := s.Call(ctx, "projects.setTrust", app.SetTrust{ID: p.ID, Trusted: !revoke}, &p); err != nil {
					return err
				}
				if asJSON {
					return printJSON(io.Out, map[string]any{"path": p.Path, "trusted": p.Trusted, "project": p.ID})
				}
				word := "trusted"
				if !p.Trusted {
					word = "not trusted"
				}
				_, err := fmt.Fprintf(io.Out, "%s is %s\n", plain(p.Path), word)
				return err
			})
		}}
	c.Flags().StringVarP(&dir, "dir", "d", "", "folder of the project (default: the current folder)")
	c.Flags().BoolVar(&revoke, "revoke", false, "take the trust back")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
