package chat

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
	"carrel/agent/model/modeltest"
	"carrel/agent/model/wire"
)

func client(t *testing.T, url string, o Options) *wire.Client {
	t.Helper()
	o.BaseURL, o.Key, o.Provider = url, modeltest.Key, "p"
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(messages ...model.Message) *model.Request {
	return &model.Request{Model: "m", Messages: append([]model.Message{say(model.User, "hi")}, messages...)}
}

func say(r model.Role, text string) model.Message {
	return model.Message{Role: r, Parts: []model.Part{{Kind: model.Text, Text: text}}}
}

// stream gets a response of these events.
func stream(t *testing.T, o Options, events ...string) (*model.Message, error) {
	t.Helper()
	raw := "data: " + strings.Join(append(events, "[DONE]"), "\n\ndata: ") + "\n\n"
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Raw: []byte(raw)}))
	return client(t, server.URL, o).Stream(t.Context(), ask(), nil)
}

func must(t *testing.T, o Options, events ...string) *model.Message {
	t.Helper()
	m, err := stream(t, o, events...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEveryDialectSaysHowMuchToThink(t *testing.T) {
	off, high, budget := model.Thinking{Off: true}, model.Thinking{Effort: "high"}, model.Thinking{Budget: 2048, Effort: "high"}
	for _, c := range []struct {
		effort   Effort
		thinking model.Thinking
		want     string
	}{
		{EffortField, off, `"reasoning_effort":"none"`},
		{EffortField, high, `"reasoning_effort":"high"`},
		{EffortField, budget, `"reasoning_effort":"high"`},
		{EffortObject, off, `"reasoning":{"enabled":false}`},
		{EffortObject, high, `"reasoning":{"effort":"high"}`},
		{EffortObject, budget, `"reasoning":{"max_tokens":2048}`},
		{EffortSwitch, off, `"thinking":{"type":"disabled"}`},
		{EffortSwitch, high, `"thinking":{"type":"enabled"}`},
		{EffortBoth, off, `"thinking":{"type":"disabled"}`},
		{EffortBoth, high, `"thinking":{"type":"enabled"},"reasoning_effort":"high"`},
	} {
		r := ask()
		r.Thinking = c.thinking
		body := string(client(t, "http://h", Options{Quirks: Quirks{Effort: c.effort}}).Body(r))
		if !strings.Contains(body, c.want) || strings.Count(body, "reasoning")+strings.Count(body, "thinking") != strings.Count(c.want, "reasoning")+strings.Count(c.want, "thinking") {
			t.Errorf("%q, %+v: %s", c.effort, c.thinking, body)
		}
		r.Thinking = model.Thinking{}
		body = string(client(t, "http://h", Options{Quirks: Quirks{Effort: c.effort}}).Body(r))
		if strings.Contains(body, "reasoning") || strings.Contains(body, "thinking") {
			t.Errorf("%q says something unasked: %s", c.effort, body)
		}
	}
}

func TestSearchIsSwitchedOnInEachWay(t *testing.T) {
	own := map[string]json.RawMessage{"search_parameters": json.RawMessage(`{"mode":"on","sources":[{"type":"x"}]}`)}
	for _, c := range []struct {
		search Search
		extra  map[string]json.RawMessage
		want   string
	}{
		{SearchParameters, nil, `"search_parameters":{"mode":"auto"}`},
		{SearchParameters, own, `"search_parameters":{"mode":"on","sources":[{"type":"x"}]}`},
		{SearchPlugin, nil, `"plugins":[{"id":"web"}]`},
		{SearchOptions, nil, `"web_search_options":{}`},
		{SearchTool, nil, `"tools":[{"type":"web_search",`},
		{SearchNone, nil, ``},
	} {
		r := ask()
		r.Native = []string{model.WebSearch}
		body := client(t, "http://h", Options{Quirks: Quirks{Search: c.search}, Extra: c.extra}).Body(r)
		if !strings.Contains(string(body), c.want) || strings.Count(string(body), "search_parameters") > 1 {
			t.Errorf("%q: %s", c.search, body)
		}
		if err := fakewire.Check("/chat/completions", body); err != nil {
			t.Errorf("%q: %v", c.search, err)
		}
	}
}

func TestOpenRoutersOptionsAreSent(t *testing.T) {
	r := ask()
	r.CacheHour, r.CacheKey, r.Params.Extra = true, "key", map[string]json.RawMessage{"provider": json.RawMessage(`{"order":["other"]}`), "user": json.RawMessage(`"u"`)}
	body := string(client(t, "http://h", Options{Quirks: Quirks{CacheControl: true, CacheKey: true},
		Extra: map[string]json.RawMessage{"provider": json.RawMessage(`{"order":["Cerebras"],"allow_fallbacks":false}`)}}).Body(r))
	for _, want := range []string{`"provider":{"order":["Cerebras"],"allow_fallbacks":false}`, `"cache_control":{"type":"ephemeral","ttl":"1h"}`,
		`"prompt_cache_key":"key"`, `"user":"u"`, `"include_usage":true`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing: %s", want, body)
		}
	}
	if strings.Contains(body, "other") {
		t.Errorf("sent twice: %s", body)
	}
}

// The pieces of a detail become one, in order, and go back to their model alone.
func TestReasoningDetailsGoBackWhole(t *testing.T) {
	o := Options{Quirks: Quirks{Replay: ReplayDetails}}
	m := must(t, o,
		`{"choices":[{"delta":{"reasoning":"Let ","reasoning_details":[{"type":"reasoning.text","text":"Let ","format":"f","index":0}]}}]}`,
		`{"choices":[{"delta":{"reasoning":"me <think>","reasoning_details":[{"type":"reasoning.text","text":"me <think>","index":0}]}}]}`,
		`{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","signature":"SIG","index":0},{"type":"reasoning.encrypted","data":"AA","id":"r1","index":1}]}}]}`,
		`{"choices":[{"delta":{"content":"Reading."}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{}"}}]}}]}`,
		`{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"LATE","index":2}]},"finish_reason":"tool_calls"}]}`)
	if m.Parts[0].Text != "Let me <think>" || len(m.Parts) != 3 || len(model.Runnable(m)) != 1 {
		t.Fatalf("%+v", m)
	}
	back := model.Message{Role: model.ToolRole, Parts: []model.Part{{Kind: model.ToolResult, CallID: "c1", Name: "read"}}}
	c := client(t, "http://h", o)
	body := string(c.Body(ask(*m, back)))
	want := `"reasoning_details":[{"format":"f","index":0,"signature":"SIG","text":"Let me <think>","type":"reasoning.text"},` +
		`{"data":"AA","id":"r1","index":1,"type":"reasoning.encrypted"},{"data":"LATE","index":2,"type":"reasoning.encrypted"}]`
	if !strings.Contains(unescaped(t, body), want) {
		t.Errorf("got %s\nwant %s", body, want)
	}
	r := ask(*m, back)
	r.Model = "another"
	if body := string(c.Body(r)); strings.Contains(body, "SIG") || strings.Contains(body, "LATE") {
		t.Errorf("leaked: %s", body)
	}
	only := must(t, o, `{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.summary","summary":"short","index":0}]}}]}`,
		`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`)
	if only.Parts[0].Kind != model.Reasoning || only.Parts[0].Text != "short" {
		t.Errorf("%+v", only)
	}
}

// unescaped writes < instead of its escape.
func unescaped(t *testing.T, body string) string {
	t.Helper()
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(body)
}

func TestWhatComesWithACallGoesBackWithIt(t *testing.T) {
	m := must(t, Options{}, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{}"},"extra_content":{"google":{"thought_signature":"S"}}}]},"finish_reason":"tool_calls"}]}`)
	body := string(client(t, "http://h", Options{}).Body(ask(*m)))
	if !strings.Contains(body, `"extra_content":{"google":{"thought_signature":"S"}}`) {
		t.Errorf("%s", body)
	}
}

func TestCallIDsAreNotLongerThanOpenAITakes(t *testing.T) {
	long, short := strings.Repeat("é", 30), "functions.read:0"
	body := string(client(t, "http://localhost", Options{}).Body(ask(say(model.User, "hi"), model.Message{Role: model.Assistant, Stop: model.StopTools,
		Parts: []model.Part{{Kind: model.ToolCall, CallID: long, Name: "read"}, {Kind: model.ToolCall, CallID: short, Name: "read"}}})))
	id := wire.ShortID(long)
	if len(id) > 40 || strings.Count(body, `"`+id+`"`) != 2 || strings.Count(body, `"`+short+`"`) != 2 || wire.ShortID(long+"x") == id {
		t.Errorf("%s: %s", id, body)
	}
}

func TestUsageOfEachDialect(t *testing.T) {
	end := `{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`
	for usage, want := range map[string]model.Usage{
		`{"prompt_tokens":150,"completion_tokens":10,"total_tokens":160,"cost":0.0123456,"prompt_tokens_details":{"cached_tokens":30,"cache_write_tokens":20}}`: {Input: 100, Output: 10, CacheRead: 30, CacheWrite: 20, Cost: 12346},
		`{"prompt_tokens":100,"completion_tokens":10,"total_tokens":150,"completion_tokens_details":{"reasoning_tokens":40},"num_sources_used":3}`:              {Input: 100, Output: 50, Reasoning: 40, Searches: 3},
		`{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"completion_tokens_details":{"reasoning_tokens":40}}`:                                   {Input: 100, Output: 50, Reasoning: 40},
		`{"prompt_tokens":100,"completion_tokens":1,"prompt_cache_hit_tokens":60}`:                                                                              {Input: 40, Output: 1, CacheRead: 60},
		`{"prompt_tokens":100,"completion_tokens":1,"cached_tokens":60}`:                                                                                        {Input: 40, Output: 1, CacheRead: 60},
	} {
		if m := must(t, Options{}, end, `{"choices":[],"usage":`+usage+`}`); m.Usage != want {
			t.Errorf("%s: %+v", usage, m.Usage)
		}
	}
}

func TestSourcesOfEachDialect(t *testing.T) {
	end := `{"choices":[{"delta":{},"finish_reason":"stop"}]`
	for _, tail := range []string{`,"citations":["https://a"]}`, `,"web_search":[{"link":"https://a","title":""}]}`} {
		if m := must(t, Options{}, `{"choices":[{"delta":{"content":"x"}}]}`, end+tail); len(m.Parts[0].Sources) != 1 || m.Parts[0].Sources[0].URL != "https://a" {
			t.Errorf("%s: %+v", tail, m)
		}
	}
}

func TestContentInListsIsRead(t *testing.T) {
	m := must(t, Options{}, `{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}`,
		`{"choices":[{"delta":{"content":[{"type":"text","text":"yes"}]},"finish_reason":"stop"}]}`)
	if len(m.Parts) != 2 || m.Parts[0].Text != "hm" || m.Parts[1].Text != "yes" {
		t.Errorf("%+v", m)
	}
}

func TestRefusalsStopTheResponse(t *testing.T) {
	for _, event := range []string{
		`{"choices":[{"delta":{"refusal":"I won't."},"finish_reason":"stop"}]}`,
		`{"choices":[{"delta":{"content":"I"},"finish_reason":"stop","native_finish_reason":"refusal"}]}`,
		`{"choices":[{"delta":{"content":"I"},"finish_reason":"content_filter"}]}`,
	} {
		if m := must(t, Options{}, event); m.Stop != model.StopFilter {
			t.Errorf("%s: %q", event, m.Stop)
		}
	}
	_, err := stream(t, Options{}, `{"choices":[{"delta":{},"error":{"code":429,"message":"slow down"},"finish_reason":"error"}]}`)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.ErrRateLimit {
		t.Errorf("%v", err)
	}
}

func TestCopilotLearnsWhoAsks(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	c := client(t, server.URL, Options{Header: http.Header{"Editor-Version": {"carrel/1"}}})
	c.Headers = wire.Copilot
	call := model.Message{Role: model.Assistant, Stop: model.StopTools, Parts: []model.Part{{Kind: model.ToolCall, CallID: "a", Name: "n", Input: "{}"}}}
	back := model.Message{Role: model.ToolRole, Parts: []model.Part{{Kind: model.ToolResult, CallID: "a", Parts: []model.Part{{Kind: model.File, Mime: "image/png", Data: []byte("x")}}}}}
	for want, r := range map[string]*model.Request{"user ": ask(), "agent true": ask(call, back)} {
		if _, err := c.Stream(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		h := server.Last().Header
		if got := h.Get("X-Initiator") + " " + h.Get("Copilot-Vision-Request"); got != want || h.Get("Openai-Intent") == "" || h.Get("Editor-Version") != "carrel/1" {
			t.Errorf("%v", h)
		}
	}
}
