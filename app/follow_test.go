package app_test

import (
	"context"
	"testing"
	"time"

	"carrel/app"
	"carrel/store"
)

// beside is a second application on the same root, as `carrel run` beside a core.
func (h *house) beside(headless bool) *house {
	h.t.Helper()
	root, err := store.Open(h.root.Dir())
	if err != nil {
		h.t.Fatal(err)
	}
	other := assembled(h.t, root)
	other.headless = headless
	other.start()
	h.t.Cleanup(func() { other.stop(); _ = root.Close() })
	return other
}

func runningSleep(e app.Event) bool {
	c, ok := e.(app.EntryChanged)
	return ok && c.Entry.Tool != nil && c.Entry.Tool.Status == app.ToolRunning && contains(c.Entry.Tool.Input, "sleep")
}

func TestAConversationOfAnotherProcessIsFollowedAndTakenOver(t *testing.T) {
	core := newHouse(t)
	run := core.beside(true)
	_, w := run.desk(app.NewWorkspace{Name: "elsewhere", Runtime: "local"})
	run.snapshot(w)
	run.send(w, "slow please")
	run.wait("the sleep to run", runningSleep)

	first := core.snapshot(w)
	r := newReplica(first)
	if first.Status.Activity != app.RunningTools || first.Status.Model != "demo:demo" {
		t.Errorf("the follower sees %s with %q", first.Status.Activity, first.Status.Model)
	}
	last := first.Entries[len(first.Entries)-1]
	if last.Tool == nil || last.Tool.Status != app.ToolRunning {
		t.Errorf("the running call is %+v", last)
	}
	core.wait("elsewhere", func(e app.Event) bool {
		c, ok := e.(app.WorkspaceChanged)
		return ok && c.Workspace.ID == w.ID && c.Workspace.Elsewhere && c.Workspace.Activity == app.RunningTools
	})
	ctx := context.Background()
	if err := core.api.Conversations.Send(ctx, app.SendMessage{Workspace: w.ID, Text: "me too"}); code(err) != "elsewhere" {
		t.Errorf("sending: %v", err)
	}
	if err := core.api.Workspaces.SetModel(ctx, app.SetModel{Workspace: w.ID, Model: new("demo:demo")}); err != nil {
		t.Errorf("choosing a model for later: %v", err)
	}
	if core.app.Busy() {
		t.Error("another process's turn keeps this one busy")
	}
	if err := run.api.Conversations.Interrupt(ctx, app.ByID{ID: w.ID}); err != nil {
		t.Fatal(err)
	}
	run.stop()
	core.wait("the end of elsewhere", func(e app.Event) bool {
		c, ok := e.(app.WorkspaceChanged)
		return ok && c.Workspace.ID == w.ID && !c.Workspace.Elsewhere && c.Workspace.Activity == app.Interrupted
	})
	core.mu.Lock()
	core.events, r.rev = append([]app.Event(nil), core.events...), first.Rev
	events := core.events
	core.mu.Unlock()
	for _, e := range events {
		if err := r.apply(e); err != nil {
			t.Fatal(err)
		}
	}
	same(t, r.ordered(), core.snapshot(w).Entries)
	core.send(w, "Hello again")
	core.wait("a turn of ours", ended(w.ID, app.Done))
}

// same compares what a host has put together with a snapshot.
func same(t *testing.T, got, want []app.Entry) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d entries, want %d", len(got), len(want))
	}
	for i, g := range got {
		w := want[i]
		if g.ID != w.ID || g.Text != w.Text || g.Live != w.Live || (g.Tool == nil) != (w.Tool == nil) {
			t.Errorf("entry %d is %+v, want %+v", i, g, w)
		} else if g.Tool != nil && (g.Tool.Status != w.Tool.Status || g.Tool.Output != w.Tool.Output) {
			t.Errorf("call %d is %+v, want %+v", i, g.Tool, w.Tool)
		}
	}
}

func TestWorkOfAnotherProcessShowsInTheList(t *testing.T) {
	core := newHouse(t)
	run := core.beside(true)
	_, w := run.desk(app.NewWorkspace{Name: "news"})
	core.wait("the workspace", func(e app.Event) bool {
		c, ok := e.(app.WorkspaceChanged)
		return ok && c.Workspace.ID == w.ID
	})
	core.snapshot(w)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := run.api.Workspaces.Delete(ctx, app.DeleteWorkspace{ID: w.ID, Confirm: w.Name}); err != nil {
		t.Fatal(err)
	}
	core.wait("its end", func(e app.Event) bool {
		c, ok := e.(app.WorkspaceRemoved)
		return ok && c.ID == w.ID
	})
	if _, err := core.api.Conversations.Open(ctx, app.ByID{ID: w.ID}); code(err) != "not_found" {
		t.Errorf("opening what is gone: %v", err)
	}
}
