// Package cli is the command line: one file per command.
//
// It promises: with --json, standard output is JSON and nothing else, also when the command fails;
// everything meant for people beside the result goes to standard error; exit codes are 0 for
// success, 1 for failure, 2 for wrong usage and 130 after an interrupt; no control character of a
// path, a message or a model reaches the terminal.
package cli

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"carrel/app"
)

// IO is what a command talks to.
type IO struct {
	In       *os.File // may be closed
	Out, Err io.Writer
	Environ  []string
	Exe      string         // path of this binary
	Exit     func(code int) // ends the process at once, after a second interrupt
}

// Run runs the command that args name and gives its exit code.
func Run(ctx context.Context, args []string, io IO) int {
	root := newRoot(io)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	return report(io, cmd, wantsJSON(args), err)
}

func newRoot(io IO) *cobra.Command {
	root := &cobra.Command{
		Use:   "carrel",
		Short: "Run many coding agents in parallel, each at its own desk",
		Long: `Carrel lets you run many coding agents in parallel, each at its own desk.

Alone it opens the window; where there is none, it shows this help.`,
		Example: `  carrel run "Fix the failing tests"       one task, here and now
  carrel project add ~/code/harbor         make a folder a project
  carrel workspace new --title "Dry run"   a branch and a folder of its own
  carrel serve                             the same in a browser`,
		Version:       app.Version() + " (" + app.Commit() + ")",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return openOrHelp(cmd, io) },
	}
	root.SetVersionTemplate("carrel {{.Version}}\n")
	root.SetIn(io.In)
	root.SetOut(io.Out)
	root.SetErr(io.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage("%w", err) })
	root.PersistentFlags().Bool("json", false, "print JSON, failures too")
	root.AddCommand(runCommand(io), serveCommand(io), desktopCommand(io), projectCommand(io), workspaceCommand(io),
		providerCommand(io), modelCommand(io), costsCommand(io), searchCommand(io), exportCommand(io), trustCommand(io),
		sandboxCommand(io), doctorCommand(io), coreCommand(io), helperCommand(io))
	root.SetHelpCommand(helpCommand())
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		group(c)
	}
	wrongArgsAreUsage(root)
	return root
}

// group makes a command that only holds others.
func group(c *cobra.Command, of ...*cobra.Command) *cobra.Command {
	c.Args = noArgs
	c.RunE = func(cmd *cobra.Command, _ []string) error { return help(cmd) }
	c.AddCommand(of...)
	return c
}

// help shows a command's help, which is no answer for a program.
func help(cmd *cobra.Command) error {
	if isJSON(cmd) {
		return usage("name a command of %s", cmd.CommandPath())
	}
	return cmd.Help()
}

// helpCommand is cobra's, but an unknown topic is an error.
func helpCommand() *cobra.Command {
	return &cobra.Command{Use: "help [command]", Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(found, args[len(args)-1])
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		}}
}

// isJSON reports whether a command was asked for JSON.
func isJSON(cmd *cobra.Command) bool {
	on, err := cmd.Flags().GetBool("json")
	return err == nil && on
}
