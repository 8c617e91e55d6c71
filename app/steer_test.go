package app_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"carrel/agent/model/fakewire"
	"carrel/app"
	"carrel/store"
)

// modelled is a house whose default model is a fake server's.
func modelled(t *testing.T, script fakewire.Script) (*house, *fakewire.Server) {
	t.Helper()
	server := fakewire.New(t, script)
	h := newHouse(t, "ANTHROPIC_BASE_URL="+server.URL, "ANTHROPIC_API_KEY=sk-test-key")
	return h, server
}

func texts(c app.Conversation, kind app.EntryKind) []string {
	var out []string
	for _, e := range c.Entries {
		if e.Kind == kind {
			out = append(out, e.Text)
		}
	}
	return out
}

func TestAForkGoesOnFromTheConversation(t *testing.T) {
	ctx := context.Background()
	h, server := modelled(t, fakewire.Steps(fakewire.Reply{Text: "The harbour is deep."}, fakewire.Reply{Text: "Deeper still."}))
	_, w := h.desk(app.NewWorkspace{Name: "origin", Model: "anthropic:claude-sonnet-5-5"})
	h.send(w, "How deep is it?")
	h.wait("the turn to end", ended(w.ID, app.Done))
	level := "high"
	if err := h.api.Workspaces.SetModel(ctx, app.SetModel{Workspace: w.ID, Level: &level}); err != nil {
		t.Fatal(err)
	}
	if err := h.api.Conversations.SetDraft(ctx, app.SetDraft{Workspace: w.ID, Text: "And the tide?"}); err != nil {
		t.Fatal(err)
	}
	gitIn(t, w.Dir, "commit", "-q", "--allow-empty", "-m", "a commit of the origin")

	forked, err := h.api.Workspaces.Fork(ctx, app.ForkWorkspace{Workspace: w.ID, Name: "other-way", Message: "Measure it again."})
	if err != nil || forked.Unsent != "" {
		t.Fatal(forked.Unsent, err)
	}
	f := forked.Workspace
	h.wait("the fork's turn to end", ended(f.ID, app.Done))
	c := h.snapshot(f)
	if got := strings.Join(texts(c, app.EntryUser), "|"); got != "How deep is it?|Measure it again." {
		t.Errorf("its messages: %s", got)
	}
	if got := texts(c, app.EntryBoundary); len(got) != 1 || got[0] != "Forked from origin." {
		t.Errorf("its borders: %q", got)
	}
	if c.Draft != "And the tide?" || c.Status.Level != "high" || c.Status.Model != "anthropic:claude-sonnet-5-5" {
		t.Errorf("draft %q, model %s, level %s", c.Draft, c.Status.Model, c.Status.Level)
	}
	if subject := gitIn(t, f.Dir, "log", "-1", "--format=%s"); strings.TrimSpace(subject) != "a commit of the origin" || f.Branch == w.Branch {
		t.Errorf("it is at %q on %s", subject, f.Branch)
	}
	if got := texts(h.snapshot(w), app.EntryUser); len(got) != 1 {
		t.Errorf("the origin has %q", got)
	}
	last := string(server.Requests()[1].Raw)
	if !strings.Contains(last, "How deep is it?") || !strings.Contains(last, "The harbour is deep.") {
		t.Errorf("the model got %s", last)
	}
	if costs := h.costs(app.CostQuery{Workspace: f.ID}); costs.Total.Requests != 1 {
		t.Errorf("the fork paid for %d requests", costs.Total.Requests)
	}
}

func TestAMessageChoosesItsOwnModelAndLevel(t *testing.T) {
	h, server := modelled(t, fakewire.Steps(fakewire.Reply{Text: "Yes."}, fakewire.Reply{Text: "Again."}))
	_, w := h.desk(app.NewWorkspace{Name: "once", Model: "anthropic:claude-sonnet-5-5"})
	h.send(w, "/opus+low Is it?")
	h.wait("the turn to end", ended(w.ID, app.Done))
	h.send(w, "And now?")
	h.wait("the second turn to end", func(app.Event) bool { return len(server.Requests()) == 2 })
	first, second := string(server.Requests()[0].Raw), string(server.Requests()[1].Raw)
	if !strings.Contains(first, `"claude-opus-5-5"`) || !strings.Contains(first, `"low"`) || strings.Contains(first, "/opus") {
		t.Errorf("the first request: %s", first)
	}
	if !strings.Contains(second, `"model":"claude-sonnet-5-5"`) {
		t.Errorf("the second request: %s", second)
	}
	c := h.snapshot(w)
	if c.Entries[0].Once != "anthropic:claude-opus-5-5+low" || c.Entries[0].Text != "Is it?" || c.Status.Model != "anthropic:claude-sonnet-5-5" {
		t.Errorf("got %+v, model %s", c.Entries[0], c.Status.Model)
	}
}

func TestAKeyThatIsMendedClearsTheFailureAndSendsNothing(t *testing.T) {
	ctx := context.Background()
	h, server := modelled(t, fakewire.Once(fakewire.Steps(fakewire.Reply{Text: "Here I am."}),
		fakewire.Reply{Status: http.StatusUnauthorized, ErrorType: "authentication_error", ErrorMessage: "invalid x-api-key"}))
	_, w := h.desk(app.NewWorkspace{Name: "locked-out", Model: "anthropic:claude-sonnet-5-5"})
	h.send(w, "Hello")
	h.wait("the failure", ended(w.ID, app.Failed))
	key := "sk-another-key"
	h.forgetEvents()
	if err := h.api.Settings.SetProvider(ctx, app.SetProvider{ID: "anthropic", APIKey: &key}); err != nil {
		t.Fatal(err)
	}
	h.wait("the failure to clear", ended(w.ID, app.Interrupted))
	if n := len(server.Requests()); n != 1 {
		t.Errorf("%d requests were made", n)
	}
	if err := h.api.Conversations.Retry(ctx, app.ByID{ID: w.ID}); err != nil {
		t.Fatal(err)
	}
	h.wait("the turn to end", ended(w.ID, app.Done))
	if got := texts(h.snapshot(w), app.EntryUser); len(got) != 1 {
		t.Errorf("the messages: %q", got)
	}
}

func TestAPastMessageIsEditedAndHostsTakeANewSnapshot(t *testing.T) {
	ctx := context.Background()
	h, server := modelled(t, fakewire.Once(fakewire.Steps(fakewire.Reply{Text: "Blue."}), fakewire.Reply{Text: "Red."}))
	_, w := h.desk(app.NewWorkspace{Name: "editor", Model: "anthropic:claude-sonnet-5-5"})
	h.send(w, "Paint it red")
	h.wait("the turn to end", ended(w.ID, app.Done))
	entry := h.snapshot(w).Entries[0].ID
	h.forgetEvents()
	if err := h.api.Conversations.EditMessage(ctx, app.EditMessage{Workspace: w.ID, Entry: entry, Text: "Paint it blue", ID: store.NewID()}); err != nil {
		t.Fatal(err)
	}
	h.wait("word of it", func(e app.Event) bool { _, ok := e.(app.EntriesReplaced); return ok })
	h.wait("the second answer", ended(w.ID, app.Done))
	c := h.snapshot(w)
	if user, answer := texts(c, app.EntryUser), texts(c, app.EntryAssistant); len(user) != 1 || user[0] != "Paint it blue" || len(answer) != 1 || answer[0] != "Blue." {
		t.Errorf("shown: %q, %q", user, answer)
	}
	if last := string(server.Requests()[1].Raw); strings.Contains(last, "Paint it red") || strings.Contains(last, "Red.") {
		t.Errorf("the model still sees what was left: %s", last)
	}
	if err := h.api.Conversations.EditMessage(ctx, app.EditMessage{Workspace: w.ID, Entry: "999.0", Text: "No"}); code(err) != "not_found" {
		t.Errorf("editing what is not there: %v", err)
	}
	if err := h.api.Conversations.Clear(ctx, app.ClearConversation{Workspace: w.ID}); err != nil {
		t.Fatal(err)
	}
	if c := h.snapshot(w); len(texts(c, app.EntryUser)) != 0 {
		t.Errorf("after clearing: %+v", c.Entries)
	}
}

func TestProvidersAndModelsAreSetUp(t *testing.T) {
	ctx := context.Background()
	h, server := modelled(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	set := h.api.Settings
	for _, bad := range []app.AddProvider{{ID: "Bad Id", ProviderType: "openai-compatible", BaseURL: "http://localhost:1/v1"},
		{ID: "anthropic", ProviderType: "openai-compatible", BaseURL: "http://localhost:1/v1"},
		{ID: "x", ProviderType: "soap", BaseURL: "http://localhost:1/v1"}, {ID: "x", ProviderType: "openai-compatible"},
		{ID: "x", ProviderType: "openai-compatible", BaseURL: "http://u:p@localhost/v1"}} {
		if err := set.AddProvider(ctx, bad); code(err) == "" {
			t.Errorf("added %+v: %v", bad, err)
		}
	}
	if err := set.AddProvider(ctx, app.AddProvider{ID: "local", ProviderType: "anthropic-messages", BaseURL: server.URL, APIKey: "k-123456"}); err != nil {
		t.Fatal(err)
	}
	if err := set.AddModel(ctx, app.ByID{ID: "local:mine"}); err != nil {
		t.Fatal(err)
	}
	if err := set.AddModel(ctx, app.ByID{ID: "no provider"}); code(err) != "bad_model" {
		t.Errorf("adding no model: %v", err)
	}
	own := func() (found bool) {
		models, err := set.Models(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range models {
			found = found || m.ID == "local:mine" && m.Own && m.Available
		}
		return found
	}
	if !own() {
		t.Error("the model is not in the list")
	}
	if r, err := set.TestProvider(ctx, app.ByID{ID: "local"}); err != nil || !r.OK {
		t.Errorf("the test: %+v, %v", r, err)
	}
	if err := set.SetFallback(ctx, app.Fallback{Model: "local:mine", Models: []string{"local:mine"}}); code(err) != "bad_request" {
		t.Errorf("a chain in a circle: %v", err)
	}
	if err := set.SetFallback(ctx, app.Fallback{Model: "local:mine", Models: []string{"anthropic:claude-opus-5-5"}}); err != nil {
		t.Fatal(err)
	}
	chains, err := set.Fallbacks(ctx)
	if err != nil || !strings.Contains(strings.Join(chains[len(chains)-1].Models, ""), "opus") {
		t.Errorf("the chains: %+v, %v", chains, err)
	}
	if err := set.RemoveModel(ctx, app.ByID{ID: "local:mine"}); err != nil || own() {
		t.Errorf("removing the model: %v", err)
	}
	if err := set.RemoveProvider(ctx, app.ByID{ID: "local"}); err != nil {
		t.Fatal(err)
	}
	tier := "two\nlines"
	if err := set.SetProvider(ctx, app.SetProvider{ID: "openai", ServiceTier: &tier}); code(err) != "bad_request" {
		t.Errorf("a tier of two lines: %v", err)
	}
}
