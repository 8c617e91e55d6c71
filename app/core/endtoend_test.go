//go:build linux

package core

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/wire"
	"carrel/store"
)

// person is a host with the real application behind it.
type person struct {
	t       *testing.T
	root    *store.Root
	client  *wire.Client
	entries chan app.Entry // new and changed ones
	resets  chan struct{}
}

func newPerson(t *testing.T) *person {
	t.Setenv(realApp, "1")
	t.Setenv("HOME", t.TempDir())
	p := &person{t: t, root: openRoot(t), entries: make(chan app.Entry, 1000), resets: make(chan struct{}, 8)}
	t.Cleanup(func() { killCores(t, p.root) })
	p.client = dial(t, wire.ClientOptions{Reset: func() { p.resets <- struct{}{} }, Events: p.event}, func(ctx context.Context) (attach.Core, error) {
		return attach.Ensure(ctx, p.root, self(t))
	})
	return p
}

func (p *person) event(e wire.Event) {
	if e.Name != "entry.changed" {
		return
	}
	var changed app.EntryChanged
	if err := json.Unmarshal(e.Data, &changed); err != nil {
		p.t.Error(err)
	}
	p.entries <- changed.Entry
}

func (p *person) call(name string, in, out any) {
	p.t.Helper()
	if err := p.client.Call(p.t.Context(), name, in, out); err != nil {
		p.t.Fatalf("%s: %v; log:\n%s", name, err, coreLog(p.root))
	}
}

// sees waits for an entry.
func (p *person) sees(ok func(app.Entry) bool) app.Entry {
	p.t.Helper()
	for {
		if e := receive(p.t, p.entries); ok(e) {
			return e
		}
	}
}

func newRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("# A project\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@t.test", "commit", "-qm", "first"},
		{"config", "user.name", "t"}, {"config", "user.email", "t@t.test"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

func TestAKilledCoreLosesNothingOfATurn(t *testing.T) {
	p := newPerson(t)
	var project app.Project
	p.call("projects.add", app.AddProject{Path: newRepo(t)}, &project)
	var w app.Workspace
	p.call("workspaces.create", app.NewWorkspace{ProjectID: project.ID, Name: "desk", Model: "demo:demo"}, &w)
	p.client.Join("conversation/" + w.ID)
	p.call("conversations.send", app.SendMessage{Workspace: w.ID, Text: "slow, please", ID: "m1"}, nil)
	p.sees(func(e app.Entry) bool {
		return e.Tool != nil && e.Tool.Status == app.ToolRunning && strings.Contains(e.Tool.Input, "sleep 20")
	})
	first, err := attach.Find(t.Context(), p.root)
	if err != nil || !first.Busy {
		t.Fatalf("%+v, %v", first, err)
	}
	if err := first.Stop(t.Context()); err == nil {
		t.Error("stopped while a turn runs")
	}

	if err := syscall.Kill(first.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	receive(t, p.resets)
	var c app.Conversation
	p.call("conversations.open", app.ByID{ID: w.ID}, &c)
	var said, interrupted int
	for _, e := range c.Entries {
		if e.Kind == app.EntryUser && e.Text == "slow, please" {
			said++
		}
		if e.Tool != nil && strings.Contains(e.Tool.Input, "sleep 20") && e.Tool.Status == app.ToolInterrupted {
			interrupted++
		}
	}
	if said != 1 || interrupted != 1 {
		t.Errorf("%d messages and %d interrupted calls in %+v", said, interrupted, c.Entries)
	}
	eventually(t, "the end of the command", func() bool { return !runsIn(w.Dir) })

	p.call("conversations.send", app.SendMessage{Workspace: w.ID, Text: "now quickly", ID: "m2"}, nil)
	p.call("conversations.send", app.SendMessage{Workspace: w.ID, Text: "now quickly", ID: "m2"}, nil) // twice is once
	eventually(t, "the end of the turn", func() bool {
		p.call("conversations.open", app.ByID{ID: w.ID}, &c)
		return c.Status.Activity == app.Done || c.Status.Activity == app.Idle
	})
	said = 0
	for _, e := range c.Entries {
		if e.Kind == app.EntryUser && e.Text == "now quickly" {
			said++
		}
	}
	if said != 1 {
		t.Errorf("said %d times", said)
	}
	_ = p.client.Close()
}

// runsIn reports whether a process works in dir.
func runsIn(dir string) bool {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if cwd, err := os.Readlink(link); err == nil && strings.HasPrefix(cwd, dir) {
			return true
		}
	}
	return false
}
