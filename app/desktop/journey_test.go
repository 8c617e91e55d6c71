//go:build linux && desktop && window

package desktop

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"carrel/app"
)

func TestWindowOpensAndShowsThePage(t *testing.T) {
	s := newStage(t)
	s.open()
	s.show("Point Carrel at a repository")
	if colours := s.shot("open"); colours < 20 {
		t.Errorf("the picture has %d colours", colours)
	}
	if at := s.ask("location.origin + ' ' + location.hash"); !strings.HasPrefix(at, `"`+s.core().URL+` "`) {
		t.Errorf("the page is at %s", at)
	}
	if about := call1[app.About](s, "system.about", nil); !about.Desktop {
		t.Error("the core knows no window")
	}
}

func TestWindowTakesADroppedFolder(t *testing.T) {
	s := newStage(t)
	dir := repository(t, "A repository é")
	s.open()
	s.show("Point Carrel at a repository")
	s.drop(dir)
	s.eventually("the folder is a project", func() bool { return len(s.projects()) == 1 })
	if got := s.projects()[0].Path; got != dir {
		t.Errorf("the project is at %q, not %q", got, dir)
	}
	s.show("New workspace")
	s.show("What is it for?")
	s.shot("dialog")
}

func TestWindowRunsADemoTurnByKeyboardAlone(t *testing.T) {
	s := newStage(t)
	dir := repository(t, "keys")
	history(t, dir)
	s.open(dir)
	ws := s.newWorkspace("Say hello")
	s.message("please say hello in a file")
	s.eventually("the turn is over", func() bool {
		c := s.conversation(ws.ID)
		return len(c.Entries) > 3 && (c.Status.Activity == app.Idle || c.Status.Activity == app.Done)
	})
	if got := git(t, dir, "log", "--format=%s", "main.."+ws.Branch); strings.Count(got, "\n") != 1 {
		t.Errorf("the branch %s has the commits %q", ws.Branch, got)
	}
	if got := git(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("the checkout is touched: %s", got)
	}
	s.show("please say hello in a file")
	s.eventually("the page has shown the end of the turn", func() bool {
		return s.ask(`document.querySelector('[aria-label="Stop"]') === null`) == "true"
	})
	for _, theme := range []string{"dark", "light"} {
		call1[struct{}](s, "settings.set", app.Settings{Theme: theme})
		s.eventually("the theme is "+theme, func() bool { return s.ask("document.documentElement.dataset.theme") == `"`+theme+`"` })
		for _, width := range []string{"1440", "375"} {
			s.resize(width)
			s.shot(theme + "-" + width)
		}
	}
}

// newWorkspace makes a workspace by keyboard in the dialog that is offered for a new project.
func (s *stage) newWorkspace(title string) app.Workspace {
	s.t.Helper()
	s.show("What is it for?")
	s.show("Starts from")
	s.focus()
	s.eventually("the focus is on the title", func() bool {
		return s.ask(`document.activeElement === document.querySelector('[role="dialog"] form input')`) == "true"
	})
	s.write(title)
	s.key("Return")
	var made []app.Workspace
	s.eventually("there is a workspace", func() bool {
		made = s.workspaces()
		return len(made) == 1 && made[0].Health == app.Ready
	})
	s.show(title)
	return made[0]
}

// message types a message and sends it.
func (s *stage) message(text string) {
	s.t.Helper()
	s.eventually("the dialog is gone", func() bool { return s.ask(`document.querySelector('[role="dialog"]') === null`) == "true" })
	s.key("ctrl+i")
	s.focused("textarea, [contenteditable]")
	s.write(text)
	s.key("Return")
}

// resize gives the page a width, and the display's height.
func (s *stage) resize(width string) {
	s.t.Helper()
	s.xdotool("windowsize", s.id(), width, "860")
	s.xdotool("windowmove", s.id(), "0", "20")
	s.eventually("the page is "+width+" wide", func() bool { return s.ask("innerWidth") == width })
	s.ask("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
}

// history gives a repository of repository's 1,200 commits more, as one that people work on has.
func history(t *testing.T, dir string) {
	t.Helper()
	var in strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter a <a@example.invalid> %d +0000\ndata 7\nChange\n", 1700000000+i)
		if i == 0 {
			in.WriteString("from refs/heads/main^0\n")
		}
		fmt.Fprintf(&in, "M 100644 inline src/%d.txt\ndata 5\nline\n\n", i)
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v\n%s", err, out)
	}
	git(t, dir, "reset", "-q", "--hard")
}
