package app_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"

	"carrel/agent/model/fakewire"
	"carrel/app"
	"carrel/store"
)

func TestAllConversationsGiveABrokenProviderARest(t *testing.T) {
	ctx := context.Background()
	h, server := modelled(t, fakewire.Steps(fakewire.Reply{Status: http.StatusServiceUnavailable, ErrorType: "overloaded_error", ErrorMessage: "busy"}))
	_, first := h.desk(app.NewWorkspace{Name: "first", Model: "anthropic:claude-sonnet-5-5"})
	second := h.plainDesk("second")
	if err := h.api.Workspaces.SetAutoRetry(ctx, app.SetAutoRetry{Workspace: first.ID}); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		h.forgetEvents()
		h.send(first, "Are you there?")
		h.wait("the failure", ended(first.ID, app.Failed))
	}
	asked := len(server.Requests())
	model := "anthropic:claude-sonnet-5-5"
	if err := h.api.Workspaces.SetModel(ctx, app.SetModel{Workspace: second.ID, Model: &model}); err != nil {
		t.Fatal(err)
	}
	h.send(second, "And you?")
	h.wait("the wait", ended(second.ID, app.Retrying))
	if s := h.snapshot(second).Status; s.Retry == nil || s.Retry.Attempt != 0 {
		t.Errorf("it does not wait for the provider: %+v", s.Retry)
	}
	if n := len(server.Requests()); n != asked {
		t.Errorf("the provider was asked %d times more", n-asked)
	}
	if err := h.api.Conversations.StopRetry(ctx, app.ByID{ID: second.ID}); err != nil {
		t.Fatal(err)
	}
	h.wait("the end of the wait", ended(second.ID, app.Failed))
}

func TestTheSizeOfARequestIsToldWhileItRunsAndLearnedFrom(t *testing.T) {
	answer := make(chan struct{})
	h, _ := modelled(t, fakewire.Steps(fakewire.Reply{Text: "Well.", Block: answer}))
	_, w := h.desk(app.NewWorkspace{Name: "counted", Model: "anthropic:claude-sonnet-5-5"})
	h.send(w, "Hello")
	h.wait("the size, tools and all", func(e app.Event) bool {
		c, ok := e.(app.ConversationChanged)
		return ok && c.Workspace == w.ID && c.Status.Usage.Context > 500
	})
	close(answer)
	h.wait("the turn to end", ended(w.ID, app.Done))
	h.stop()
	db, err := h.root.DB(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var n int
	err = db.QueryRowContext(context.Background(), `SELECT COUNT(*) FROM token_factors`).Scan(&n)
	if err != nil || n != 1 {
		t.Errorf("%d models were learned about, %v", n, err)
	}
	h.start()
}

func TestOneShotsCountWhereverAMessageIsWritten(t *testing.T) {
	ctx := context.Background()
	release := make(chan struct{})
	h, server := modelled(t, fakewire.Steps(fakewire.Reply{Text: "Yes.", Block: release}))
	_, w := h.desk(app.NewWorkspace{Name: "once", Model: "anthropic:claude-sonnet-5-5"})
	h.send(w, "First")
	h.wait("the first turn", ended(w.ID, app.Streaming))
	id, after := store.NewID(), app.Dispatch("turn")
	if err := h.api.Conversations.Send(ctx, app.SendMessage{Workspace: w.ID, Text: "Second", ID: id, Dispatch: after}); err != nil {
		t.Fatal(err)
	}
	text := "/opus+low Second"
	if err := h.api.Conversations.EditQueued(ctx, app.EditQueued{Workspace: w.ID, ID: id, Text: &text}); err != nil {
		t.Fatal(err)
	}
	if q := h.snapshot(w).Status.Queue; len(q) != 1 || q[0].Text != "Second" || q[0].Once != "anthropic:claude-opus-5-5+low" {
		t.Errorf("the queue: %+v", q)
	}
	close(release)
	h.wait("both turns", func(e app.Event) bool { return ended(w.ID, app.Done)(e) && len(server.Requests()) == 2 })
	h.forgetEvents()
	edit := app.EditMessage{Workspace: w.ID, Entry: h.snapshot(w).Entries[0].ID, Text: "/opus+high First", ID: store.NewID()}
	if err := h.api.Conversations.EditMessage(ctx, edit); err != nil {
		t.Fatal(err)
	}
	h.wait("the third turn", ended(w.ID, app.Done))
	for i, want := range []string{`"claude-sonnet-5-5"`, `"claude-opus-5-5"`, `"claude-opus-5-5"`} {
		if got := string(server.Requests()[i].Raw); !strings.Contains(got, want) || strings.Contains(got, "/opus") {
			t.Errorf("request %d: %s", i, got)
		}
	}
}

func TestAFileThatIsNoPictureIsRefusedInPlainWords(t *testing.T) {
	h, _ := modelled(t, fakewire.Steps(fakewire.Reply{Text: "Yes."}))
	_, w := h.desk(app.NewWorkspace{Name: "pictures", Model: "anthropic:claude-sonnet-5-5"})
	err := h.api.Conversations.Send(context.Background(), app.SendMessage{Workspace: w.ID, Text: "Look",
		Files: []app.Upload{{Name: "page.png", Data: []byte("<html>no</html>")}}})
	if code(err) != "bad_file" || !strings.Contains(err.Error(), "page.png") {
		t.Errorf("%v (%s)", err, code(err))
	}
	if got := h.snapshot(w).Entries; len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestAForkOfAMissingPlaceSaysSo(t *testing.T) {
	h := newHouse(t)
	_, w := h.desk(app.NewWorkspace{Name: "gone"})
	if err := os.RemoveAll(w.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := h.api.Workspaces.Fork(context.Background(), app.ForkWorkspace{Workspace: w.ID, Name: "fork"}); code(err) != "missing" {
		t.Errorf("%v (%s)", err, code(err))
	}
}
