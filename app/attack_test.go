package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"carrel/agent/model/fakewire"
	"carrel/app"
	"carrel/store"
)

func TestAThousandMessagesWaitAndGoTogether(t *testing.T) { // O-DESK-04
	ctx := context.Background()
	release := make(chan struct{})
	h, server := modelled(t, fakewire.Steps(fakewire.Reply{Text: "Yes.", Block: release}))
	_, w := h.desk(app.NewWorkspace{Name: "crowd", Model: "anthropic:claude-sonnet-5-5"})
	h.send(w, "First")
	h.wait("the first turn", ended(w.ID, app.Streaming))
	long := strings.Repeat("x", 1000)
	send := func(n int) error {
		return h.api.Conversations.Send(ctx, app.SendMessage{Workspace: w.ID, ID: fmt.Sprint("m", n), Text: fmt.Sprintf("<%d> %s", n, long)})
	}
	for n := range 1000 {
		if err := send(n); err != nil {
			t.Fatal(n, err)
		}
	}
	if got := code(send(1000)); got != "queue_full" {
		t.Errorf("one more: %q", got)
	}
	queue := h.snapshot(w).Status.Queue
	told, err := json.Marshal(queue)
	if err != nil || len(queue) != 1000 || len(told) > 1<<20 || !queue[7].Cut || len(queue[7].Text) > len(long) {
		t.Fatalf("%d messages, %d bytes, %v", len(queue), len(told), err)
	}
	whole, err := h.api.Conversations.Queued(ctx, app.QueueItem{Workspace: w.ID, ID: "m7"})
	if err != nil || whole.Text != "<7> "+long || whole.Cut {
		t.Errorf("%d bytes, %v", len(whole.Text), err)
	}
	if err := h.api.Conversations.MoveQueued(ctx, app.MoveQueued{Workspace: w.ID, ID: "m999", Before: "m0"}); err != nil {
		t.Fatal(err)
	}
	close(release)
	h.wait("the last turn", func(e app.Event) bool {
		c, ok := e.(app.ConversationChanged)
		return ok && c.Workspace == w.ID && len(c.Status.Queue) == 0 && c.Status.Activity == app.Done && len(server.Requests()) == 2
	})
	raw := string(server.Requests()[1].Raw)
	at := -1
	for _, n := range append([]int{999}, numbers(999)...) {
		next := strings.Index(raw, fmt.Sprintf("<%d>", n))
		if next <= at || strings.Count(raw, fmt.Sprintf("<%d>", n)) != 1 {
			t.Fatalf("message %d is at %d, the one before at %d", n, next, at)
		}
		at = next
	}
}

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestAnEditLeavesSearchExportAndCostsTrue(t *testing.T) {
	ctx := context.Background()
	h, _ := modelled(t, fakewire.Steps(fakewire.Reply{Text: "The lighthouse is red."}))
	_, w := h.desk(app.NewWorkspace{Name: "edited", Model: "anthropic:claude-sonnet-5-5"})
	h.send(w, "Where is the albatross?")
	h.wait("the answer", ended(w.ID, app.Done))
	before := h.costs(app.CostQuery{Workspace: w.ID}).Total
	for n := range 3 {
		h.forgetEvents()
		edit := app.EditMessage{Workspace: w.ID, Entry: h.snapshot(w).Entries[0].ID, Text: fmt.Sprintf("Where is the pelican%d?", n), ID: store.NewID()}
		if err := h.api.Conversations.EditMessage(ctx, edit); err != nil {
			t.Fatal(err)
		}
		h.wait("the answer", ended(w.ID, app.Done))
	}
	for text, left := range map[string]bool{"albatross": true, "pelican0": true, "pelican1": true, "pelican2": false} {
		if f := h.found(app.FindText{Text: text}); len(f.Hits) != 1 || f.Hits[0].Left != left {
			t.Errorf("%s: %+v", text, f.Hits)
		}
	}
	after := h.costs(app.CostQuery{Workspace: w.ID}).Total
	if after.Requests != 4 || after.USD == nil || *after.USD < 3.9**before.USD || *after.USD > 4.1**before.USD {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if spent := h.snapshot(w).Status.Usage.SpentUSD; spent != *after.USD {
		t.Errorf("spent %v of %v", spent, *after.USD)
	}
	for format, want := range map[app.ExportFormat]int{"md": 1, "json": 1} {
		doc, err := h.api.Conversations.Export(ctx, app.ExportConversation{Workspace: w.ID, Format: format})
		if err != nil || strings.Count(doc.Text, "pelican2") != want || strings.Contains(doc.Text, "albatross") || strings.Contains(doc.Text, "pelican1") {
			t.Errorf("%s: %v\n%s", format, err, doc.Text)
		}
	}
	h.stop()
	h.start()
	if again := h.costs(app.CostQuery{Workspace: w.ID}).Total; again.Requests != 4 || len(h.snapshot(w).Entries) != 2 {
		t.Errorf("after a restart: %+v", again)
	}
}

func TestOddNamesOfModelsAreSentAsTheyAreOrRefused(t *testing.T) {
	ctx := context.Background()
	h, server := modelled(t, fakewire.Steps(fakewire.Reply{Text: "Yes."}))
	_, w := h.desk(app.NewWorkspace{Name: "odd"})
	for _, id := range []string{"a/b/c:d", "modèle-日本-😀", "../../x?y#z", `q"uo'te<b>`, strings.Repeat("x", 2000)} {
		name := "anthropic:" + id
		if err := h.api.Workspaces.SetModel(ctx, app.SetModel{Workspace: w.ID, Model: &name}); err != nil {
			t.Errorf("%.40s: %v", id, err)
			continue
		}
		h.forgetEvents()
		h.send(w, "Go")
		h.wait("the answer", ended(w.ID, app.Done))
		if got := server.Last().Model; got != id {
			t.Errorf("sent %q for %q", got, id)
		}
	}
	for _, id := range []string{strings.Repeat("x", 10<<10), "a\nb", "a\x00b", "a\u202eb", "\xff", "", " "} {
		for _, name := range []string{"anthropic:" + id, id} {
			if got := code(h.api.Workspaces.SetModel(ctx, app.SetModel{Workspace: w.ID, Model: &name})); got != "bad_model" {
				t.Errorf("%.40q: %q", name, got)
			}
			if name = strings.TrimSpace(name); name == "" {
				continue // the default
			}
			_, err := h.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: w.ProjectID, Runtime: "local", Model: name})
			if got := code(err); got != "bad_model" {
				t.Errorf("a workspace with %.40q: %q", name, got)
			}
		}
	}
}

func TestProvidersThatAreDamagedWhileItRunsAreKeptAsideAndTold(t *testing.T) { // O-DATA-03
	ctx := context.Background()
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "Yes."}))
	h := newHouse(t)
	key := "sk-test-key"
	set := app.SetProvider{ID: "anthropic", APIKey: &key, BaseURL: &server.URL}
	if err := h.api.Settings.SetProvider(ctx, set); err != nil {
		t.Fatal(err)
	}
	_, w := h.desk(app.NewWorkspace{Name: "damaged", Model: "anthropic:claude-sonnet-5-5"})
	h.send(w, "Go")
	h.wait("the answer", ended(w.ID, app.Done))
	if err := os.WriteFile(h.root.Path("providers.jsonc"), []byte(`{"anthropic": {"apiKey": "sk-te`), 0o600); err != nil {
		t.Fatal(err)
	}
	h.forgetEvents()
	h.send(w, "Go on")
	h.wait("the failure", ended(w.ID, app.Failed))
	h.wait("the problem", func(e app.Event) bool {
		p, ok := e.(app.ProblemAppeared)
		return ok && strings.Contains(p.Problem.Path+p.Problem.Message, "providers.jsonc")
	})
	h.mu.Lock()
	told := fmt.Sprintf("%+v", h.events)
	h.mu.Unlock()
	if strings.Contains(told, "sk-te") {
		t.Error("a key is shown")
	}
	if err := h.api.Settings.SetProvider(ctx, set); err != nil {
		t.Fatal(err)
	}
	h.wait("the failure to clear itself", ended(w.ID, app.Interrupted))
	if err := h.api.Conversations.Retry(ctx, app.ByID{ID: w.ID}); err != nil {
		t.Fatal(err)
	}
	h.wait("the answer", ended(w.ID, app.Done))
	if n := len(server.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
}

func TestAnIndexThatIsDamagedWhileItRunsIsMadeAnew(t *testing.T) { // O-DATA-03
	h, _ := modelled(t, fakewire.Steps(fakewire.Reply{Text: "The lighthouse is red."}))
	_, w := h.desk(app.NewWorkspace{Name: "found", Model: "anthropic:claude-sonnet-5-5"})
	h.send(w, "Where is the albatross?")
	h.wait("the answer", ended(w.ID, app.Done))
	if f := h.found(app.FindText{Text: "albatross"}); len(f.Hits) != 1 {
		t.Fatalf("%+v", f)
	}
	for _, name := range []string{"search.db", "search.db-wal"} {
		old, err := os.ReadFile(h.root.Path(name))
		if err != nil {
			continue
		}
		if err := os.WriteFile(h.root.Path(name), bytes.Repeat([]byte("garbage "), len(old)/8+1), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if f, err := h.api.Search.Find(context.Background(), app.FindText{Text: "albatross", Wait: true}); err != nil || len(f.Hits) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
	if got := texts(h.snapshot(w), app.EntryUser); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestProcessesThatTakeTurnsShareOneBudget(t *testing.T) {
	ctx := context.Background()
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: strings.Repeat("Many words. ", 50)}))
	core := newHouse(t)
	key := "sk-test-key"
	if err := core.api.Settings.SetProvider(ctx, app.SetProvider{ID: "anthropic", APIKey: &key, BaseURL: &server.URL}); err != nil {
		t.Fatal(err)
	}
	_, w := core.desk(app.NewWorkspace{Name: "shared", Model: "anthropic:claude-opus-5-5"})
	core.send(w, "Go")
	core.wait("the answer", ended(w.ID, app.Done))
	one := *core.costs(app.CostQuery{Workspace: w.ID}).Total.USD
	limit := 3.5 * one
	if err := core.api.Costs.SetBudget(ctx, app.SetBudget{Workspace: w.ID, USD: &limit}); err != nil {
		t.Fatal(err)
	}
	stopped := 0
	for n := range 8 {
		who := core
		if n%2 == 0 {
			core.app.CloseIdle(later())
			who = core.beside(true)
		}
		who.forgetEvents()
		who.send(w, fmt.Sprint("Again ", n))
		began, failed := false, false
		who.wait("the end", func(e app.Event) bool {
			c, ok := e.(app.ConversationChanged)
			if !ok || c.Workspace != w.ID {
				return false
			}
			began, failed = began || c.Status.Activity == app.Preparing, c.Status.Activity == app.Failed
			return began && (failed || c.Status.Activity == app.Done)
		})
		if failed {
			stopped++
		}
		if who != core {
			who.stop()
		}
	}
	spent := *core.costs(app.CostQuery{Workspace: w.ID}).Total.USD
	if n := len(server.Requests()); n > 5 || stopped < 4 || spent > limit+one {
		t.Errorf("%d requests, %d turns were stopped; spent %v of %v", n, stopped, spent, limit)
	}
}
