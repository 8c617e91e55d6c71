package app_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"carrel/agent/model/fakewire"
	"carrel/app"
)

// talk makes a conversation of some turns, each "Question N" and "Answer N".
func talk(t *testing.T, turns int, more ...fakewire.Reply) (*house, *fakewire.Server, app.Workspace) {
	t.Helper()
	var replies []fakewire.Reply
	for i := range turns {
		replies = append(replies, fakewire.Reply{Text: fmt.Sprintf("Answer %d about BÄUME.", i)})
	}
	h, server := modelled(t, fakewire.Once(fakewire.Steps(), append(replies, more...)...))
	_, w := h.desk(app.NewWorkspace{Name: "talk", Model: "anthropic:claude-sonnet-5-5"})
	for i := range turns {
		h.forgetEvents()
		h.send(w, fmt.Sprintf("Question %d", i))
		h.wait("the turn to end", ended(w.ID, app.Done))
	}
	return h, server, w
}

func TestATextIsFoundInTheWholeConversation(t *testing.T) {
	ctx := context.Background()
	const turns = 60 // more than are read at a time
	h, _, w := talk(t, turns)
	found, err := h.api.Conversations.Find(ctx, app.FindInConversation{Workspace: w.ID, Text: "bäume"})
	if err != nil || len(found.Hits) != turns || found.Next != 0 || found.Hits[0].Order < found.Hits[2].Order || found.Hits[0].Count != 1 {
		t.Errorf("got %+v, %v", found, err)
	}
	found, err = h.api.Conversations.Find(ctx, app.FindInConversation{Workspace: w.ID, Text: "bäume", Before: found.Hits[turns-2].Order})
	if err != nil || len(found.Hits) != 1 {
		t.Errorf("further back: %+v, %v", found, err)
	}
	if found, err = h.api.Conversations.Find(ctx, app.FindInConversation{Workspace: w.ID, Text: "nowhere"}); err != nil || len(found.Hits) != 0 {
		t.Errorf("got %+v, %v", found, err)
	}
	for _, bad := range []string{"", " \n", strings.Repeat("x", 1001)} {
		if _, err := h.api.Conversations.Find(ctx, app.FindInConversation{Workspace: w.ID, Text: bad}); code(err) != "bad_request" {
			t.Errorf("%.10q: %v", bad, err)
		}
	}
}

func TestAnEntrysRecordsCanBeLookedAt(t *testing.T) {
	ctx := context.Background()
	h, _, w := talk(t, 1)
	for _, e := range h.snapshot(w).Entries {
		raw, err := h.api.Conversations.Raw(ctx, app.EntryRequest{Workspace: w.ID, Entry: e.ID})
		want := map[app.EntryKind]string{app.EntryUser: "Question 0", app.EntryAssistant: "Answer 0"}[e.Kind]
		if err != nil || raw.Cut || !strings.Contains(raw.Text, want) || strings.Contains(raw.Text, `"setup"`) {
			t.Errorf("%s: %+v, %v", e.Kind, raw, err)
		}
	}
	if _, err := h.api.Conversations.Raw(ctx, app.EntryRequest{Workspace: w.ID, Entry: "999.0"}); code(err) != "not_found" {
		t.Errorf("what is not there: %v", err)
	}
}

func TestAConversationStartsFromAnAnswerAndTheStartIsTakenBack(t *testing.T) {
	ctx := context.Background()
	h, server, w := talk(t, 2, fakewire.Reply{Text: "On."}, fakewire.Reply{Text: "Whole."})
	of := func(kind app.EntryKind, text string) string {
		for _, e := range h.snapshot(w).Entries {
			if e.Kind == kind && strings.Contains(e.Text, text) {
				return e.ID
			}
		}
		t.Fatalf("no %s %q", kind, text)
		return ""
	}
	calls := h.api.Conversations
	if err := calls.StartHere(ctx, app.EntryRequest{Workspace: w.ID, Entry: of(app.EntryUser, "Question 0")}); code(err) != "bad_request" {
		t.Errorf("from a question: %v", err)
	}
	start := func() string {
		t.Helper()
		if err := calls.StartHere(ctx, app.EntryRequest{Workspace: w.ID, Entry: of(app.EntryAssistant, "Answer 0")}); err != nil {
			t.Fatal(err)
		}
		return of(app.EntryBoundary, "Answer 0")
	}
	if err := calls.UndoStart(ctx, app.EntryRequest{Workspace: w.ID, Entry: start()}); err != nil {
		t.Fatal(err)
	}
	for _, e := range h.snapshot(w).Entries {
		if e.Kind == app.EntryBoundary {
			t.Errorf("after it was taken back: %+v", e)
		}
	}
	h.wait("word of it", func(e app.Event) bool { _, ok := e.(app.EntriesReplaced); return ok })
	say := func(text string) string {
		t.Helper()
		h.forgetEvents()
		h.send(w, text)
		h.wait("the turn to end", ended(w.ID, app.Done))
		all := server.Requests()
		return string(all[len(all)-1].Raw)
	}
	if sent := say("Whole?"); !strings.Contains(sent, "Question 0") || !strings.Contains(sent, "Answer 1") {
		t.Errorf("after it was taken back: %s", sent)
	}
	boundary := start()
	if sent := say("And?"); strings.Contains(sent, "Question 0") || strings.Contains(sent, "Answer 1") || !strings.Contains(sent, "Answer 0") || !strings.Contains(sent, "And?") {
		t.Errorf("after the start: %s", sent)
	}
	if err := calls.UndoStart(ctx, app.EntryRequest{Workspace: w.ID, Entry: boundary}); code(err) != "conflict" {
		t.Errorf("after it went on: %v", err)
	}
	if n := len(texts(h.snapshot(w), app.EntryUser)); n != 4 {
		t.Errorf("%d messages are shown", n)
	}
}

func TestAForkEndsWhereItWasMade(t *testing.T) {
	ctx := context.Background()
	h, _, w := talk(t, 3)
	entries := h.snapshot(w).Entries
	for _, c := range []struct {
		kind      app.EntryKind
		text      string
		questions int
		draft     string
	}{{app.EntryAssistant, "Answer 0", 1, ""}, {app.EntryUser, "Question 1", 1, "Question 1"}, {app.EntryAssistant, "Answer 2", 3, ""}} {
		for _, e := range entries {
			if e.Kind != c.kind || !strings.HasPrefix(e.Text, c.text) {
				continue
			}
			name := strings.ToLower(strings.ReplaceAll(c.text, " ", "-"))
			made, err := h.api.Workspaces.Fork(ctx, app.ForkWorkspace{Workspace: w.ID, Name: name, Entry: e.ID})
			if err != nil {
				t.Fatal(err)
			}
			fork := h.snapshot(made.Workspace)
			if n := len(texts(fork, app.EntryUser)); n != c.questions || fork.Draft != c.draft {
				t.Errorf("%s: %d questions, draft %q", c.text, n, fork.Draft)
			}
		}
	}
	if _, err := h.api.Workspaces.Fork(ctx, app.ForkWorkspace{Workspace: w.ID, Name: "x", Entry: "999.0"}); code(err) != "not_found" {
		t.Errorf("from what is not there: %v", err)
	}
}
