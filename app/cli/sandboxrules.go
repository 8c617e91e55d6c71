package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carrel/agent/permission"
	"carrel/app"
	"carrel/app/wire"
)

func sandboxRulesCommand(io IO) *cobra.Command {
	return &cobra.Command{Use: "rules", Short: "List what you allowed, ask for and denied for good", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return services(cmd.Context(), io, func(ctx context.Context, c wire.Caller) error {
				saved, err := savedRules(ctx, c)
				if err != nil {
					return err
				}
				if isJSON(cmd) {
					return printJSON(io.Out, saved)
				}
				var rows [][]string
				for _, s := range saved {
					rule := permission.Visible(s.Rule)
					if s.Problem != "" {
						rule += "  (can't be read: it asks)"
					}
					rows = append(rows, []string{s.List, rule, whereOf(s)})
				}
				return table(io, nil, rows)
			})
		}}
}

func savedRules(ctx context.Context, c wire.Caller) ([]app.SavedRule, error) {
	saved := []app.SavedRule{}
	return saved, c.Call(ctx, "permissions.saved", struct{}{}, &saved)
}

// whereOf tells where a rule counts.
func whereOf(s app.SavedRule) string {
	if s.Project == "" {
		return "settings"
	}
	return "project " + s.Name
}

func sandboxForgetCommand(io IO) *cobra.Command {
	project := ""
	c := &cobra.Command{Use: "forget RULE", Short: "Take back a saved rule, as the list of rules shows it", Args: takes(1, 1, "one rule, in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return services(cmd.Context(), io, func(ctx context.Context, c wire.Caller) error {
				saved, err := savedRules(ctx, c)
				if err != nil {
					return err
				}
				n := 0
				for _, s := range saved {
					if s.Rule != args[0] && permission.Visible(s.Rule) != args[0] || project != "" && s.Project != project && s.Name != project {
						continue
					}
					n++
					if err := c.Call(ctx, "permissions.revoke", app.RevokeRule{Project: s.Project, List: s.List, Rule: s.Rule}, nil); err != nil {
						return err
					}
					_, _ = fmt.Fprintf(io.Out, "no longer in %s of %s: %s\n", s.List, whereOf(s), permission.Visible(s.Rule))
				}
				if n == 0 {
					return fmt.Errorf("forget rule %q: there is none like it; carrel sandbox rules lists them", args[0])
				}
				return nil
			})
		}}
	c.Flags().StringVar(&project, "project", "", "only where this project has it: its name or id")
	return c
}
