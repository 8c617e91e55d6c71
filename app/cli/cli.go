// Package cli is the command line: one file per command.
//
// It promises: with --json, standard output is JSON and nothing else, also when the command fails;
// everything meant for people beside the result goes to standard error; exit codes are 0 for
// success, 1 for failure, 2 for wrong usage and 130 after an interrupt.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"carrel/app"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// IO is what a command talks to.
type IO struct {
	In       *os.File // may be closed
	Out, Err io.Writer
	Environ  []string
	Exe      string // path of this binary
}

// exitError ends a command with a code; silent when the command has said what there is to say.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// Run runs the command that args name and gives its exit code.
func Run(ctx context.Context, args []string, io IO) int {
	root := newRoot(io)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	return report(io, slices.Contains(args, "--json"), err)
}

// report tells of an error, on standard error and, for programs, as JSON.
func report(io IO, asJSON bool, err error) int {
	code := exitFailure
	var exit *exitError
	if errors.As(err, &exit) {
		code = exit.code
		if exit.err == nil {
			return code
		}
	}
	name, message := describe(err, code)
	if asJSON {
		_ = json.NewEncoder(io.Out).Encode(map[string]any{"type": "error", "code": name, "message": message})
	}
	_, _ = fmt.Fprintln(io.Err, "carrel:", plain(message))
	if code == exitUsage {
		_, _ = fmt.Fprintln(io.Err, "Try: carrel help")
	}
	return code
}

// describe gives an error's stable code and the sentence for people.
func describe(err error, exit int) (code, message string) {
	var known *app.Error
	if errors.As(err, &known) {
		return known.Code, known.Message
	}
	if exit == exitUsage {
		return "usage", err.Error()
	}
	return "failed", err.Error()
}

func newRoot(io IO) *cobra.Command {
	root := &cobra.Command{
		Use:           "carrel",
		Short:         "Run many coding agents in parallel, each at its own desk",
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
	root.AddCommand(runCommand(io), serveCommand(io), desktopCommand(io), projectCommand(io), workspaceCommand(io),
		trustCommand(io), doctorCommand(io), coreCommand(io), helperCommand(io))
	return root
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("unknown command %q for %q", args[0], cmd.CommandPath())
	}
	return nil
}

func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usage("%s takes %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

// printJSON writes one document.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// plain makes text safe for a terminal: control characters of untrusted text never reach it.
func plain(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
			out = append(out, r)
		case r < 0x20 || (r >= 0x7f && r < 0xa0):
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // direction overrides
		default:
			out = append(out, r)
		}
	}
	return string(out)
}
