package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"carrel/agent/model"
	"carrel/agent/transcript"
	"carrel/app"
)

func (h *house) costs(q app.CostQuery) app.CostSummary {
	h.t.Helper()
	s, err := h.api.Costs.Summary(context.Background(), q)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// found is what the search finds once the index has caught up.
func (h *house) found(q app.FindText) app.Found {
	h.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		f, err := h.api.Search.Find(context.Background(), q)
		if err != nil {
			h.t.Fatal(err)
		}
		if f.Behind == 0 || time.Now().After(deadline) {
			return f
		}
	}
}

func TestCostsOutliveTheirWorkspace(t *testing.T) {
	h := newHouse(t)
	p, w := h.desk(app.NewWorkspace{Name: "spender"})
	h.send(w, "Do it")
	h.wait("the turn to end", ended(w.ID, app.Done))
	s := h.costs(app.CostQuery{})
	if len(s.Lines) != 1 || s.Lines[0].Key != w.ID || s.Lines[0].Name != "spender" || s.Lines[0].Gone || s.Total.Requests < 2 {
		t.Fatalf("got %+v", s)
	}
	messages := h.costs(app.CostQuery{By: app.CostsByMessage, Workspace: w.ID})
	if len(messages.Lines) != int(s.Total.Requests) || messages.Lines[0].Name == "" {
		t.Errorf("by message: %+v", messages)
	}
	h.stop()
	h.start() // nothing is entered again
	h.snapshot(w)
	if err := h.api.Workspaces.Delete(context.Background(), app.DeleteWorkspace{ID: w.ID, Confirm: "spender"}); err != nil {
		t.Fatal(err)
	}
	again := h.costs(app.CostQuery{By: app.CostsByWorkspace, Project: p.ID})
	if len(again.Lines) != 1 || !again.Lines[0].Gone || again.Lines[0].Name != "spender" || again.Total.Requests != s.Total.Requests {
		t.Errorf("got %+v, was %+v", again, s)
	}
	_, err := h.api.Costs.Summary(context.Background(), app.CostQuery{By: "mood"})
	var bad *app.Error
	if !errors.As(err, &bad) || bad.Code != "bad_request" {
		t.Errorf("got %v", err)
	}
}

func response(text string, cost int64) transcript.Record {
	return transcript.Record{Kind: transcript.Assistant, Turn: "t", Step: 1, Cost: cost, CostKnown: true, Message: &model.Message{
		Role: model.Assistant, Model: "demo:story", Parts: []model.Part{{Kind: model.Text, Text: text}}, Usage: model.Usage{Output: 1}}}
}

// A process that was killed between the log and the registry had spent the money all the same; what a
// fork has copied was spent by its origin.
func TestWhatAKilledProcessSpentIsEnteredOnce(t *testing.T) {
	h := newHouse(t)
	_, w := h.desk(app.NewWorkspace{Name: "killed"})
	h.stop()
	dir, err := h.root.SessionDir(w.ID)
	if err != nil {
		t.Fatal(err)
	}
	log, err := transcript.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []transcript.Record{response("copied", 1000), {Kind: transcript.Boundary, Border: transcript.Fork},
		response("own", 20), response("own too", 300)} {
		if _, err := log.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		h.start()
		h.snapshot(w)
		if round == 0 {
			h.wait("what was spent", func(e app.Event) bool {
				c, ok := e.(app.ConversationChanged)
				return ok && c.Status.Usage.SpentUSD == 0.00032
			})
		}
		s := h.costs(app.CostQuery{})
		if s.Total.Requests != 2 || s.Total.USD == nil || *s.Total.USD != 0.00032 {
			t.Errorf("got %+v", s.Total)
		}
		h.stop()
	}
	h.start()
}

func TestABudgetIsKeptAndChecked(t *testing.T) {
	h := newHouse(t)
	_, w := h.desk(app.NewWorkspace{Name: "frugal"})
	set := func(usd *float64) error {
		return h.api.Costs.SetBudget(context.Background(), app.SetBudget{Workspace: w.ID, USD: usd})
	}
	two, less, none := 2.5, -1.0, 0.0
	if err := set(&none); err != nil {
		t.Fatal(err)
	}
	h.send(w, "Spend")
	h.wait("the turn to be refused", ended(w.ID, app.Failed))
	if u := h.snapshot(w).Status.Usage; u.BudgetUSD == nil || *u.BudgetUSD != 0 || u.Output != 0 {
		t.Errorf("got %+v", u)
	}
	if err := errors.Join(set(&two), set(nil)); err != nil {
		t.Error(err)
	}
	var bad *app.Error
	if err := set(&less); !errors.As(err, &bad) || bad.Code != "bad_request" {
		t.Errorf("got %v", err)
	}
	err := h.api.Costs.SetBudget(context.Background(), app.SetBudget{Workspace: "none", USD: &two})
	if !errors.As(err, &bad) || bad.Code != "not_found" {
		t.Errorf("got %v", err)
	}
}

func TestWhatWasSaidIsFoundInItsEntry(t *testing.T) {
	h := newHouse(t)
	p, w := h.desk(app.NewWorkspace{Name: "talk"})
	h.send(w, "Say zanzibar to the harbor")
	h.wait("the turn to end", ended(w.ID, app.Done))
	f := h.found(app.FindText{Text: "zanzibar", Role: app.HitUser})
	if len(f.Hits) != 1 || f.Hits[0].Workspace != w.ID || f.Hits[0].Name != "talk" || f.Hits[0].ProjectID != p.ID || f.Behind != 0 {
		t.Fatalf("got %+v", f)
	}
	entries := map[string]app.Entry{}
	var output string
	for _, e := range h.snapshot(w).Entries {
		entries[e.ID] = e
		if e.Tool != nil && e.Tool.Output != "" {
			output = e.Tool.Output
		}
	}
	hit := f.Hits[0]
	if e := entries[hit.Entry]; e.Order != hit.Order || !strings.Contains(e.Text, "zanzibar") {
		t.Errorf("the hit %+v is in %+v", hit, e)
	}
	for _, hit := range h.found(app.FindText{Text: `"` + output + `"`, Workspace: w.ID, Role: app.HitTool}).Hits {
		if e := entries[hit.Entry]; e.Tool == nil || e.Order != hit.Order {
			t.Errorf("the hit %+v is in %+v", hit, e)
		}
	}
	if _, err := h.api.Search.Find(context.Background(), app.FindText{Text: " -- "}); err == nil {
		t.Error("a search for nothing")
	}
	if err := h.api.Workspaces.Delete(context.Background(), app.DeleteWorkspace{ID: w.ID, Confirm: "talk"}); err != nil {
		t.Fatal(err)
	}
	if f := h.found(app.FindText{Text: "zanzibar"}); len(f.Hits) != 0 {
		t.Errorf("got %+v", f)
	}
}

func TestAConversationIsExported(t *testing.T) {
	h := newHouse(t)
	_, w := h.desk(app.NewWorkspace{Name: "kept"})
	h.send(w, "Keep this")
	h.wait("the turn to end", ended(w.ID, app.Done))
	get := func(f app.ExportFormat) (app.Exported, error) {
		return h.api.Conversations.Export(context.Background(), app.ExportConversation{Workspace: w.ID, Format: f})
	}
	md, err := get(app.ExportMarkdown)
	if err != nil || md.Name != "kept.md" || !strings.Contains(md.Text, "Keep this") || !strings.Contains(md.Text, "Project: `harbor`") {
		t.Errorf("got %+v %v", md, err)
	}
	doc, err := get(app.ExportJSON)
	if err != nil || doc.Mime != "application/json" || !json.Valid([]byte(doc.Text)) {
		t.Errorf("got %+v %v", doc, err)
	}
	if _, err := get("pdf"); err == nil {
		t.Error("a format that there is not")
	}
}
