package app_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carrel/app"
)

// sight is one host's stream of a terminal.
type sight struct {
	t    *testing.T
	conn net.Conn
	text strings.Builder
	end  *app.TerminalExit
}

func (h *house) look(term app.Terminal) *sight {
	h.t.Helper()
	near, far := net.Pipe()
	args, _ := json.Marshal(app.TerminalStream{ID: term.ID, Cols: 100, Rows: 30})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := h.app.ShowTerminal(context.Background(), far, args); err != nil {
			h.t.Error(err)
		}
		_ = far.Close()
	}()
	h.t.Cleanup(func() { _ = near.Close(); <-done })
	return &sight{t: h.t, conn: near}
}

func (s *sight) send(kind byte, data string) {
	s.t.Helper()
	b := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(data)))
	if _, err := s.conn.Write(append(b, data...)); err != nil {
		s.t.Fatal(err)
	}
}

// next reads one record; false at the stream's end.
func (s *sight) next() bool {
	_ = s.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	var head [5]byte
	if _, err := io.ReadFull(s.conn, head[:]); err != nil {
		return false
	}
	data := make([]byte, binary.BigEndian.Uint32(head[1:]))
	if _, err := io.ReadFull(s.conn, data); err != nil {
		return false
	}
	switch head[0] {
	case 0:
		s.text.Write(data)
	case 1:
		s.text.Write(data[4:])
	case 3:
		s.end = &app.TerminalExit{}
		_ = json.Unmarshal(data, s.end)
	}
	return true
}

func (s *sight) see(want string) {
	s.t.Helper()
	for !strings.Contains(s.text.String(), want) {
		if !s.next() {
			s.t.Fatalf("the stream ended after %q", s.text.String())
		}
	}
}

func (h *house) terminal(args app.OpenTerminal) app.Terminal {
	h.t.Helper()
	term, err := h.api.Terminals.Open(context.Background(), args)
	if err != nil {
		h.t.Fatal(err)
	}
	return term
}

// O-BASH-07: a person's terminal has the person's environment, and nothing of Carrel's own.
func TestATerminalRunsThePersonsShellInTheWorkspace(t *testing.T) {
	h := newHouse(t, "SHELL=/bin/bash", "FOO_SECRET=mine", "CARREL_TOKEN=ours", "TERM=dumb", "NO_COLOR=1", "PS1=$ ")
	w := h.plainDesk("shell")
	term := h.terminal(app.OpenTerminal{Workspace: w.ID, Cols: 80, Rows: 24})
	if term.Confined || term.Workspace != w.ID || term.Group != term.ID {
		t.Errorf("%+v", term)
	}
	s := h.look(term)
	s.send(0, "env | sort; pwd; stty size; echo en''d\n")
	s.see("end\r\n")
	text := s.text.String()
	for _, want := range []string{"FOO_SECRET=mine", "TERM=xterm-256color", "CARREL_WORKSPACE_ID=" + w.ID, w.Dir, "30 100"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %q", want, text)
		}
	}
	for _, bad := range []string{"CARREL_TOKEN", "NO_COLOR", "PAGER=cat"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q is in the environment", bad)
		}
	}
}

func TestATextForThePromptIsNotRun(t *testing.T) {
	h := newHouse(t, "SHELL=/bin/bash")
	w := h.plainDesk("typed")
	term := h.terminal(app.OpenTerminal{Workspace: w.ID})
	typed, err := h.api.Terminals.Type(t.Context(), app.TypeText{ID: term.ID, Text: "touch a\ntouch \x1b[201~b\x03\r\n"})
	if err != nil || typed.Left != 0 {
		t.Fatalf("%+v, %v", typed, err)
	}
	s := h.look(term)
	s.see("touch [201~b")
	for _, name := range []string{"a", "b", "[201~b"} {
		if _, err := os.Stat(filepath.Join(w.Dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was made: %v", name, err)
		}
	}
}

func TestTerminalsEndWithTheirWorkspaceAndTheirProgram(t *testing.T) {
	h := newHouse(t, "SHELL=/bin/sh")
	w := h.plainDesk("ends")
	gone := func(id string) func(app.Event) bool {
		return func(e app.Event) bool { c, ok := e.(app.TerminalClosed); return ok && c.ID == id }
	}
	first := h.terminal(app.OpenTerminal{Workspace: w.ID})
	second := h.terminal(app.OpenTerminal{Workspace: w.ID, Beside: first.ID})
	if second.Group != first.ID {
		t.Errorf("not beside: %+v", second)
	}
	h.look(second).send(0, "exit\n")
	h.wait("the end of a shell that was left", gone(second.ID))
	third := h.terminal(app.OpenTerminal{Workspace: w.ID})
	s := h.look(third)
	s.send(0, "exit 7\n")
	for s.end == nil && s.next() {
	}
	if s.end == nil || s.end.Code != 7 {
		t.Errorf("%+v", s.end)
	}
	list, err := h.api.Terminals.List(t.Context(), app.ByID{ID: w.ID})
	if err != nil || len(list) != 2 || list[1].Exit == nil || list[1].Exit.Code != 7 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := h.api.Workspaces.Archive(t.Context(), app.ByID{ID: w.ID}); err != nil {
		t.Fatal(err)
	}
	h.wait("the end of the first", gone(first.ID))
	if list, _ := h.api.Terminals.List(t.Context(), app.ByID{}); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestACommandInATerminalIsWork(t *testing.T) {
	h := newHouse(t, "SHELL=/bin/bash")
	w := h.plainDesk("works")
	term := h.terminal(app.OpenTerminal{Workspace: w.ID})
	if h.app.Busy() {
		t.Error("an idle shell counts as work")
	}
	h.look(term).send(0, "cat\n")
	h.wait("the command", func(e app.Event) bool { c, ok := e.(app.TerminalChanged); return ok && c.Terminal.Busy })
	if !h.app.Busy() {
		t.Error("a command in a terminal is no work")
	}
}

func TestAConfinedTerminalIsRefusedWhereNothingWouldHoldIt(t *testing.T) {
	h := newHouse(t)
	_, err := h.api.Terminals.Open(t.Context(), app.OpenTerminal{Workspace: h.plainDesk("open").ID, Confined: true})
	if e := (*app.Error)(nil); !errors.As(err, &e) || e.Code != "no_sandbox" {
		t.Errorf("%v", err)
	}
}

func TestEditorsGetTheFolderAsOneArgument(t *testing.T) {
	bin := t.TempDir()
	out := filepath.Join(bin, "out")
	script := "#!/bin/sh\nfor a in \"$PWD\" \"$@\"; do echo \"$a\"; done > " + out + ".new; mv " + out + ".new " + out + "\n"
	if err := os.WriteFile(filepath.Join(bin, "code"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, "PATH="+bin+":/usr/bin:/bin", "DISPLAY=:99")
	w := h.plainDesk("edit")
	if err := os.WriteFile(filepath.Join(w.Dir, "$(touch x); a.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	list, err := h.api.Terminals.Editors(t.Context())
	if err != nil || len(list) == 0 || list[0].ID != "vscode" {
		t.Fatalf("%+v, %v", list, err)
	}
	opened, err := h.api.Terminals.OpenEditor(t.Context(), app.OpenEditor{Workspace: w.ID, Path: "$(touch x); a.txt", Line: 3})
	if err != nil || opened.Editor != "VS Code" {
		t.Fatalf("%+v, %v", opened, err)
	}
	var got []byte
	for deadline := time.Now().Add(20 * time.Second); got == nil && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		got, _ = os.ReadFile(out) // nothing tells that another program has written
	}
	want := w.Dir + "\n" + w.Dir + "\n--goto\n" + filepath.Join(w.Dir, "$(touch x); a.txt") + ":3\n"
	if string(got) != want {
		t.Errorf("%q instead of %q", got, want)
	}
	for _, bad := range []app.OpenEditor{{Workspace: w.ID, Path: "../../etc/passwd"}, {Workspace: w.ID, Path: "/etc/passwd"}, {Workspace: w.ID, Editor: "sh"}} {
		if _, err := h.api.Terminals.OpenEditor(t.Context(), bad); err == nil {
			t.Errorf("%+v was opened", bad)
		}
	}
}
