package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"carrel/app"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitBudget      = 2 // the budget is used up
	exitInterrupted = 130
)

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

// interruptedError is the end of a command that the person stopped.
func interruptedError() error {
	return &exitError{code: exitInterrupted, err: &app.Error{Code: "interrupted", Message: "Interrupted."}}
}

// failure is what programs get of an error.
type failure struct {
	Type    string `json:"type"` // error
	Code    string `json:"code"`
	Message string `json:"message"`
}

// report tells of an error, on standard error and, for programs, as JSON.
func report(io IO, cmd *cobra.Command, asJSON bool, err error) int {
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
		_ = printJSON(io.Out, failure{"error", name, message})
	}
	_, _ = fmt.Fprintln(io.Err, "carrel:", plain(message))
	if name == "usage" {
		if cmd.Name() == "help" {
			cmd = cmd.Root()
		}
		_, _ = fmt.Fprintln(io.Err, "Try:", cmd.CommandPath(), "--help")
	}
	return code
}

// describe gives an error's stable code and the sentence for people.
func describe(err error, exit int) (code, message string) {
	var known *app.Error
	disk, onDisk := app.DiskError(err)
	switch {
	case errors.As(err, &known) && known.Code == "internal" && known.Cause != nil:
		// Here is no log that would have the details.
		code, message = describe(known.Cause, exit)
	case errors.As(err, &known):
		return known.Code, known.Message
	case exit == exitUsage:
		return "usage", err.Error()
	case onDisk:
		return disk.Code, disk.Message
	case errors.Is(err, fs.ErrPermission):
		return "permission", fmt.Sprintf("That is not permitted: %v.", err)
	default:
		return "failed", err.Error()
	}
	return code, message
}

// wantsJSON looks for --json in the arguments, since those that can't be parsed fail too.
func wantsJSON(args []string) bool {
	for _, a := range args {
		value, ok := strings.CutPrefix(a, "--json")
		switch {
		case a == "--":
			return false
		case ok && value == "":
			return true
		case ok && value[0] == '=':
			on, err := strconv.ParseBool(value[1:])
			return on || err != nil
		}
	}
	return false
}

// noArgs refuses arguments of a command that takes none, or whose arguments are commands.
func noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.HasSubCommands():
		return unknownCommand(cmd, args[0])
	}
	return usage("%s takes no arguments, but there is %q", cmd.CommandPath(), args[0])
}

func unknownCommand(cmd *cobra.Command, name string) error {
	hint := ""
	if cmd.SuggestionsMinimumDistance <= 0 {
		cmd.SuggestionsMinimumDistance = 2
	}
	if like := cmd.SuggestionsFor(name); len(like) > 0 {
		hint = "; did you mean " + strings.Join(like, " or ") + "?"
	}
	return usage("there is no command %q in %s%s", name, cmd.CommandPath(), hint)
}

// takes refuses any other number of arguments than min to max.
func takes(min, max int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < min || len(args) > max {
			return usage("%s takes %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

// wrongArgsAreUsage makes the errors of all argument checks errors of usage, cobra's own too.
func wrongArgsAreUsage(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			var known *exitError
			if err != nil && !errors.As(err, &known) {
				return usage("%w", err)
			}
			return err
		}
	}
	for _, sub := range cmd.Commands() {
		wrongArgsAreUsage(sub)
	}
}
