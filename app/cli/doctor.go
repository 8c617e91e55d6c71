package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/app/wire"
)

func doctorCommand(io IO) *cobra.Command {
	return &cobra.Command{Use: "doctor", Short: "Say what works on this machine and how to mend the rest", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var checks []app.Check
			err := services(cmd.Context(), io, func(ctx context.Context, s wire.Caller) error {
				return s.Call(ctx, "system.doctor", nil, &checks)
			})
			if c, ok := rootTrouble(err); ok && checks == nil {
				checks, err = []app.Check{c}, nil // without its folder Carrel can look at nothing else
			}
			if err != nil {
				return err
			}
			return tellChecks(io, isJSON(cmd), checks)
		}}
}

// rootTrouble is what the doctor says when the data folder can't be used at all.
func rootTrouble(err error) (app.Check, bool) {
	c := app.Check{Name: "data folder", Status: "missing", Mend: "Make it yours and writable, or set CARREL_ROOT to a folder that you own."}
	if disk, ok := app.DiskError(err); ok {
		c.Detail, c.Mend = disk.Message, "Free some space, or set CARREL_ROOT to a folder on another disk."
		return c, true
	}
	if !errors.Is(err, fs.ErrPermission) {
		return c, false
	}
	c.Detail = err.Error()
	return c, true
}

// tellChecks prints what was found; what is missing is a failure.
func tellChecks(io IO, asJSON bool, checks []app.Check) error {
	if asJSON {
		if err := printJSON(io.Out, checks); err != nil {
			return err
		}
	} else if err := showChecks(io, checks); err != nil {
		return err
	}
	for _, c := range checks {
		if c.Status == "missing" {
			return &exitError{code: exitFailure}
		}
	}
	return nil
}

func showChecks(io IO, checks []app.Check) error {
	var text strings.Builder
	for _, c := range checks {
		fmt.Fprintf(&text, "%-8s %-14s %s\n", c.Status, line(c.Name), line(c.Detail))
		if c.Mend != "" {
			fmt.Fprintf(&text, "%-23s %s\n", "", line(c.Mend))
		}
	}
	_, err := fmt.Fprint(io.Out, text.String())
	return err
}
