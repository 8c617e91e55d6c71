package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carrel/app"
)

func workspaceFork(io IO) *cobra.Command {
	var project, message string
	c := &cobra.Command{Use: "fork WORKSPACE NAME", Short: "Go on from a workspace's conversation in a new workspace",
		Long: `Fork makes a workspace with a copy of the conversation, its model and what waits in its queue, on a
branch that starts at the commit checked out now. Uncommitted changes stay behind.`,
		Args: takes(2, 2, "a workspace and a name for the new one"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withHost(cmd.Context(), io, func(ctx context.Context, h host) error {
				w, err := findWorkspace(ctx, h, args[0], project)
				if err != nil {
					return err
				}
				if message != "" && h.own() {
					return usage("no Carrel runs that could answer: leave out --message, and send it with carrel run --workspace %s", args[1])
				}
				var made app.Forked
				if err := h.Call(ctx, "workspaces.fork", app.ForkWorkspace{Workspace: w.ID, Name: args[1], Message: message}, &made); err != nil {
					return err
				}
				if made.Unsent != "" {
					_, _ = fmt.Fprintln(io.Err, "carrel: the message waits as a draft, it was not sent:", plain(made.Unsent))
				}
				return showWorkspace(io, isJSON(cmd), made.Workspace)
			})
		}}
	projectFlag(c, &project)
	c.Flags().StringVar(&message, "message", "", "`message` to send there at once, where a Carrel runs")
	return c
}
