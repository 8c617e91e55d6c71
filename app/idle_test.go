package app_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carrel/app"
	"carrel/store"
)

// isOpen reports whether a workspace's conversation is open in this or another process.
func (h *house) isOpen(w app.Workspace) bool {
	h.t.Helper()
	lock, err := h.root.LockSession(w.ID)
	var held *store.LockedError
	if errors.As(err, &held) {
		return true
	}
	if err := errors.Join(err, lock.Close()); err != nil {
		h.t.Fatal(err)
	}
	return false
}

// later is long after whatever was done.
func later() time.Time { return time.Now().Add(time.Hour) }

func TestAnIdleConversationIsClosedAndOpensAgainAsItWas(t *testing.T) {
	h := newHouse(t)
	_, w := h.desk(app.NewWorkspace{Name: "sleepy"})
	h.send(w, "Do it")
	h.wait("the turn to end", ended(w.ID, app.Done))
	before := h.snapshot(w)
	h.app.CloseIdle(time.Now())
	if !h.isOpen(w) {
		t.Error("it was closed at once")
	}
	h.app.CloseIdle(later())
	if h.isOpen(w) {
		t.Error("it was not closed")
	}
	files, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if to, err := os.Readlink(f); err == nil && strings.Contains(to, filepath.Join("sessions", w.ID)) {
			t.Errorf("%s is still open", to)
		}
	}
	after := h.snapshot(w)
	if len(after.Entries) != len(before.Entries) || after.Status.Activity != before.Status.Activity || after.Status.Usage.Output != before.Status.Usage.Output {
		t.Errorf("was %d entries %+v, and is %d %+v", len(before.Entries), before.Status, len(after.Entries), after.Status)
	}
	// A host that kept its copy goes on with it.
	r := newReplica(after)
	h.app.CloseIdle(later())
	h.mu.Lock()
	h.events = nil
	h.mu.Unlock()
	h.send(w, "Once more")
	h.wait("the turn to end", ended(w.ID, app.Done))
	final := h.snapshot(w)
	h.mu.Lock()
	events := slices.Clone(h.events)
	h.mu.Unlock()
	for _, e := range events {
		if err := r.apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.ordered(); len(got) != len(final.Entries) || r.rev != final.Rev {
		t.Errorf("the copy has %d entries at %d, the conversation %d at %d", len(got), r.rev, len(final.Entries), final.Rev)
	}
}

func TestWhatIsNotIdleStaysOpen(t *testing.T) {
	h := newHouse(t)
	working := h.sleeping("working")
	queued := h.sleeping("queued")
	h.send(queued, "and then this")
	if err := h.api.Conversations.Interrupt(context.Background(), app.ByID{ID: queued.ID}); err != nil {
		t.Fatal(err)
	}
	watched := h.plainDesk("watched")
	h.snapshot(watched)
	h.app.SetAudience(func(topic string) bool { return topic == "conversation/"+watched.ID })
	h.app.CloseIdle(later())
	for _, w := range []app.Workspace{working, queued, watched} {
		if !h.isOpen(w) {
			t.Errorf("%s was closed", w.Name)
		}
	}
	if c := h.snapshot(queued); len(c.Status.Queue) != 1 || !c.Status.Held {
		t.Errorf("the queue is %+v", c.Status)
	}
	if c := h.snapshot(working); c.Status.Activity != app.RunningTools {
		t.Errorf("the turn is %s", c.Status.Activity)
	}
	h.app.SetAudience(func(string) bool { return false })
	h.app.CloseIdle(later())
	if h.isOpen(watched) {
		t.Error("nobody watches it any more, and it stays open")
	}
}

func TestClosingIdleConversationsNeverMeetsACall(t *testing.T) {
	h := newHouse(t)
	w := h.plainDesk("busy")
	ctx, stop := context.WithCancel(context.Background())
	var closing, calling sync.WaitGroup
	closing.Go(func() {
		for ctx.Err() == nil {
			h.app.CloseIdle(later())
		}
	})
	for i := range 4 {
		calling.Go(func() {
			for n := range 25 {
				c, err := h.api.Conversations.Open(ctx, app.ByID{ID: w.ID})
				if err == nil {
					_, err = h.api.Conversations.Page(ctx, app.PageRequest{Workspace: w.ID, Before: 1 << 40})
				}
				if err == nil && i == 0 && n%5 == 0 {
					err = h.api.Conversations.Send(ctx, app.SendMessage{Workspace: w.ID, Text: "hello", ID: fmt.Sprint("m", n)})
				}
				if err == nil {
					err = h.api.Workspaces.SetModel(ctx, app.SetModel{Workspace: w.ID, Model: &c.Status.Model})
				}
				if err != nil {
					t.Errorf("call %d: %v", n, err)
					return
				}
			}
		})
	}
	calling.Wait()
	stop()
	closing.Wait()
	h.wait("the last turn to end", func(e app.Event) bool {
		c, ok := e.(app.ConversationChanged)
		return ok && len(c.Status.Queue) == 0 && c.Status.Activity == app.Done
	})
}
