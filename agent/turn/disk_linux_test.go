package turn_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"carrel/agent/tool"
	"carrel/agent/turn"
)

func TestAFullDiskStopsTheTurnBeforeAnythingRunsUnrecorded(t *testing.T) { // O-DATA-01
	dir := t.TempDir()
	session := filepath.Join(dir, "session")
	if err := os.Mkdir(session, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", session, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("mounting a small disk needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(session, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	runs := 0
	fill := fakeTool{name: "fill", run: func(context.Context, tool.Call) tool.Result {
		f, err := os.Create(filepath.Join(session, "ballast"))
		if err != nil {
			return tool.Fail(err.Error())
		}
		for err == nil {
			_, err = f.Write(make([]byte, 4096))
		}
		_ = f.Close()
		return tool.Text(strings.Repeat("x", 8192))
	}}
	write := fakeTool{name: "write", run: func(context.Context, tool.Call) tool.Result {
		runs++
		return tool.Text("ran")
	}}
	d := deskIn(t, dir, fill, write)
	d.model.then(calls(use("a", "fill", "{}"), use("b", "write", "{}")))
	d.ask("go", turn.Failed)
	if s := d.now(); s.Code != turn.CodeLog || !strings.Contains(s.Error, "disk space") || runs != 0 {
		t.Errorf("code %q, %d runs: %s", s.Code, runs, s.Error)
	}
	if got := d.users(); len(got) != 1 { // still readable
		t.Errorf("%q", got)
	}
	if err := d.Send(context.Background(), turn.Message{ID: "m", Text: strings.Repeat("more", 2000)}); err == nil {
		t.Error("a message was taken that could not be recorded")
	}
	if err := os.Remove(filepath.Join(session, "ballast")); err != nil {
		t.Fatal(err)
	}
	d.model.then(calls(use("c", "write", "{}")))
	d.ask("continue", turn.Idle)
	if runs != 1 || d.log.State().Damaged != 0 || len(d.users()) != 2 {
		t.Errorf("%d runs, users %q, %+v", runs, d.users(), d.log.State())
	}
	checkPaired(t, d.model.seen()[1], "a", "b")
}
