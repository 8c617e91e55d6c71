package cli

import (
	"context"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/app/wire"
)

func workspaceBase(io IO) *cobra.Command {
	var project string
	c := &cobra.Command{Use: "base WORKSPACE REF", Short: "Change what a workspace's changes are counted against",
		Long: "The base is a branch, a remote's branch, a tag or a commit. Nothing in the workspace's folder changes.",
		Args: takes(2, 2, "a workspace and a branch, tag or commit"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				w, err := findWorkspace(ctx, s, args[0], project)
				if err != nil {
					return err
				}
				if err := s.Call(ctx, "workspaces.setBase", app.SetBase{ID: w.ID, Base: args[1]}, &w); err != nil {
					return err
				}
				return showWorkspace(io, isJSON(cmd), w)
			})
		}}
	projectFlag(c, &project)
	return c
}
