//go:build linux && desktop && window

package desktop

import (
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
