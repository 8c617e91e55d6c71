package modeltest

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
)

func (s Subject) grow(t *testing.T) {
	t.Run("each request begins like the one before", s.prefix)
	t.Run("a history that grew is written as one that came at once", s.grown)
}

// cacheMark is a mark of the prompt cache: marks move on, and providers leave them out when they
// compare.
var cacheMark = regexp.MustCompile(`,"cache_control":\{[^}]*\}`)

// prefix holds O-LLM-08 over ten turns of three steps, with a restart in the middle.
func (s Subject) prefix(t *testing.T) {
	step := full
	step.Usage = model.Usage{}
	last := searched
	if !s.Search {
		last.Search = nil
	}
	input := `{"bad`
	if s.Whole {
		input = `{"good":1}`
	}
	server := fakewire.New(t, func(r fakewire.Request) fakewire.Reply {
		return []fakewire.Reply{step, {Calls: []fakewire.Call{{Name: "read", Input: input}}}, last}[min(r.Rounds(), 2)]
	})
	client := s.New(t, server.URL, 0)
	var history []model.Message
	for turn := range 10 {
		if turn == 5 { // everything is read back from disk
			client = s.New(t, server.URL, 0)
			for i := range history {
				history[i] = *clone(t, &history[i])
				fill(t, history[i].Parts)
			}
		}
		asked := user(fmt.Sprintf("prompt %d", turn))
		asked.Parts = append(asked.Parts, picture(t, turn+1, 1))
		history = append(history, asked)
		for range 3 {
			m, err := client.Stream(t.Context(), ask(history...), nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, server.Last().Raw)
			}
			history = append(history, *m)
			if back := results(m); len(back.Parts) > 0 {
				back.Parts[0].Parts = append(back.Parts[0].Parts, picture(t, 1, turn+1))
				history = append(history, back)
			}
		}
	}
	before := ""
	for i, r := range server.Requests() {
		now := cacheMark.ReplaceAllString(string(r.Raw), "")
		if !strings.HasPrefix(now, strings.TrimRight(before, "]}")) {
			t.Fatalf("request %d does not begin like the one before:\n%s\n%s", i+1, before, now)
		}
		before = now
	}
	if n := len(server.Requests()); n != 30 {
		t.Errorf("%d requests", n)
	}
}

// fill gives files their data again, which is not in their JSON.
func fill(t *testing.T, parts []model.Part) {
	for i := range parts {
		if p := &parts[i]; p.Kind == model.File {
			var w, h int
			if _, err := fmt.Sscanf(p.Name, "%dx%d", &w, &h); err != nil {
				t.Fatal(err)
			}
			p.Data = picture(t, w, h).Data
		}
		fill(t, parts[i].Parts)
	}
}

// grown compares a client that saw a conversation grow (also by late results, edits and cuts) with
// one that sees it for the first time.
func (s Subject) grown(t *testing.T) {
	type bodier interface {
		Body(r *model.Request) []byte
		Origin(id string) string
	}
	old, ok := s.New(t, "http://127.0.0.1:1", 0).(bodier)
	if !ok {
		t.Skip("it has no body to compare")
	}
	rnd := rand.New(rand.NewPCG(7, 8))
	g := generator{pick: rnd.IntN, origins: []string{"", old.Origin("model-a"), "elsewhere"}, picture: picture(t, 2, 2)}
	for round := range 60 {
		var history []model.Message
		for step := range 12 {
			switch g.pick(8) {
			case 0:
				history = history[:g.pick(len(history)+1)]
			case 1:
				if len(history) > 0 {
					history[g.pick(len(history))] = g.message()
				}
			default:
				history = append(history, g.message(), g.message())
			}
			fresh, _ := s.New(t, "http://127.0.0.1:1", 0).(bodier)
			req := ask(history...)
			got, want := old.Body(req), fresh.Body(req)
			if string(got) != string(want) {
				t.Fatalf("round %d, step %d:\n got %s\nwant %s", round, step, got, want)
			}
		}
	}
}

// generator makes messages of every kind, most of them in no legal order.
type generator struct {
	pick    func(int) int
	origins []string
	picture model.Part
}

func (g generator) message() model.Message {
	m := model.Message{Role: []model.Role{model.User, model.Assistant, model.ToolRole}[g.pick(3)],
		Stop: []model.Stop{"", model.StopEnd, model.StopTools, model.StopLength, model.StopPause}[g.pick(5)]}
	for range g.pick(4) {
		m.Parts = append(m.Parts, g.part(m.Role))
	}
	return m
}

func (g generator) part(role model.Role) model.Part {
	p := model.Part{Text: []string{"", "x", "y <z>"}[g.pick(3)], Open: g.pick(6) == 0, Origin: g.origins[g.pick(len(g.origins))]}
	id := []string{"a", "b", "c"}[g.pick(3)]
	switch {
	case role == model.User:
		p.Kind = model.Text
		if g.pick(4) == 0 {
			p = g.picture
		}
	case role == model.ToolRole:
		p = result(id, "read", p.Text)
		if g.pick(4) == 0 {
			p.Parts = append(p.Parts, g.picture)
		}
	default:
		p.Kind = []model.Kind{model.Text, model.Reasoning, model.ToolCall, model.ToolCall, model.Native}[g.pick(5)]
		p.CallID, p.Name, p.Signature = id, "read", []string{"", "sig"}[g.pick(2)]
		if p.Kind == model.ToolCall || p.Kind == model.Native && g.pick(2) == 0 {
			p.Input = []string{"", "{}", "{"}[g.pick(3)]
		}
		if g.pick(2) == 0 && p.Kind != model.Text {
			p.Opaque = []byte(`{"sealed":1}`)
		}
	}
	return p
}
