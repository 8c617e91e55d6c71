package app_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carrel/app"
)

// showing is a window that shows files.
type showing struct {
	shown  []string
	closed int
}

func (s *showing) PickFolder(context.Context) (string, error) { return "", nil }
func (s *showing) Raise(context.Context) error                { return nil }
func (s *showing) Close(context.Context) error                { s.closed++; return nil }
func (s *showing) OpenURL(context.Context, string) error      { return nil }
func (s *showing) OpenFile(_ context.Context, path string) error {
	s.shown = append(s.shown, "in its program: "+path)
	return nil
}
func (s *showing) ShowFile(_ context.Context, path string) error {
	s.shown = append(s.shown, path)
	return nil
}

func TestAnExportIsSavedWhereDownloadsGo(t *testing.T) {
	h := newHouse(t)
	_, w := h.desk(app.NewWorkspace{Name: "saved"})
	h.send(w, "Keep this")
	h.wait("the turn to end", ended(w.ID, app.Done))
	home := os.Getenv("HOME")
	t.Setenv("XDG_CONFIG_HOME", "")
	save := func(format app.ExportFormat, want string) {
		t.Helper()
		s, err := h.api.Conversations.SaveExport(t.Context(), app.ExportConversation{Workspace: w.ID, Format: format})
		if err != nil || s.Path != want {
			t.Fatalf("%+v, %v, want %s", s, err, want)
		}
		info, err := os.Stat(s.Path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if text, err := os.ReadFile(s.Path); err != nil || !strings.Contains(string(text), "Keep this") {
			t.Errorf("%s, %v", text, err)
		}
	}
	save("md", filepath.Join(home, "saved.md"))
	for _, dir := range []string{"Downloads", "Descargas", ".config"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	save("md", filepath.Join(home, "Downloads", "saved.md"))
	write(t, filepath.Join(home, ".config", "user-dirs.dirs"), "# comment\nXDG_DESKTOP_DIR=\"$HOME/Desktop\"\nXDG_DOWNLOAD_DIR=\"$HOME/Descargas\"\n")
	save("md", filepath.Join(home, "Descargas", "saved.md"))
	save("md", filepath.Join(home, "Descargas", "saved (2).md")) // nothing is overwritten
	save("json", filepath.Join(home, "Descargas", "saved.json"))
	if _, err := h.api.Conversations.SaveExport(t.Context(), app.ExportConversation{Workspace: w.ID, Format: "pdf"}); said(t, err) != "bad_request" {
		t.Errorf("%v", err)
	}

	file := app.ShowFile{Path: filepath.Join(home, "Descargas", "saved.json")}
	if err := h.api.System.ShowFile(t.Context(), file); said(t, err) != "no_window" {
		t.Errorf("%v", err)
	}
	window := &showing{}
	h.app.SetWindow(window)
	defer h.app.SetWindow(nil)
	if err := h.api.System.ShowFile(t.Context(), file); err != nil || len(window.shown) != 1 || window.shown[0] != file.Path {
		t.Errorf("%v, %v", err, window.shown)
	}
	if err := h.api.System.ShowFile(t.Context(), app.ShowFile{Path: filepath.Join(home, ".gitconfig")}); said(t, err) != "bad_request" {
		t.Errorf("%v", err)
	}
}
