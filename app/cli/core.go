package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"carrel/app/attach"
	"carrel/app/core"
	"carrel/store"
	"carrel/workspaces/runtime"
)

// coreCommand is what a window starts when no core runs.
func coreCommand(io IO) *cobra.Command {
	return &cobra.Command{Use: "core", Short: "Run the core by itself", Hidden: true, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := store.Open("")
			if err != nil {
				return err
			}
			defer func() { _ = root.Close() }()
			if root.SessionOf(runtime.StartedFor(io.Environ)) != "" {
				return attach.ErrAgent
			}
			err = core.Run(cmd.Context(), coreOptions(io, root, func(o *core.Options) { o.Detached = true }))
			if errors.Is(err, core.ErrRunning) {
				return &exitError{code: attach.ExitLocked}
			}
			return err
		}}
}

// helperCommand holds the small programs that Carrel starts beside itself.
func helperCommand(io IO) *cobra.Command {
	return group(&cobra.Command{Use: "helper", Short: "Programs that Carrel starts itself", Hidden: true}, &cobra.Command{Use: "reap", Short: "End what commands left running when Carrel dies", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if io.In == nil {
				return usage("helper reap is started by Carrel")
			}
			return runtime.RunReaper(io.In)
		}})
}
