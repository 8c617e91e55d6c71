package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/app/wire"
)

// trusted is the one document of trust --json.
type trusted struct {
	Path    string `json:"path"`
	Project string `json:"project"`
	Trusted bool   `json:"trusted"`
}

func trustCommand(io IO) *cobra.Command {
	var dir string
	var revoke bool
	c := &cobra.Command{Use: "trust", Short: "Let a project's hooks and settings run", Args: noArgs,
		Long: "Trust lets what a repository brings, such as hooks, run by itself. Look at the repository first. A linked worktree has the trust of its main checkout.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := folder("--dir", dir)
			if err != nil {
				return err
			}
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				var p app.Project
				if err := s.Call(ctx, "projects.add", app.AddProject{Path: dir}, &p); err != nil {
					return err
				}
				if err := s.Call(ctx, "projects.setTrust", app.SetTrust{ID: p.ID, Trusted: !revoke}, &p); err != nil {
					return err
				}
				if isJSON(cmd) {
					return printJSON(io.Out, trusted{p.Path, p.ID, p.Trusted})
				}
				word := "trusted"
				if !p.Trusted {
					word = "not trusted"
				}
				_, err := fmt.Fprintf(io.Out, "%s is %s\n", line(p.Path), word)
				return err
			})
		}}
	c.Flags().StringVarP(&dir, "dir", "d", "", "`folder` of the project (default: the current one)")
	c.Flags().BoolVar(&revoke, "revoke", false, "take the trust back")
	return c
}
