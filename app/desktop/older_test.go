//go:build linux && desktop && window

package desktop

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"carrel/app"
	"carrel/app/attach"
)

// olderCore builds a core that says that it is of another version.
func olderCore(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "carrel")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-X carrel/app.version=0.0.1", "-o", path, "carrel")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build an older core: %v\n%s", err, out)
	}
	return path
}

func TestWindowSaysThatAnOlderCoreGoesOnUntilItsWorkEnds(t *testing.T) {
	exe := olderCore(t) // while the caches of the go command are where they always are
	s := newStage(t)
	old, err := attach.Ensure(t.Context(), s.root, exe)
	if err != nil || old.Version != "0.0.1" {
		t.Fatalf("core %+v, %v", old, err)
	}
	p := call1[app.Project](s, "projects.add", app.AddProject{Path: repository(t, "old")})
	ws := call1[app.Workspace](s, "workspaces.create", app.NewWorkspace{ProjectID: p.ID, Title: "Take long", Model: "demo:demo"})
	for range 6 { // 20 seconds each: longer than a window takes to open anywhere
		call1[struct{}](s, "conversations.send", app.SendMessage{Workspace: ws.ID, Text: "be slow", Dispatch: app.AfterTurn})
	}
	eventually(t, "the long command runs", func() bool { return len(sleepers(t, ws.ID)) > 0 })
	s.open()
	s.show("This is still Carrel 0.0.1, started before the update.")
	s.shot("older")
	if s.core().PID != old.PID {
		t.Error("the older core was replaced while it worked")
	}
	call1[struct{}](s, "conversations.interrupt", app.ByID{ID: ws.ID})
	s.eventually("the new core takes over", func() bool { return gone(old.PID) && s.found() != 0 })
	s.attached()
	s.show("Take long")
	s.eventually("the bar is gone", func() bool { return s.ask(`document.body.innerText.includes("This is still Carrel")`) == "false" })
}
