package runtime

import (
	"context"
	"io"
	"strings"
)

// Terminals is a Runtime that can start a program on a terminal of its own. Every runtime that people can
// type into is one.
type Terminals interface {
	// StartTerminal starts a program as the leader of a session whose terminal is the returned one. Unlike
	// a command it outlives ctx, which is for the start only.
	StartTerminal(ctx context.Context, c TerminalCommand) (Terminal, error)
}

// TerminalCommand is a program to run on a terminal.
type TerminalCommand struct {
	// Argv is the program; Argv[0] is looked up in the PATH of Env. Empty is the person's shell.
	Argv []string
	Dir  string // relative to the workspace root; "" is the root
	// Env is the whole environment, KEY=value; see TerminalEnv.
	Env        []string
	Cols, Rows int
	Hold       Hold
}

// Terminal is a program on a terminal of its own. Reads, writes and the rest may be made by different
// goroutines.
type Terminal interface {
	// Read gives what the program writes. It returns io.EOF when the program has ended and all was read,
	// and after Close.
	io.Reader
	// Write types. It waits while the program does not read.
	io.Writer
	// Resize tells the program the size; it is no error when the program has ended.
	Resize(cols, rows int) error
	// Look says what can be told about the program from outside.
	Look() TerminalLook
	// Close hangs up, as closing a window does, and returns when nothing that the program started is left,
	// or after ctx. What a program that ended by itself left in the background goes on, see KillTerminals.
	Close(ctx context.Context) error
	// Wait returns when the program has ended and what it wrote was read or dropped. Call it once.
	Wait() (Exit, error)
	// PID is the program's process id where the runtime is on this machine, else 0.
	PID() int
}

// TerminalLook is what can be seen of a program on a terminal from outside.
type TerminalLook struct {
	Dir  string // where the program is, "" when not known
	Busy bool   // something else than the program itself has the terminal, such as a command of a shell
}

// KillTerminals ends every process that was started from a workspace's terminals, also those that left
// them, as KillTagged does.
func KillTerminals(ctx context.Context, workspace string) error {
	if workspace == "" {
		return nil
	}
	return KillTagged(ctx, terminalTag(workspace))
}

// terminalTag names a workspace's terminals in their environment. What ends a workspace's commands leaves
// what people type into.
func terminalTag(workspace string) string { return "terminal." + workspace }

// TerminalEnv is the environment of a terminal in a person's hands: what this process got, without what is
// Carrel's own, such as its tokens, and with what says which terminal it is.
func TerminalEnv(environ []string) []string {
	var env []string
	for _, v := range environ {
		name, _, ok := strings.Cut(v, "=")
		if !ok || name == "" || ownVariable(name) || terminalVariable(name) {
			continue
		}
		env = append(env, v)
	}
	if lookup(env, "PATH") == "" {
		env = append(env, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	}
	if lookup(env, "LANG") == "" && lookup(env, "LC_ALL") == "" && lookup(env, "LC_CTYPE") == "" {
		env = append(env, "LANG=C.UTF-8")
	}
	return append(env, "TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=carrel")
}

// ownVariable reports whether a variable is Carrel's own, or was made for the program that shows it.
func ownVariable(name string) bool {
	for _, p := range []string{"CARREL_", "XUM_", "MUX_", "WEBKIT_", "GTK_", "GDK_"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return name == "NO_COLOR" || name == "INVOCATION_ID" || name == "JOURNAL_STREAM"
}

// terminalVariable reports whether a variable speaks of the terminal that Carrel itself was started in.
func terminalVariable(name string) bool {
	switch name {
	case "TERM", "COLORTERM", "COLUMNS", "LINES", "WINDOWID", "TMUX", "TMUX_PANE", "STY", "SHLVL", "OLDPWD", "PWD", "_":
		return true
	}
	for _, p := range []string{"TERM_", "VTE_", "KITTY_", "ALACRITTY_", "WEZTERM_", "KONSOLE_", "ITERM_", "VSCODE_"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
