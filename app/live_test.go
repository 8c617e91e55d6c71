package app_test

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"testing"
	"time"
	"unicode/utf16"

	"carrel/app"
)

// replica is a host's copy of a conversation: a snapshot, and the events above its revision.
type replica struct {
	rev     uint64
	entries map[string]app.Entry
}

func newReplica(c app.Conversation) *replica {
	r := &replica{rev: c.Rev, entries: map[string]app.Entry{}}
	for _, e := range c.Entries {
		r.entries[e.ID] = e
	}
	return r
}

// apply takes one event, as a host does. It fails when text was missed.
func (r *replica) apply(e app.Event) error {
	switch e := e.(type) {
	case app.EntryChanged:
		if e.Rev > r.rev {
			r.rev, r.entries[e.Entry.ID] = e.Rev, e.Entry
		}
	case app.EntryGrew:
		if e.Rev > r.rev {
			r.rev = e.Rev
			return r.grow(e)
		}
	case app.EntriesRemoved:
		if e.Rev > r.rev {
			r.rev = e.Rev
			for _, id := range e.IDs {
				delete(r.entries, id)
			}
		}
	case app.ConversationChanged:
		r.rev = max(r.rev, e.Rev)
	}
	return nil
}

func (r *replica) grow(e app.EntryGrew) error {
	entry, ok := r.entries[e.Entry]
	if !ok {
		return fmt.Errorf("entry %s grew before it was there", e.Entry)
	}
	field := &entry.Text
	switch e.Field {
	case "input":
		field = &entry.Tool.Input
	case "output":
		field = &entry.Tool.Output
	}
	if have := len(utf16.Encode([]rune(*field))); have != e.At {
		return fmt.Errorf("entry %s has %d of %s, and grew at %d", e.Entry, have, e.Field, e.At)
	}
	if entry.Tool != nil {
		tool := *entry.Tool
		entry.Tool = &tool
		field = &entry.Tool.Input
		if e.Field == "output" {
			field = &entry.Tool.Output
		}
	}
	*field += e.Text
	r.entries[e.Entry] = entry
	return nil
}

func (r *replica) ordered() []app.Entry {
	out := make([]app.Entry, 0, len(r.entries))
	for _, e := range r.entries {
		out = append(out, e)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Order < out[j].Order })
	return out
}

func TestASnapshotAtAnyMomentAndTheEventsAfterItFitTogether(t *testing.T) {
	h := newHouse(t, "CARREL_DEMO_DELAY=1ms")
	_, w := h.desk(app.NewWorkspace{Name: "replicas"})
	h.snapshot(w)
	h.send(w, "Show me")
	var replicas []*replica
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) { // as many snapshots as the turn takes
		c := h.snapshot(w)
		replicas = append(replicas, newReplica(c))
		if c.Status.Activity == app.Done {
			break
		}
	}
	h.wait("the turn to end", ended(w.ID, app.Done))
	final := h.snapshot(w)
	h.mu.Lock()
	events := append([]app.Event(nil), h.events...)
	h.mu.Unlock()
	if len(replicas) < 3 {
		t.Fatalf("only %d snapshots were taken while the turn ran", len(replicas))
	}
	for i, r := range replicas {
		for _, e := range events {
			if err := r.apply(e); err != nil {
				t.Fatalf("replica %d of %d: %v", i, len(replicas), err)
			}
		}
		got := r.ordered()
		if len(got) != len(final.Entries) {
			t.Fatalf("replica %d has %d entries, want %d", i, len(got), len(final.Entries))
		}
		for j, e := range got {
			if want := final.Entries[j]; e.ID != want.ID || e.Text != want.Text || e.Live {
				t.Errorf("replica %d entry %d is %+v, want %+v", i, j, e, want)
			}
		}
	}
}

func TestAnInterruptStopsACommandAndSaysSo(t *testing.T) {
	h := newHouse(t)
	_, w := h.desk(app.NewWorkspace{Name: "slowly"})
	h.send(w, "slow please")
	h.wait("the sleep to run", func(e app.Event) bool {
		c, ok := e.(app.EntryChanged)
		return ok && c.Entry.Tool != nil && c.Entry.Tool.Status == app.ToolRunning && contains(c.Entry.Tool.Input, "sleep")
	})
	start := time.Now()
	if err := h.api.Conversations.Interrupt(context.Background(), app.ByID{ID: w.ID}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 15*time.Second { // the command takes 20
		t.Errorf("interrupting took %v", took)
	}
	h.wait("interrupted", ended(w.ID, app.Interrupted))
	var sleeps []app.Entry
	for _, e := range h.snapshot(w).Entries {
		if e.Tool != nil && contains(e.Tool.Input, "sleep") {
			sleeps = append(sleeps, e)
		}
	}
	if len(sleeps) != 1 || sleeps[0].Tool.Status != app.ToolInterrupted {
		t.Errorf("the call is %+v, want one that was interrupted", sleeps)
	}
}

func contains(s, part string) bool {
	for i := 0; i+len(part) <= len(s); i++ {
		if s[i:i+len(part)] == part {
			return true
		}
	}
	return false
}

func TestPagesLeadToTheFirstMessageWithoutGaps(t *testing.T) {
	h := newHouse(t)
	_, w := h.desk(app.NewWorkspace{Name: "pages"})
	for range 12 {
		n := len(h.snapshot(w).Entries)
		h.mu.Lock()
		h.events = nil
		h.mu.Unlock()
		h.send(w, "Again")
		h.wait("the turn to end", ended(w.ID, app.Done))
		if got := len(h.snapshot(w).Entries); got < n && n < 100 {
			t.Fatalf("entries went from %d to %d", n, got)
		}
	}
	c := h.snapshot(w)
	seen := map[string]bool{}
	var before uint64
	users := 0
	for more, entries := c.More, c.Entries; ; {
		for i, e := range entries {
			if seen[e.ID] {
				t.Fatalf("entry %s came twice", e.ID)
			}
			if i > 0 && e.Order <= entries[i-1].Order {
				t.Fatalf("entry %s is out of order", e.ID)
			}
			if e.Tool != nil && e.Tool.Status != app.ToolOK {
				t.Errorf("call %s is %s", e.ID, e.Tool.Status)
			}
			seen[e.ID] = true
			if e.Kind == app.EntryUser {
				users++
			}
		}
		if !more {
			break
		}
		before = entries[0].Order
		page, err := h.api.Conversations.Page(context.Background(), app.PageRequest{Workspace: w.ID, Before: before, Limit: 7})
		if err != nil || len(page.Entries) == 0 {
			t.Fatalf("page before %d: %d entries, %v", before, len(page.Entries), err)
		}
		more, entries = page.More, page.Entries
	}
	if users != 12 {
		t.Errorf("found %d messages, want 12", users)
	}
}

func TestDeletingStopsTheTurnAndAsksForWorkAtRisk(t *testing.T) { // O-GIT-05
	h := newHouse(t)
	_, w := h.desk(app.NewWorkspace{Name: "risky"})
	h.send(w, "Commit something")
	h.wait("the turn to end", ended(w.ID, app.Done))
	ctx := context.Background()
	if err := h.api.Workspaces.Delete(ctx, app.DeleteWorkspace{ID: w.ID}); code(err) != "confirm" {
		t.Fatalf("deleting a commit that is nowhere else: %v, want to be asked", err)
	}
	risk, err := h.api.Workspaces.AtRisk(ctx, app.RiskOfDeleting{ID: w.ID})
	if err != nil || risk.Clean || risk.Counts.Commits != 1 || risk.Confirm != "risky" {
		t.Fatalf("at risk %+v, %v", risk, err)
	}
	if err := h.api.Workspaces.Delete(ctx, app.DeleteWorkspace{ID: w.ID, Confirm: "risky"}); err != nil {
		t.Fatal(err)
	}
	left, err := h.api.Workspaces.List(ctx, app.ListWorkspaces{Archived: true})
	if err != nil || len(left) != 0 {
		t.Errorf("workspaces left: %+v, %v", left, err)
	}
}

func code(err error) string {
	var e *app.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
