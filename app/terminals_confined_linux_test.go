package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carrel/app"
)

func TestAConfinedTerminalHasJobControlAndIsHeld(t *testing.T) {
	h := newHouse(t, "SHELL=/bin/bash", "PS1=$ ", "CARREL_SANDBOX=workspace-write")
	w := h.plainDesk("held")
	term := h.terminal(app.OpenTerminal{Workspace: w.ID, Confined: true})
	if !term.Confined || term.Tier == "" {
		t.Fatalf("%+v", term)
	}
	s := h.look(term)
	s.send(0, "tty; sleep 1000 & jobs; fg\n")
	s.see("Running")
	s.see("sleep 1000\r\n")
	s.send(0, "\x1a") // Ctrl-Z
	s.see("Stopped")
	s.send(0, "kill %1; touch inside; touch $HOME/out''side; echo en''d\n")
	s.see("end\r\n")
	if strings.Contains(s.text.String(), "no job control") {
		t.Errorf("%q", s.text.String())
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "inside")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(os.Getenv("HOME"), "outside")); err == nil {
		t.Error("it wrote outside the workspace")
	}
}
