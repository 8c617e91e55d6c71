package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"carrel/app"
)

// windowName is the second binary, which needs GTK and WebKit to start; this one needs neither.
const windowName = "carrel-desktop"

func desktopCommand(io IO) *cobra.Command {
	return &cobra.Command{Use: "desktop [FOLDER...]", Short: "Open the window; folders become projects", Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return openWindow(io, args) }}
}

// openOrHelp opens the window where there can be one, as people expect of the bare name.
func openOrHelp(cmd *cobra.Command, io IO) error {
	if err := canOpen(io); err != nil {
		return help(cmd)
	}
	return openWindow(io, nil)
}

func canOpen(io IO) error {
	if _, err := os.Stat(windowPath(io)); err != nil {
		return &app.Error{Code: "no_window", Cause: err,
			Message: fmt.Sprintf("There is no %s beside %s. Build it with make build, or use carrel serve and a browser.", windowName, io.Exe)}
	}
	if runtime.GOOS == "linux" && !has(io.Environ, "DISPLAY") && !has(io.Environ, "WAYLAND_DISPLAY") {
		return &app.Error{Code: "no_display", Message: "There is no display here. Use carrel serve and a browser."}
	}
	return nil
}

// has reports whether a variable is set to something.
func has(environ []string, name string) bool {
	return slices.ContainsFunc(environ, func(kv string) bool {
		value, ok := strings.CutPrefix(kv, name+"=")
		return ok && value != ""
	})
}

func windowPath(io IO) string { return filepath.Join(filepath.Dir(io.Exe), windowName) }

// openWindow becomes the window's process.
func openWindow(io IO, args []string) error {
	folders := make([]string, len(args))
	for i, arg := range args {
		var err error
		if folders[i], err = folder("desktop", arg); err != nil {
			return err
		}
	}
	if err := canOpen(io); err != nil {
		return err
	}
	path := windowPath(io)
	err := syscall.Exec(path, append([]string{path}, folders...), io.Environ)
	return fmt.Errorf("start %s: %w", windowName, err)
}
