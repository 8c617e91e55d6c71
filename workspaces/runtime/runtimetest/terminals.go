package runtimetest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"carrel/workspaces/runtime"
)

// terminals is what the people's terminals rely on.
func terminals(t *testing.T, make Make) {
	t.Run("leads a session with a terminal of its own", func(t *testing.T) {
		term := openTerminal(t, make, runtime.TerminalCommand{Argv: []string{"sh", "-c", "test -t 0 && tty >/dev/null && echo on a $TERM terminal of $(stty size) > /dev/tty"}})
		if got := readAll(t, term); !strings.Contains(got, "on a xterm-256color terminal of 24 80") {
			t.Errorf("%q", got)
		}
	})
	t.Run("shows the last line, and the exit code", func(t *testing.T) { // O-TERM-04
		for range 20 {
			term := openTerminal(t, make, runtime.TerminalCommand{Argv: []string{"sh", "-c", "printf last-line; exit 3"}})
			go func() {
				for i := range 20 {
					_ = term.Resize(80+i, 24)
				}
			}()
			if got := readAll(t, term); got != "last-line" {
				t.Errorf("%q", got)
			}
			if exit, err := term.Wait(); err != nil || exit.Code != 3 {
				t.Errorf("%+v, %v", exit, err)
			}
		}
	})
	t.Run("takes what is typed, and the size", func(t *testing.T) {
		term := openTerminal(t, make, runtime.TerminalCommand{Argv: []string{"sh"}})
		if err := term.Resize(101, 37); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(term, "stty size; cd /tmp && exit\n"); err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, term); !strings.Contains(got, "37 101") {
			t.Errorf("%q", got)
		}
	})
	t.Run("ends everything when it is closed", func(t *testing.T) {
		term := openTerminal(t, make, runtime.TerminalCommand{Argv: []string{"sh", "-c", "trap '' HUP TERM; setsid sleep 1000 & echo ready; sleep 1000"}})
		buf := [100]byte{}
		if _, err := term.Read(buf[:]); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		if err := term.Close(ctx); err != nil {
			t.Fatal(err)
		}
		if exit, err := term.Wait(); err != nil || !exit.Killed {
			t.Errorf("%+v, %v", exit, err)
		}
		if _, err := term.Read(buf[:]); !errors.Is(err, io.EOF) {
			t.Errorf("read after the end: %v", err)
		}
	})
}

func readAll(t *testing.T, term runtime.Terminal) string {
	t.Helper()
	data, err := io.ReadAll(term)
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

func openTerminal(t *testing.T, make Make, c runtime.TerminalCommand) runtime.Terminal {
	t.Helper()
	rt, ok := make(t).(runtime.Terminals)
	if !ok {
		t.Fatal("the runtime has no terminals")
	}
	c.Env = append(runtime.TerminalEnv([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/"}), c.Env...)
	c.Cols, c.Rows = 80, 24
	term, err := rt.StartTerminal(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := term.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return term
}
