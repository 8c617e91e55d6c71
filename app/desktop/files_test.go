//go:build linux && desktop && window

package desktop

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"carrel/app"
)

// told stands for a program that says what it was started with, and gives the file that it says it in.
func (s *stage) told(program string) string {
	s.t.Helper()
	dir := s.t.TempDir()
	said := filepath.Join(dir, "said")
	script := "#!/bin/sh\nprintf '%s' \"$1\" > " + said + ".new && mv " + said + ".new " + said + "\n"
	if err := os.WriteFile(filepath.Join(dir, program), []byte(script), 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.env = append(s.env, "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return said
}

func TestWindowSavesAnExportAndSendsAPicture(t *testing.T) {
	s := newStage(t)
	home := t.TempDir()
	s.env = append(s.env, "HOME="+home, "XDG_CONFIG_HOME=")
	said := s.told("xdg-open")
	dir := repository(t, "files")
	s.open(dir)
	ws := s.newWorkspace("Save me")

	// A picture that is pasted is uploaded, shown, and sent without a word.
	s.key("ctrl+i")
	s.focused("textarea, [contenteditable]")
	picture := filepath.Join(t.TempDir(), "shot.png")
	if out, err := exec.Command("import", "-window", "root", picture).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	clip := exec.Command("xclip", "-selection", "clipboard", "-t", "image/png", "-i", picture)
	if err := clip.Run(); err != nil {
		t.Fatal(err)
	}
	s.key("ctrl+v")
	s.eventually("the picture is in the composer", func() bool {
		return s.ask(`document.querySelector('[aria-label="Attached pictures"] img')?.naturalWidth > 0`) == "true"
	})
	s.drop(picture) // a dropped one comes by way of the core
	s.eventually("the dropped picture is beside it", func() bool {
		return s.ask(`[...document.querySelectorAll('[aria-label="Attached pictures"] img')].filter((one) => one.naturalWidth > 0).length`) == "2"
	})
	s.shot("picture")
	s.key("Return")
	s.eventually("the message has the pictures", func() bool {
		c := s.conversation(ws.ID)
		return len(c.Entries) > 0 && len(c.Entries[0].Files) == 2 && (c.Status.Activity == app.Idle || c.Status.Activity == app.Done)
	})
	s.eventually("the page shows it", func() bool {
		return s.ask(`document.querySelector('[role=log] .bubble img')?.naturalWidth > 0`) == "true"
	})

	s.key("F4")
	s.focused("input")
	s.write("export as markdown")
	s.show("Export the conversation as Markdown")
	s.key("Return")
	s.show("Saved as ~/" + ws.Name + ".md")
	text, err := os.ReadFile(filepath.Join(home, ws.Name+".md"))
	if err != nil || !strings.Contains(string(text), "Save me") {
		t.Errorf("%s, %v", text, err)
	}
	s.click("Show in folder")
	s.eventually("the folder is shown", func() bool {
		shown, err := os.ReadFile(said)
		return err == nil && string(shown) == home
	})
}
