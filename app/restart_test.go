package app_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"carrel/agent/model/fakewire"
	"carrel/app"
)

// plainDesk makes a local workspace in a folder without git, which is quick.
func (h *house) plainDesk(name string) app.Workspace {
	h.t.Helper()
	p, err := h.api.Projects.Add(context.Background(), app.AddProject{Path: h.t.TempDir(), Name: name})
	if err != nil {
		h.t.Fatal(err)
	}
	w, err := h.api.Workspaces.Create(context.Background(), app.NewWorkspace{ProjectID: p.ID, Name: name})
	if err != nil {
		h.t.Fatal(err)
	}
	return w
}

func (h *house) listed(id string) app.Workspace {
	h.t.Helper()
	all, err := h.api.Workspaces.List(context.Background(), app.ListWorkspaces{Archived: true})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, w := range all {
		if w.ID == id {
			return w
		}
	}
	h.t.Fatalf("workspace %s is not listed", id)
	return app.Workspace{}
}

func (h *house) forgetEvents() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = nil
}

func becomes(id string, want app.Activity) func(app.Event) bool {
	return func(e app.Event) bool {
		c, ok := e.(app.WorkspaceChanged)
		return ok && c.Workspace.ID == id && c.Workspace.Activity == want
	}
}

// A core that is killed leaves the log as it was after some record. Whatever that record was, the next
// core says that the turn was cut off, and runs nothing again. Where only the end of the turn is missing,
// it was answered, and is done.
func TestACoreKilledAfterAnyRecordLeavesATruthfulConversation(t *testing.T) {
	h := newHouse(t)
	w := h.plainDesk("killed")
	h.send(w, "Do it")
	h.wait("the turn to end", ended(w.ID, app.Done))
	h.stop()
	dir := h.root.Path("sessions", w.ID)
	whole, err := os.ReadFile(filepath.Join(dir, "transcript.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	before := tree(t, w.Dir)
	lines := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
	if len(lines) < 12 {
		t.Fatalf("a turn of %d records", len(lines))
	}
	for n := 1; n < len(lines); n++ {
		log := bytes.Join(lines[:n], nil)
		log = append(log, lines[n][:len(lines[n])/2]...) // the next record, torn
		for _, name := range []string{"index", "fold", "unseen"} {
			_ = os.Remove(filepath.Join(dir, name)) // the kill came before they were written
		}
		write(t, filepath.Join(dir, "transcript.jsonl"), string(log))
		h.forgetEvents()
		h.start()
		answered := n == len(lines)-1
		want := app.Interrupted
		if answered {
			want = app.Done
		}
		h.wait("the cut-off turn", becomes(w.ID, want))
		c := h.snapshot(w)
		if c.Status.Activity != want {
			t.Errorf("after %d records: %s", n, c.Status.Activity)
		}
		last := c.Entries[len(c.Entries)-1]
		if crashed := last.Kind == app.EntryTurnEnd && last.Code == "crashed"; crashed == answered {
			t.Errorf("after %d records: the last entry is %+v", n, last)
		}
		for _, e := range c.Entries {
			if e.Live || e.Tool != nil && (e.Tool.Status == app.ToolPending || e.Tool.Status == app.ToolRunning) {
				t.Errorf("after %d records: entry %s is still at work: %+v", n, e.ID, e.Tool)
			}
		}
		h.stop()
		if after := tree(t, w.Dir); after != before {
			t.Fatalf("after %d records something ran again: %s, was %s", n, after, before)
		}
	}
	h.start() // for the house's own end
}

// tree tells names, sizes and times of a folder's files.
func tree(t *testing.T, dir string) string {
	t.Helper()
	out := ""
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			out += path + " " + info.ModTime().String() + "\n"
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheListRemembersHowTurnsEnded(t *testing.T) {
	h := newHouse(t)
	done, stopped := h.plainDesk("done"), h.plainDesk("stopped")
	h.send(done, "Do it")
	h.wait("the turn to end", ended(done.ID, app.Done))
	h.send(stopped, "slow please")
	h.wait("the sleep to run", runningSleep)
	h.send(stopped, "and then this")
	h.stop()
	h.forgetEvents()

	h.start()
	h.wait("done", becomes(done.ID, app.Done))
	h.wait("stopped", becomes(stopped.ID, app.Interrupted))
	c := h.snapshot(stopped)
	if !c.Status.Held || len(c.Status.Queue) != 1 || c.Status.Queue[0].Text != "and then this" {
		t.Errorf("the queue is %+v, held %v", c.Status.Queue, c.Status.Held)
	}
	h.snapshot(done)
	if err := h.api.Workspaces.MarkSeen(context.Background(), app.ByID{ID: done.ID}); err != nil {
		t.Fatal(err)
	}
	if got := h.listed(done.ID).Activity; got != app.Idle {
		t.Errorf("seen, and %s", got)
	}
	h.wait("the conversation to say so", ended(done.ID, app.Idle))
	h.stop()
	h.forgetEvents()

	h.start()
	h.wait("stopped", becomes(stopped.ID, app.Interrupted))
	if got := h.listed(done.ID).Activity; got != app.Idle {
		t.Errorf("seen before the restart, and %s", got)
	}
}

// A request that waited to be sent again when the core was killed waits on in the next one.
func TestACoreKilledInACountdownGoesOnWaiting(t *testing.T) {
	ctx := context.Background()
	h, server := modelled(t, fakewire.Steps(fakewire.Reply{Status: http.StatusTooManyRequests, ErrorType: "rate_limit_error",
		ErrorMessage: "slowly", RetryAfter: "600"}))
	_, w := h.desk(app.NewWorkspace{Name: "waiting", Model: "anthropic:claude-sonnet-5-5"})
	h.send(w, "Hello")
	h.wait("the wait", ended(w.ID, app.Retrying))
	path := filepath.Join(h.root.Path("sessions", w.ID), "transcript.jsonl")
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h.stop()
	for _, name := range []string{"index", "fold", "unseen"} {
		_ = os.Remove(filepath.Join(filepath.Dir(path), name)) // the kill came before they were written
	}
	write(t, path, string(log))
	h.forgetEvents()
	h.start("ANTHROPIC_BASE_URL="+server.URL, "ANTHROPIC_API_KEY=sk-test-key")
	if s := h.snapshot(w).Status; s.Activity != app.Recovering || s.Retry == nil || s.Retry.Attempt != 2 {
		t.Errorf("%s, %+v", s.Activity, s.Retry)
	}
	if err := h.api.Conversations.StopRetry(ctx, app.ByID{ID: w.ID}); err != nil {
		t.Fatal(err)
	}
	h.wait("the end of the wait", ended(w.ID, app.Failed))
	if c := h.snapshot(w); c.Status.Activity != app.Failed || len(server.Requests()) != 1 {
		t.Errorf("%s after %d requests", c.Status.Activity, len(server.Requests()))
	}
}
