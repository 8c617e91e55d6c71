package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/app/wire"
)

func doctorCommand(io IO) *cobra.Command {
	return &cobra.Command{Use: "doctor", Short: "Say what works on this machine and how to mend the rest", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				var checks []app.Check
				if err := s.Call(ctx, "system.doctor", nil, &checks); err != nil {
					return err
				}
				if isJSON(cmd) {
					if err := printJSON(io.Out, checks); err != nil {
						return err
					}
				} else {
					showChecks(io, checks)
				}
				for _, c := range checks {
					if c.Status == "missing" {
						return &exitError{code: exitFailure}
					}
				}
				return nil
			})
		}}
}

func showChecks(io IO, checks []app.Check) {
	for _, c := range checks {
		_, _ = fmt.Fprintf(io.Out, "%-8s %-14s %s\n", c.Status, line(c.Name), line(c.Detail))
		if c.Mend != "" {
			_, _ = fmt.Fprintf(io.Out, "%-23s %s\n", "", line(c.Mend))
		}
	}
}
