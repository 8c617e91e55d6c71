package modeltest

import (
	"encoding/json"
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
)

func (s Subject) options(t *testing.T) {
	t.Run("a forced tool", s.forced)
	t.Run("one call at most", func(t *testing.T) {
		req := ask(user("hi"))
		req.OneTool = true
		if r := s.sent(t, req); r.OneTool != s.OneTool || r.Force != "" {
			t.Errorf("%s", r.Raw)
		}
	})
	t.Run("a cache for an hour", func(t *testing.T) {
		req := ask(user("hi"))
		req.CacheHour = true
		if r := s.sent(t, req); r.Hour != s.CacheHour {
			t.Errorf("%s", r.Raw)
		}
		if r := s.sent(t, ask(user("hi"))); r.Hour {
			t.Errorf("without being asked: %s", r.Raw)
		}
	})
	t.Run("every way to think is legal", s.thinks)
	t.Run("parameters", s.params)
	t.Run("the tier that was used", func(t *testing.T) {
		m, err := s.one(t, fakewire.Reply{Text: "x", Tier: "fast"}, ask(user("hi")))
		if err != nil || s.Tier && m.Tier != "fast" {
			t.Errorf("tier %q, %v", m.Tier, err)
		}
	})
	t.Run("schemas that providers refuse are mended", s.schemas)
}

func (s Subject) forced(t *testing.T) {
	for _, thinking := range []model.Thinking{{}, {Effort: "high"}, {Budget: 2000}, {Off: true}} {
		req := ask(user("hi"))
		req.Force, req.OneTool, req.Thinking = "list", true, thinking
		if r := s.sent(t, req); r.Force != "list" || r.OneTool != s.OneTool {
			t.Errorf("%s", r.Raw)
		}
	}
}

func (s Subject) thinks(t *testing.T) {
	for _, thinking := range []model.Thinking{{Off: true}, {Effort: "low"}, {Effort: "max"}, {Budget: 1}, {Budget: 100000}, {Budget: 4000, Effort: "high"}} {
		for _, limit := range []int{0, 1000, 64000} {
			req := ask(user("hi"))
			req.Thinking, req.MaxTokens = thinking, limit
			s.sent(t, req)
		}
	}
}

// params holds that what a person sets is sent, that what is explicit comes first, and that further
// fields can't replace the conversation.
func (s Subject) params(t *testing.T) {
	temperature, top, most := 0.5, 0.25, 777
	req := ask(user("hi"))
	req.Params = model.Params{Temperature: &temperature, TopP: &top, MaxOutput: &most, Extra: map[string]json.RawMessage{
		"metadata": json.RawMessage(`{"b":1,"a":2}`), "model": json.RawMessage(`"other"`), "broken": json.RawMessage(`{`),
		"messages": json.RawMessage(`[]`), "input": json.RawMessage(`[]`), "contents": json.RawMessage(`[]`),
	}}
	if s.Params != nil { // formats of their own names
		req.Params.Extra = nil
	}
	r := s.sent(t, req)
	for _, want := range append([]string{"0.5", "0.25", "777"}, s.Params...) {
		if !strings.Contains(string(r.Raw), want) {
			t.Errorf("%s is lost: %s", want, r.Raw)
		}
	}
	if s.Params == nil && (!strings.Contains(string(r.Raw), `"metadata":{"b":1,"a":2}`) || r.Model != "model-a" || r.Prompt() != "hi") {
		t.Errorf("%s", r.Raw)
	}
	req.MaxTokens = 999
	if r := s.sent(t, req); strings.Contains(string(r.Raw), "777") || !strings.Contains(string(r.Raw), "999") {
		t.Errorf("what is explicit does not come first: %s", r.Raw)
	}
}

// schemas holds O-MCP-06: the server refuses what strict ones refuse.
func (s Subject) schemas(t *testing.T) {
	req := ask(user("hi"))
	for i, raw := range []string{``, `{}`, `null`, `{"type":"string"}`, `{"type":"object"}`, `{"properties":{"a":{"type":"string"}}}`,
		`{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{}},"required":["a","b"]}]}`,
		`{"type":"object","properties":{"l":{"type":"array"}}}`, `{"type":"object","properties":{"e":{"enum":["A"],"type":"null"}}}`,
		`{"type":"object","properties":{"x":{"$ref":"#/$defs/X"}},"$defs":{"X":{"type":"array"}}}`,
		`{"type":"object","additionalProperties":{}}`, `not json`} {
		req.Tools = append(req.Tools, model.Tool{Name: "bad_" + string(rune('a'+i)), Description: "d", Schema: json.RawMessage(raw)})
	}
	r := s.sent(t, req)
	if len(r.Tools) != len(req.Tools) || !strings.Contains(string(r.Raw), schema) {
		t.Errorf("%s", r.Raw)
	}
	if !strings.Contains(string(r.Raw), `"required":["a"]`) {
		t.Errorf("alternatives are not merged: %s", r.Raw)
	}
}
