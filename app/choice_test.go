package app_test

import (
	"context"
	"net/http"
	"os"
	"testing"

	"carrel/agent/model/fakewire"
	"carrel/app"
)

func TestTheLevelOfAModelIsRemembered(t *testing.T) {
	ctx := context.Background()
	h, _ := modelled(t, fakewire.Steps(fakewire.Reply{Text: "Yes."}))
	const sonnet, opus = "anthropic:claude-sonnet-5-5", "anthropic:claude-opus-5-5"
	p, w := h.desk(app.NewWorkspace{Name: "one", Model: sonnet})
	set := func(s app.SetModel) {
		t.Helper()
		s.Workspace = w.ID
		if err := h.api.Workspaces.SetModel(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	level := func(id string) string { return h.listed(id).Level }
	set(app.SetModel{Level: text("high")})
	set(app.SetModel{Model: text("opus")})
	if got := level(w.ID); got != "high" {
		t.Errorf("of a model of which nothing is remembered: %q", got)
	}
	set(app.SetModel{Level: text("low")})
	set(app.SetModel{Level: text("max"), Once: true})
	set(app.SetModel{Model: text(sonnet)})
	if got := level(w.ID); got != "high" {
		t.Errorf("back at sonnet: %q", got)
	}
	set(app.SetModel{Model: text(opus)})
	if got := level(w.ID); got != "low" {
		t.Errorf("back at opus: %q", got)
	}
	made, err := h.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: p.ID, Name: "two", Runtime: "local", Model: "opus"})
	if err != nil || made.Level != "low" {
		t.Errorf("a new workspace: %q, %v", made.Level, err)
	}
}

func TestSwitchingOffRetriesEndsTheWait(t *testing.T) {
	h, server := modelled(t, fakewire.Steps(fakewire.Reply{Status: http.StatusTooManyRequests, ErrorType: "rate_limit_error", ErrorMessage: "slow down", RetryAfter: "600"}))
	_, w := h.desk(app.NewWorkspace{Name: "waits", Model: "anthropic:claude-sonnet-5-5"})
	h.send(w, "Go")
	h.wait("the wait", ended(w.ID, app.Retrying))
	if err := h.api.Workspaces.SetAutoRetry(context.Background(), app.SetAutoRetry{Workspace: w.ID}); err != nil {
		t.Fatal(err)
	}
	h.wait("its end", ended(w.ID, app.Failed))
	if n := len(server.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestAForkIsThereWhenItsFirstMessageCanNotBeSent(t *testing.T) {
	ctx := context.Background()
	h, _ := modelled(t, fakewire.Steps(fakewire.Reply{Text: "Yes."}))
	_, w := h.desk(app.NewWorkspace{Name: "origin", Model: "anthropic:claude-sonnet-5-5"})
	budget := 2.5
	if err := h.api.Costs.SetBudget(ctx, app.SetBudget{Workspace: w.ID, USD: &budget}); err != nil {
		t.Fatal(err)
	}
	cyber := true
	if err := h.api.Workspaces.SetModel(ctx, app.SetModel{Workspace: w.ID, Cyber: &cyber}); err != nil {
		t.Fatal(err)
	}
	if err := h.api.Conversations.SetDraft(ctx, app.SetDraft{Workspace: w.ID, Text: "a draft"}); err != nil {
		t.Fatal(err)
	}
	f, err := h.api.Workspaces.Fork(ctx, app.ForkWorkspace{Workspace: w.ID, Name: "fork"})
	if err != nil || f.Unsent != "" {
		t.Fatal(f.Unsent, err)
	}
	if err := os.RemoveAll(f.Workspace.Dir); err != nil {
		t.Fatal(err)
	}
	unsent := h.app.SendFirst(ctx, f.Workspace.ID, "Go on.")
	c := h.snapshot(f.Workspace)
	if unsent == "" || c.Draft != "Go on.\n\na draft" || len(texts(c, app.EntryUser)) != 0 {
		t.Errorf("%q, %q: %+v", unsent, c.Draft, c.Entries)
	}
	if b := c.Status.Usage.BudgetUSD; b == nil || *b != budget || !c.Status.Cyber {
		t.Errorf("budget %v, cyber %v", b, c.Status.Cyber)
	}
}

func TestADraftReachesOtherWindows(t *testing.T) {
	ctx := context.Background()
	h, _ := modelled(t, fakewire.Steps(fakewire.Reply{Text: "Yes."}))
	_, w := h.desk(app.NewWorkspace{Name: "draft"})
	up := h.upload(shot(t, 3))
	d := app.SetDraft{Workspace: w.ID, Text: "half a", Files: []app.Upload{{Name: "x.png", ID: up.ID}}, By: "one"}
	if err := h.api.Conversations.SetDraft(ctx, d); err != nil {
		t.Fatal(err)
	}
	h.wait("the news", func(e app.Event) bool {
		c, ok := e.(app.DraftChanged)
		return ok && c.Workspace == w.ID && c.Text == "half a" && c.By == "one" && c.Files[0].ID == up.ID
	})
	if c := h.snapshot(w); c.Draft != "half a" || len(c.DraftFiles) != 1 || c.DraftFiles[0].ID != up.ID {
		t.Errorf("%q %+v", c.Draft, c.DraftFiles)
	}
	d.Files[0].Data = []byte("raw")
	if got := code(h.api.Conversations.SetDraft(ctx, d)); got != "bad_request" {
		t.Error(got)
	}
	if err := h.api.Conversations.SetDraft(ctx, app.SetDraft{Workspace: w.ID}); err != nil {
		t.Fatal(err)
	}
	if c := h.snapshot(w); c.Draft != "" || c.DraftFiles != nil {
		t.Errorf("%q %+v", c.Draft, c.DraftFiles)
	}
}
