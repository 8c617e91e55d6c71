package anthropic

import (
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
	"carrel/agent/model/modeltest"
	"carrel/agent/model/wire"
)

func ask(messages ...model.Message) *model.Request {
	return &model.Request{Model: "claude", System: "s", Messages: append([]model.Message{
		{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "hi"}}}}, messages...)}
}

func client(t *testing.T, url string) *wire.Client {
	t.Helper()
	c, err := New(Options{BaseURL: url, Key: modeltest.Key, Provider: "p"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestThinkingIsAskedForInTheFormThatFits(t *testing.T) {
	tool := []model.Tool{{Name: "read"}}
	for want, r := range map[string]model.Request{
		`"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"max"}`:                                                           {Thinking: model.Thinking{Effort: "max"}},
		`"max_tokens":32000,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"thinking":{"type":"enabled","budget_tokens":4000}`: {Thinking: model.Thinking{Budget: 4000}},
		`"max_tokens":5000,`:                                             {Thinking: model.Thinking{Budget: 4000}, MaxTokens: 1000},
		`"thinking":{"type":"disabled"}`:                                 {Thinking: model.Thinking{Off: true}},
		`"tool_choice":{"type":"tool","name":"read"},"system"`:           {Thinking: model.Thinking{Budget: 4000}, Tools: tool, Force: "read"},
		`"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`: {Thinking: model.Thinking{Effort: "low"}, Tools: tool, OneTool: true},
		`,"output_config":{"effort":"low"},"messages"`:                   {Thinking: model.Thinking{Effort: "low"}, Tools: tool, Force: "read"},
		`"service_tier":"standard_only"`:                                 {Tier: "standard_only"},
	} {
		r.Model, r.System, r.Messages = "claude", "s", ask().Messages
		body := client(t, "http://h").Body(&r)
		if !strings.Contains(string(body), want) {
			t.Errorf("%s is missing: %s", want, body)
		}
		if err := fakewire.Check("/messages", body); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestFastModeIsAskedForOnlyWhenWanted(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok", Tier: "fast"}))
	c := client(t, server.URL)
	for _, tier := range []string{"", "fast"} {
		r := ask()
		r.Tier = tier
		m, err := c.Stream(t.Context(), r, nil)
		if err != nil || m.Tier != "fast" {
			t.Fatalf("%+v, %v", m, err)
		}
		got := server.Last()
		if beta := got.Header.Get("Anthropic-Beta") != ""; beta != (tier == "fast") || strings.Contains(string(got.Raw), `"speed":"fast"`) != beta {
			t.Errorf("%q: %v %s", tier, got.Header, got.Raw)
		}
	}
}

// Four marks, the most that are allowed: tools, system and the last two of the user's messages.
func TestCacheMarksAreWhereTheyHelp(t *testing.T) {
	say := func(r model.Role, text string) model.Message {
		return model.Message{Role: r, Parts: []model.Part{{Kind: model.Text, Text: text}}}
	}
	r := ask(say(model.Assistant, "a1"), say(model.User, "u2"), say(model.Assistant, "a2"), say(model.User, "u3a"), say(model.User, "u3b"))
	r.Tools, r.CacheHour = []model.Tool{{Name: "x"}, {Name: "y"}}, true
	body := string(client(t, "http://h").Body(r))
	mark := `"cache_control":{"type":"ephemeral","ttl":"1h"}}`
	for _, want := range []string{`"text":"u3b",` + mark, `"text":"u2",` + mark, `"text":"s",` + mark, `"name":"y","description":"","input_schema":{"type":"object","properties":{}},` + mark} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not marked: %s", want, body)
		}
	}
	if n := strings.Count(body, "cache_control"); n != 4 {
		t.Errorf("%d marks: %s", n, body)
	}
}

func TestUsageTellsWhatCostsMore(t *testing.T) {
	want := model.Usage{Input: 100, Output: 42, CacheRead: 30, CacheWrite: 50, CacheWriteHour: 40, Searches: 2}
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "x", Usage: want}))
	m, err := client(t, server.URL).Stream(t.Context(), ask(), nil)
	if err != nil || m.Usage != want {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestAFailedSearchIsKept(t *testing.T) {
	raw := `data: {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"q\"}"}}

data: {"type":"content_block_stop","index":0}

data: {"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"s1","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}}}

data: {"type":"content_block_stop","index":1}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}

data: {"type":"message_stop"}

`
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Raw: []byte(raw)}))
	c := client(t, server.URL)
	m, err := c.Stream(t.Context(), ask(), nil)
	if err != nil || len(m.Parts) != 2 || m.Parts[0].Text != "q" || m.Parts[1].Text != "failed: max_uses_exceeded" {
		t.Fatalf("%+v, %v", m, err)
	}
	next := model.Message{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "go on"}}}
	if body := string(c.Body(ask(*m, next))); !strings.Contains(body, `{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result"`) {
		t.Errorf("%s", body)
	}
}

// A failed result may hold nothing but text.
func TestFilesOfAFailedResultComeAfterAllResults(t *testing.T) {
	file := model.Part{Kind: model.File, Mime: "application/pdf", Data: []byte("%PDF-1")}
	result := func(id string) model.Part {
		return model.Part{Kind: model.ToolResult, CallID: id, Name: "shot", IsError: true, Parts: []model.Part{{Kind: model.Text, Text: "broken"}, file}}
	}
	body := string(client(t, "http://localhost").Body(ask(model.Message{Role: model.Assistant, Stop: model.StopTools, Parts: []model.Part{
		{Kind: model.ToolCall, CallID: "a", Name: "shot", Input: "{}"}, {Kind: model.ToolCall, CallID: "b", Name: "shot", Input: "{}"}}},
		model.Message{Role: model.ToolRole, Parts: []model.Part{result("a"), result("b")}})))
	_, after, ok := strings.Cut(body, `"tool_use_id":"b","content":[{"type":"text","text":"broken"}],"is_error":true},{"type":"text","text":"[file from shot, call a]"},{"type":"document"`)
	if !ok || strings.Count(after, `"type":"document"`) != 1 {
		t.Error(body)
	}
}
