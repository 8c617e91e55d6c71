//go:build linux

package core

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"carrel/app"
	"carrel/app/attach"
)

// A call waits for the person, the core is killed at each of its questions, and the next core asks the same.
func TestAKilledCoresQuestionsAreAskedByTheNext(t *testing.T) {
	p := newPerson(t)
	var project app.Project
	p.call("projects.add", app.AddProject{Path: newRepo(t)}, &project)
	var w app.Workspace
	p.call("workspaces.create", app.NewWorkspace{ProjectID: project.ID, Name: "desk", Model: "demo:demo"}, &w)
	p.call("conversations.setMode", app.SetMode{Workspace: w.ID, Mode: "ask"}, nil)
	p.call("conversations.send", app.SendMessage{Workspace: w.ID, Text: "Do it", ID: "m1"}, nil)
	answered := ""
	for n := 0; ; n++ {
		var c app.Conversation
		eventually(t, "a question or the end", func() bool {
			p.call("conversations.open", app.ByID{ID: w.ID}, &c)
			q := c.Status.Question
			return q != nil && q.Call != answered || c.Status.Activity == app.Done || c.Status.Activity == app.Idle
		})
		if c.Status.Question == nil {
			if n == 0 {
				t.Error("it did not ask")
			}
			break
		}
		q := *c.Status.Question
		core, err := attach.Find(t.Context(), p.root)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(core.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		receive(t, p.resets)
		p.call("conversations.open", app.ByID{ID: w.ID}, &c)
		if c.Status.Activity != app.Waiting || c.Status.Question == nil || c.Status.Question.Call != q.Call || c.Status.Question.Entry != q.Entry {
			t.Fatalf("asked %+v, after the kill it is %s: %+v", q, c.Status.Activity, c.Status.Question)
		}
		waits := false
		for _, e := range c.Entries {
			waits = waits || e.ID == q.Entry && e.Tool != nil && e.Tool.Asks && e.Tool.Status == app.ToolPending
		}
		if !waits {
			t.Errorf("the call's entry does not wait: %+v", c.Entries[len(c.Entries)-1])
		}
		p.call("permissions.answer", app.AnswerQuestion{Workspace: w.ID, Call: q.Call, Answer: app.AnswerOnce}, nil)
		answered = q.Call
	}
	if text, err := os.ReadFile(filepath.Join(w.Dir, "DEMO.md")); err != nil || len(text) == 0 {
		t.Errorf("it did not go on: %q, %v", text, err)
	}
	_ = p.client.Close()
}
