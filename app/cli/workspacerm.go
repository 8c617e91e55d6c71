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

// deleted is the one document of workspace rm --json.
type deleted struct {
	Deleted string `json:"deleted"` // id
}

func workspaceRemove(io IO) *cobra.Command {
	var confirm string
	var keepBranch bool
	c := onWorkspace(io, "rm WORKSPACE", "Delete a workspace and its worktree",
		func(ctx context.Context, cmd *cobra.Command, s wire.Caller, w app.Workspace) error {
			var risk app.AtRisk
			if err := s.Call(ctx, "workspaces.atRisk", app.RiskOfDeleting{ID: w.ID, KeepBranch: keepBranch}, &risk); err != nil {
				return err
			}
			if !risk.Clean && confirm != risk.Confirm {
				return &app.Error{Code: "confirm", Message: fmt.Sprintf("Deleting %s would lose %s. To delete it all the same: carrel workspace rm %s --confirm %s",
					w.Name, riskText(risk), w.ID, quote(risk.Confirm))}
			}
			if err := s.Call(ctx, "workspaces.delete", app.DeleteWorkspace{ID: w.ID, Confirm: confirm, KeepBranch: keepBranch}, nil); err != nil {
				return err
			}
			if isJSON(cmd) {
				return printJSON(io.Out, deleted{w.ID})
			}
			_, err := fmt.Fprintf(io.Out, "Deleted %s (%s)\n", line(w.Name), w.ID)
			return err
		})
	c.Aliases = []string{"remove", "delete"}
	c.Flags().StringVar(&confirm, "confirm", "", "the workspace's `name`, to delete work that exists nowhere else")
	c.Flags().BoolVar(&keepBranch, "keep-branch", false, "keep the branch that Carrel made")
	return c
}

// riskText says what a deletion would lose, in numbers and the first names.
func riskText(r app.AtRisk) string {
	if r.Unknown != "" {
		return "what can't be inspected (" + line(r.Unknown) + ")"
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
		parts = append(parts, text+" ("+line(strings.Join(one.some[:min(3, len(one.some))], ", "))+")")
	}
	return strings.Join(parts, ", ")
}
