//go:build linux && desktop && window

package desktop

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"carrel/app"
)

// sleepers lists the processes that run the demo's long command for a workspace.
func sleepers(t *testing.T, workspace string) []string {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range names {
		command, _ := os.ReadFile(name) // another user's, or gone
		environ, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "environ"))
		if strings.Contains(string(command), "sleep") && strings.Contains(string(environ), workspace) {
			found = append(found, name)
		}
	}
	return found
}

// slowTurn makes a workspace and starts a turn in it, up to its long command.
func (s *stage) slowTurn() app.Workspace {
	s.t.Helper()
	s.open(repository(s.t, "slow"))
	ws := s.newWorkspace("Take long")
	s.message("be slow")
	s.eventually("the long command runs", func() bool { return len(sleepers(s.t, ws.ID)) > 0 })
	return ws
}

func TestTurnGoesOnWhenTheWindowIsKilled(t *testing.T) {
	s := newStage(t)
	ws := s.slowTurn()
	core := s.core().PID
	s.kill()
	if c := s.conversation(ws.ID); c.Status.Activity != app.RunningTools {
		t.Errorf("without the window the conversation is %s", c.Status.Activity)
	}
	s.open()
	if s.core().PID != core {
		t.Error("it is another core")
	}
	s.show("Take long")
	s.click("Take long")
	s.show("be slow")
	s.show("Sleeping for 20 seconds")
	if c := s.conversation(ws.ID); c.Status.Activity != app.RunningTools || len(sleepers(t, ws.ID)) == 0 {
		t.Errorf("after the reopening the conversation is %s", c.Status.Activity)
	}
	s.shot("reopened")
}

func TestNothingIsLostOrRunTwiceWhenWindowAndCoreAreKilled(t *testing.T) {
	s := newStage(t)
	ws := s.slowTurn()
	before := s.conversation(ws.ID)
	s.kill()
	s.killCore()
	eventually(t, "no child process is left", func() bool { return len(sleepers(t, ws.ID)) == 0 })
	s.open()
	after := s.conversation(ws.ID)
	for _, e := range before.Entries {
		if !kept(after.Entries, e) {
			t.Errorf("lost: %+v", e)
		}
	}
	last := calls(after.Entries)[len(calls(after.Entries))-1]
	if last.Status != app.ToolInterrupted || !strings.Contains(last.Input, "sleep") {
		t.Errorf("the call is %+v", last)
	}
	s.click("Take long")
	s.show("be slow")
	s.eventually("the page says that it was interrupted", func() bool { return s.ask(`/interrupted/i.test(document.body.innerText)`) == "true" })
	s.shot("after")
	if n := len(calls(s.conversation(ws.ID).Entries)); n != len(calls(before.Entries)) || len(sleepers(t, ws.ID)) > 0 {
		t.Errorf("%d calls became %d", len(calls(before.Entries)), n)
	}
	if got := git(t, ws.Dir, "log", "--format=%s"); got != "first\n" {
		t.Errorf("commits %q", got)
	}
}

// kept reports whether an entry is there with all its text.
func kept(all []app.Entry, want app.Entry) bool {
	for _, e := range all {
		if e.ID == want.ID && e.Kind == want.Kind {
			return strings.HasPrefix(e.Text, want.Text) && (want.Tool == nil || e.Tool != nil && e.Tool.Input == want.Tool.Input)
		}
	}
	return false
}

func calls(all []app.Entry) []app.ToolEntry {
	var found []app.ToolEntry
	for _, e := range all {
		if e.Tool != nil {
			found = append(found, *e.Tool)
		}
	}
	return found
}

func TestStreamedTextIsKeptUpToHalfASecond(t *testing.T) {
	s := newStage(t)
	t.Setenv("CARREL_DEMO_DELAY", "40ms")
	s.open(repository(t, "stream"))
	ws := s.newWorkspace("Write much")
	s.message("go on")
	type sample struct {
		at   time.Time
		text string
	}
	var seen []sample
	s.eventually("text has streamed for a while", func() bool {
		for _, e := range s.conversation(ws.ID).Entries {
			if e.Kind == app.EntryAssistant && e.Live {
				seen = append(seen, sample{time.Now(), e.Text})
			}
		}
		return len(seen) > 2 && seen[len(seen)-1].at.Sub(seen[0].at) > 800*time.Millisecond
	})
	killed := time.Now()
	s.kill()
	s.killCore()
	s.open()
	var text string
	for _, e := range s.conversation(ws.ID).Entries {
		if e.Kind == app.EntryAssistant && text == "" {
			text = e.Text
		}
	}
	for _, one := range seen {
		if killed.Sub(one.at) > 500*time.Millisecond && !strings.HasPrefix(text, one.text) {
			t.Errorf("%v before the end the text was %q, now it is %q", killed.Sub(one.at), one.text, text)
		}
	}
	if text == "" {
		t.Error("no text is left")
	}
	s.click("Write much")
	s.show("This is the demo model")
}

func TestWindowComesBackWhenTheCoreIsKilled(t *testing.T) {
	s := newStage(t)
	dir := repository(t, "back")
	s.open(dir)
	s.show("What is it for?")
	first := s.core()
	s.killCore()
	s.eventually("there is another core", func() bool { return len(processes(t, s.root)) > 0 && s.found() != first.PID })
	s.attached()
	s.show("back")
	s.eventually("the page is the new core's", func() bool { return s.ask("location.origin") == `"`+s.core().URL+`"` })
	if len(s.projects()) != 1 {
		t.Errorf("projects %+v", s.projects())
	}
}

func TestAHungCoreCanBeRestartedFromTheWindowsOwnPage(t *testing.T) {
	s := newStage(t)
	s.open()
	pid := s.core().PID
	s.kill()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.launch()
	s.painted()
	s.show("Restart the core")
	s.faded()
	s.shot("hung")
	s.click("Restart the core")
	s.eventually("the core's end", func() bool { return gone(pid) })
	s.attached()
}
