package catalog

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
	"carrel/store"
)

type entries = map[string]store.ProviderConfig

// sent asks a model once, of a provider whose base URL is a server of the test's, and gives the body.
func sent(t *testing.T, provider string, e store.ProviderConfig, ch Choice) map[string]any {
	t.Helper()
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	if e.BaseURL == "" {
		e.BaseURL = server.URL
	}
	if e.APIKey == "" {
		e.APIKey = "k"
	}
	r, err := catalog(nil, entries{provider: e}).Resolve(ch)
	if err != nil {
		t.Fatal(err)
	}
	return ask(t, server, r)
}

func ask(t *testing.T, server *fakewire.Server, r Resolved) map[string]any {
	t.Helper()
	q := hello("")
	q.Tools = []model.Tool{{Name: "t", Schema: json.RawMessage(`{"type":"object"}`)}}
	r.Prepare(q)
	if _, err := r.Streamer.Stream(t.Context(), q, func(model.Event) {}); err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(server.Last().Raw, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// holds compares fields of a body with JSON; "" is no field.
func holds(t *testing.T, what string, body map[string]any, want map[string]string) {
	t.Helper()
	for field, text := range want {
		got, ok := body[field]
		if text == "" {
			if ok {
				t.Errorf("%s: %s is %v, want none", what, field, got)
			}
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, v) {
			t.Errorf("%s: %s is %v, want %s", what, field, got, text)
		}
	}
}

func TestLevelsReachTheProviderInItsOwnTerms(t *testing.T) {
	adaptive := `{"type":"adaptive","display":"summarized"}`
	for _, x := range []struct {
		provider, model string
		level           Level
		want            map[string]string
	}{
		{"anthropic", "opus", Off, map[string]string{"thinking": adaptive, "output_config": `{"effort":"low"}`, "max_tokens": "128000"}},
		{"anthropic", "opus", Default, map[string]string{"thinking": adaptive, "output_config": `{"effort":"medium"}`}},
		{"anthropic", "sonnet", Off, map[string]string{"thinking": `{"type":"between_tools"}`, "output_config": ""}},
		{"anthropic", "haiku", "0", map[string]string{"thinking": `{"type":"disabled"}`, "output_config": ""}},
		{"anthropic", "haiku", Max, map[string]string{"thinking": adaptive, "output_config": `{"effort":"max"}`}},
		{"anthropic", "anthropic:claude-sonnet-4-5", High, map[string]string{"thinking": `{"type":"enabled","budget_tokens":20000}`, "output_config": ""}},
		{"anthropic", "anthropic:claude-sonnet-4-5", Default, map[string]string{"thinking": `{"type":"disabled"}`}},
		{"openai", "sol", Off, map[string]string{"reasoning": `{"effort":"low","summary":"auto"}`}},
		{"openai", "luna", Off, map[string]string{"reasoning": `{"effort":"none"}`}},
		{"openai", "openai:gpt-5", "0", map[string]string{"reasoning": `{"effort":"minimal","summary":"auto"}`}},
		{"openai", "openai:gpt-4o", High, map[string]string{"reasoning": ""}},
		{"openai", "openai:ft:new", High, map[string]string{"reasoning": `{"effort":"high","summary":"auto"}`}},
		{"openai", "openai:ft:new", Default, map[string]string{"reasoning": "", "max_output_tokens": ""}},
		{"xai", "grok", Max, map[string]string{"reasoning": `{"effort":"xhigh","summary":"auto"}`}},
		{"deepseek", "deepseek", Off, map[string]string{"thinking": `{"type":"disabled"}`, "reasoning_effort": ""}},
		{"deepseek", "deepseek", Max, map[string]string{"thinking": `{"type":"enabled"}`, "reasoning_effort": `"max"`}},
		{"moonshotai", "kimi", Off, map[string]string{"thinking": "", "reasoning_effort": `"low"`}},
		{"moonshotai", "moonshotai:kimi-k2.6", Off, map[string]string{"thinking": `{"type":"disabled"}`, "reasoning_effort": ""}},
		{"moonshotai", "moonshotai:kimi-k2.6", High, map[string]string{"thinking": `{"type":"enabled"}`, "reasoning_effort": ""}},
		{"zai", "glm", Max, map[string]string{"thinking": `{"type":"enabled"}`, "reasoning_effort": `"max"`}},
		{"openrouter", "openrouter:anthropic/claude-opus-5", High, map[string]string{"reasoning": `{"effort":"high"}`, "cache_control": `{"type":"ephemeral"}`}},
		{"openrouter", "openrouter:deepseek/deepseek-v4-pro", Off, map[string]string{"reasoning": `{"enabled":false}`, "cache_control": ""}},
		{"ollama", "ollama:qwen3:8b", Off, map[string]string{"reasoning_effort": `"none"`}},
		{"ollama", "ollama:qwen3:8b", Max, map[string]string{"reasoning_effort": `"high"`}},
		{"ollama", "ollama:qwen3:8b", Default, map[string]string{"reasoning_effort": "", "max_tokens": ""}},
	} {
		holds(t, x.model+" at "+string(x.level), sent(t, x.provider, store.ProviderConfig{}, Choice{Model: x.model, Level: x.level}), x.want)
	}
}

func TestLunaOverChatCompletionsDoesNotThink(t *testing.T) {
	e := store.ProviderConfig{WireFormat: "chatCompletions"}
	holds(t, "luna", sent(t, "openai", e, Choice{Model: "luna", Level: Max}), map[string]string{"reasoning_effort": `"none"`})
	holds(t, "sol", sent(t, "openai", e, Choice{Model: "sol", Level: Max}), map[string]string{"reasoning_effort": `"max"`})
}

func TestProModeIsForOpenAIsResponsesAlone(t *testing.T) {
	pro := Choice{Model: "astra", Level: High, Pro: true}
	holds(t, "responses", sent(t, "openai", store.ProviderConfig{}, pro), map[string]string{"reasoning": `{"mode":"pro","effort":"high","summary":"auto"}`})
	holds(t, "chat", sent(t, "openai", store.ProviderConfig{WireFormat: "chatCompletions"}, pro), map[string]string{"reasoning": "", "reasoning_effort": `"high"`})
	pro.Model = "openai:gpt-5.5"
	holds(t, "older", sent(t, "openai", store.ProviderConfig{}, pro), map[string]string{"reasoning": `{"effort":"high","summary":"auto"}`})
	custom := store.ProviderConfig{ProviderType: "openai-responses"}
	pro.Model = "mine:gpt-6-astra"
	holds(t, "custom", sent(t, "mine", custom, pro), map[string]string{"reasoning": `{"effort":"high","summary":"auto"}`})
}

func TestCyberModeIsOptInAndExcludesPro(t *testing.T) {
	on := store.ProviderConfig{Cyber: true}
	for _, x := range []struct {
		model string
		e     store.ProviderConfig
		want  string
	}{
		{"sol", on, `{"cyber":"daybreak_blue"}`}, {"astra", on, `{"cyber":"daybreak_blue"}`}, {"luna", on, ""}, {"sol", store.ProviderConfig{}, ""},
		{"sol", store.ProviderConfig{Cyber: true, WireFormat: "chatCompletions"}, ""},
	} {
		holds(t, x.model, sent(t, "openai", x.e, Choice{Model: x.model, Cyber: true}), map[string]string{"access_programs": x.want})
	}
	_, err := catalog(map[string]string{"OPENAI_API_KEY": "k"}, entries{"openai": on}).Resolve(Choice{Model: "sol", Pro: true, Cyber: true})
	if code(err) != BadChoice {
		t.Error(err)
	}
}

func TestServiceTiersAreSentWhereTheyExist(t *testing.T) {
	for _, x := range []struct{ model, tier, want string }{
		{"astra", "ultrafast", `"ultrafast"`}, {"sol", "ultrafast", ""}, {"luna", "ultrafast", ""}, {"openai:new", "ultrafast", ""},
		{"sol", "fast", `"priority"`}, {"sol", "priority", `"priority"`}, {"sol", "flex", `"flex"`}, {"sol", "default", `"default"`}, {"sol", "auto", ""}, {"sol", "", ""},
	} {
		for _, format := range []string{"", "chatCompletions"} {
			body := sent(t, "openai", store.ProviderConfig{ServiceTier: x.tier, WireFormat: format}, Choice{Model: x.model, Level: Low})
			holds(t, x.model+" "+x.tier, body, map[string]string{"service_tier": x.want})
		}
	}
	holds(t, "another provider", sent(t, "deepseek", store.ProviderConfig{ServiceTier: "flex"}, Choice{Model: "deepseek"}), map[string]string{"service_tier": ""})
}

func TestFastModeIsForAnthropicItselfAndItsModels(t *testing.T) {
	for _, x := range []struct {
		model string
		e     store.ProviderConfig
		want  string
	}{
		{"opus", store.ProviderConfig{Speed: "fast"}, "fast"},
		{"anthropic:claude-opus-5", store.ProviderConfig{Speed: "fast"}, "fast"},
		{"anthropic:claude-opus-4-8", store.ProviderConfig{Speed: "fast", BaseURL: "https://api.anthropic.com/v1"}, "fast"},
		{"sonnet", store.ProviderConfig{Speed: "fast"}, ""}, {"anthropic:claude-opus-4-7", store.ProviderConfig{Speed: "fast"}, ""},
		{"opus", store.ProviderConfig{}, ""}, {"opus", store.ProviderConfig{Speed: "standard"}, ""},
		{"opus", store.ProviderConfig{Speed: "fast", BaseURL: "https://gateway.example"}, ""},
		{"opus", store.ProviderConfig{Speed: "fast", BaseURL: "https://api.anthropic.com.evil.example"}, ""},
		{"opus", store.ProviderConfig{Speed: "fast", NoBeta: true}, ""},
	} {
		c := catalog(map[string]string{"ANTHROPIC_API_KEY": "k"}, entries{"anthropic": x.e})
		r, err := c.Resolve(Choice{Model: x.model})
		if err != nil {
			t.Fatal(err)
		}
		var q model.Request
		if r.Prepare(&q); q.Tier != x.want || (len(r.Info.Tiers) > 0) != (x.e.NoBeta == false && r.Info.row.fast && !strings.Contains(x.e.BaseURL, "example")) {
			t.Errorf("%s %+v: tier %q, %v", x.model, x.e, q.Tier, r.Info.Tiers)
		}
	}
}

func TestWebSearchIsTheProvidersOwn(t *testing.T) {
	on, off := true, false
	mode := func(m string) map[string]json.RawMessage {
		return map[string]json.RawMessage{"mode": json.RawMessage(m)}
	}
	for _, x := range []struct {
		model string
		e     entries
		want  bool
	}{
		{"opus", entries{"anthropic": {APIKey: "k"}}, false}, {"opus", entries{"anthropic": {APIKey: "k", WebSearch: &on}}, true},
		{"sol", entries{"openai": {APIKey: "k", WebSearch: &on}}, true}, {"sol", entries{"openai": {APIKey: "k", WebSearch: &on, WireFormat: "chatCompletions"}}, false},
		{"grok", entries{"xai": {APIKey: "k"}}, true}, {"grok", entries{"xai": {APIKey: "k", WebSearch: &off}}, false},
		{"grok", entries{"xai": {APIKey: "k", SearchParameters: mode(`"off"`)}}, false}, {"grok", entries{"xai": {APIKey: "k", SearchParameters: mode(`"on"`)}}, true},
		{"glm", entries{"zai": {APIKey: "k", WebSearch: &on}}, true}, {"deepseek", entries{"deepseek": {APIKey: "k", WebSearch: &on}}, false},
		{"openrouter:a/b", entries{"openrouter": {APIKey: "k", WebSearch: &on}}, true},
		{"mine:m", entries{"mine": {ProviderType: "anthropic-messages", BaseURL: "http://localhost:1", WebSearch: &on}}, false},
	} {
		r, err := catalog(nil, x.e).Resolve(Choice{Model: x.model})
		if err != nil {
			t.Fatal(err)
		}
		var q model.Request
		if r.Prepare(&q); slices.Contains(q.Native, model.WebSearch) != x.want {
			t.Errorf("%s %+v: %v", x.model, x.e, q.Native)
		}
	}
}

func TestXAISearchParametersGoToChatCompletions(t *testing.T) {
	e := store.ProviderConfig{WireFormat: "chatCompletions"}
	grok := Choice{Model: "grok"}
	holds(t, "default", sent(t, "xai", e, grok), map[string]string{"search_parameters": `{"mode":"auto"}`})
	e.SearchParameters = map[string]json.RawMessage{"sources": json.RawMessage(`[{"type":"web","country":"CH"}]`)}
	holds(t, "a region", sent(t, "xai", e, grok), map[string]string{"search_parameters": `{"mode":"auto","sources":[{"type":"web","country":"CH"}]}`})
	e.SearchParameters["mode"] = json.RawMessage(`"off"`)
	holds(t, "off", sent(t, "xai", e, grok), map[string]string{"search_parameters": `{"mode":"off","sources":[{"type":"web","country":"CH"}]}`})
	holds(t, "responses", sent(t, "xai", store.ProviderConfig{}, grok), map[string]string{"search_parameters": ""})
}

func TestOpenRoutersChoiceIsSentAsItIs(t *testing.T) {
	no := false
	e := store.ProviderConfig{Order: []string{"Cerebras", "Fireworks"}, AllowFallbacks: &no, Only: []string{"a"}, Ignore: []string{"b"}, DataCollection: "deny"}
	holds(t, "all", sent(t, "openrouter", e, Choice{Model: "openrouter:a/b"}), map[string]string{
		"provider": `{"order":["Cerebras","Fireworks"],"allow_fallbacks":false,"only":["a"],"ignore":["b"],"data_collection":"deny"}`})
	holds(t, "none", sent(t, "openrouter", store.ProviderConfig{}, Choice{Model: "openrouter:a/b"}), map[string]string{"provider": ""})
	holds(t, "another", sent(t, "deepseek", e, Choice{Model: "deepseek"}), map[string]string{"provider": ""})
}

func TestTheCacheIsKeptForAnHourWhenAsked(t *testing.T) {
	body := sent(t, "anthropic", store.ProviderConfig{CacheTTL: "1h"}, Choice{Model: "opus"})
	if raw, _ := json.Marshal(body["messages"]); !bytes.Contains(raw, []byte(`"ttl":"1h"`)) {
		t.Errorf("%s", raw)
	}
}

func TestPrepareIsDeterministicAndKeepsTheRequest(t *testing.T) {
	e := entries{"openrouter": {APIKey: "k", Order: []string{"x"}, ModelParameters: map[string]map[string]json.RawMessage{
		"*": {"temperature": json.RawMessage("0.5"), "a": json.RawMessage("1"), "b": json.RawMessage("[2]")}}}}
	r, err := catalog(nil, e).Resolve(Choice{Model: "openrouter:a/b", Level: High})
	if err != nil {
		t.Fatal(err)
	}
	var first model.Request
	r.Prepare(&first)
	first.Params.Extra["a"] = json.RawMessage("9") // what one request does is no other's
	for range 20 {
		var next model.Request
		r.Prepare(&next)
		want := maps.Clone(first.Params.Extra)
		want["a"] = json.RawMessage("1")
		if next.Model != "a/b" || !reflect.DeepEqual(next.Params.Extra, want) || *next.Params.Temperature != 0.5 {
			t.Fatalf("%+v", next)
		}
	}
	kept := model.Request{MaxTokens: 7, Force: "t", System: "s", CacheKey: "c"}
	if r.Prepare(&kept); kept.MaxTokens != 7 || kept.Force != "t" || kept.System != "s" || kept.CacheKey != "c" {
		t.Errorf("%+v", kept)
	}
}

func TestAToolIsNotForcedWhereThatIsRefused(t *testing.T) {
	c := catalog(map[string]string{"ANTHROPIC_API_KEY": "k"}, nil)
	for id, want := range map[string]string{"opus": "", "sonnet": "", "fable": "", "anthropic:claude-fable-5": "", "haiku": "t", "anthropic:claude-opus-5": "t"} {
		r, err := c.Resolve(Choice{Model: id})
		if err != nil {
			t.Fatal(err)
		}
		q := model.Request{Force: "t"}
		if r.Prepare(&q); q.Force != want || r.Info.Force != (want != "") || q.Thinking.Off != (want != "") {
			t.Errorf("%s: %q", id, q.Force)
		}
	}
}
