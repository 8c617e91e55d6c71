package catalog

import (
	"reflect"
	"slices"
	"testing"

	"carrel/store"
)

// The first-class models of the specification, with all their short names.
func TestFirstClassModels(t *testing.T) {
	c := catalog(nil, nil)
	for _, x := range []struct {
		name, id string
		aliases  []string
	}{
		{"Fable 5.1", "anthropic:claude-fable-5-1", []string{"fable"}},
		{"Mythos 5.1", "anthropic:claude-mythos-5-1", []string{"mythos"}},
		{"Opus 5.5", "anthropic:claude-opus-5-5", []string{"opus"}},
		{"Sonnet 5.5", "anthropic:claude-sonnet-5-5", []string{"sonnet"}},
		{"Haiku 5.5", "anthropic:claude-haiku-5-5", []string{"haiku"}},
		{"GPT-6.1 Sol", "openai:gpt-6.1-sol", []string{"gpt", "sol"}},
		{"GPT-6 Luna", "openai:gpt-6-luna", []string{"luna"}},
		{"GPT-6 Astra", "openai:gpt-6-astra", []string{"astra", "gpt-6-astra"}},
		{"Gemini 3.1 Pro Preview", "google:gemini-3.1-pro-preview", []string{"gemini", "gemini-pro"}},
		{"Gemini 3.8 Flash", "google:gemini-3.8-flash", []string{"gemini-flash"}},
		{"Grok 4.7", "xai:grok-4.7", []string{"grok", "grok-4.7"}},
		{"DeepSeek V4 Pro", "deepseek:deepseek-v4-pro", []string{"deepseek", "deepseek-pro", "deepseek-v4", "deepseek-v4-pro"}},
		{"DeepSeek V4 Flash", "deepseek:deepseek-v4-flash", []string{"deepseek-flash", "deepseek-v4-flash"}},
		{"Kimi K3", "moonshotai:kimi-k3", []string{"kimi", "k3", "kimi-k3"}},
		{"GLM 5.3 Flash", "zai:glm-5.3-flash", []string{"glm", "glm-flash", "glm-5.3-flash"}},
	} {
		for _, name := range append(x.aliases, x.id) {
			i := c.Info(name)
			if i.ID != x.id || i.Name != x.name || !slices.Equal(i.Aliases, x.aliases) || !i.Known || i.Prices == nil || i.Context < 200_000 || len(i.Levels) == 0 {
				t.Errorf("%s: %+v", name, i)
			}
		}
	}
	if got := catalog(map[string]string{"ANTHROPIC_API_KEY": "k", "XAI_API_KEY": "k"}, nil).Default(""); got != "anthropic:claude-opus-5-5" {
		t.Errorf("the default is %s", got)
	}
}

func TestTheShelfIsNotOpenedForFirstClassModels(t *testing.T) {
	for _, b := range builtins() {
		for _, k := range b.models {
			if _, ok := ours(b.id, k.id); !ok {
				t.Errorf("%s:%s", b.id, k.id)
			}
		}
	}
}

func TestInfoComesFromTheShelfUnderManyNames(t *testing.T) {
	c := catalog(nil, nil)
	for id, want := range map[string]int64{
		"anthropic:claude-sonnet-5": 1_000_000, "anthropic:claude-sonnet-4-5": 200_000, "anthropic:claude-sonnet-4-5-20250929": 200_000,
		"anthropic:claude-opus-5-20260724": 1_000_000, "openai:gpt-5.5": 1_050_000, "openai:gpt-6-astra-2026-09-03": 1_050_000,
		"google:gemini-2.5-pro": 1_048_576, "bedrock:us.anthropic.claude-opus-5": 1_000_000, "bedrock:eu.anthropic.claude-sonnet-4-6": 1_000_000,
		"bedrock:anthropic.claude-opus-5-5": 1_000_000, "bedrock:global.anthropic.claude-haiku-5-5-v1:0": 1_000_000, "openrouter:deepseek/deepseek-v4-pro": 1_048_576,
		"openrouter:anthropic/claude-opus-5.5": 1_000_000, "openrouter:x-ai/grok-4.7": 500_000, "github-copilot:gpt-5.5": 400_000,
	} {
		if i := c.Info(id); !i.Known || i.Context != want || i.ID != id {
			t.Errorf("%s: known %v, context %d, want %d", id, i.Known, i.Context, want)
		}
	}
	for _, id := range []string{"openai:nothing", "mine:qwen3", "mine:gpt-oss", "bedrock:meta.llama", "openrouter:a/b", "x:y:z"} {
		if i := c.Info(id); i.Known || i.Prices != nil || i.Context != 0 || i.ID != id {
			t.Errorf("%s: %+v", id, i)
		}
	}
	custom := catalog(nil, entries{"mine": {ProviderType: "openai-compatible", BaseURL: "http://localhost:1"}})
	if i := custom.Info("mine:claude-sonnet-5-5"); i.Context != 1_000_000 || i.Prices != nil || i.DefaultLevel != Default || i.row.style != styleEffort {
		t.Errorf("behind another server: %+v", i)
	}
	if i := c.Info("bedrock:us.anthropic.claude-opus-5-5"); i.Prices != nil || slices.Contains(i.Levels, Off) {
		t.Errorf("a gateway's price is guessed, or its levels are: %+v", i)
	}
}

func TestTheSettingsSayWhatAModelIs(t *testing.T) {
	no := false
	c := New(config{
		entries: entries{"mine": {ProviderType: "openai-compatible", BaseURL: "http://localhost:1", Models: []string{"m"}}},
		settings: store.Settings{Models: map[string]store.ModelConfig{
			"mine:m": {Name: "Mine", Aliases: []string{"Mine", "bad alias", ""}, Context: 32_000, MaxOutput: 4_000,
				Levels: []string{"high", "off", "med", "off", "x", "3"}, DefaultLevel: "med", Images: &no},
			"mine:like":                 {Like: "anthropic:claude-opus-5-5", Context: 9},
			"anthropic:claude-opus-5-5": {Aliases: []string{"o"}, Context: 200_000},
			"openai:new":                {},
			"gone:m":                    {Name: "of a provider that is not there"},
		}},
	}, env(map[string]string{"ANTHROPIC_API_KEY": "k"}))
	mine := c.Info("MINE")
	if mine.ID != "mine:m" || mine.Name != "Mine" || mine.Context != 32_000 || mine.MaxOutput != 4_000 || mine.DefaultLevel != Medium || mine.Images ||
		!slices.Equal(mine.Levels, []Level{Off, Medium, High}) || !slices.Equal(mine.Aliases, []string{"mine"}) || !mine.Known {
		t.Errorf("%+v", mine)
	}
	if like := c.Info("mine:like"); like.Context != 9 || !reflect.DeepEqual(like.Prices, c.Info("opus").Prices) || like.Aliases != nil || len(like.Tiers) > 0 {
		t.Errorf("%+v", like)
	}
	if opus := c.Info("o"); opus.ID != "anthropic:claude-opus-5-5" || opus.Context != 200_000 || opus.Name != "Opus 5.5" || !slices.Equal(opus.Aliases, []string{"opus", "o"}) {
		t.Errorf("%+v", opus)
	}
	var ids []string
	for _, m := range c.Models() {
		ids = append(ids, m.ID)
		if m.Own != slices.Contains([]string{"mine:m", "mine:like", "openai:new"}, m.ID) {
			t.Errorf("%s: own %v", m.ID, m.Own)
		}
	}
	for _, id := range []string{"mine:m", "mine:like", "openai:new", "anthropic:claude-opus-5-5"} {
		if !slices.Contains(ids, id) {
			t.Errorf("%s is not listed", id)
		}
	}
	if slices.Contains(ids, "gone:m") {
		t.Error("a model without its provider is listed")
	}
}

func TestAPersonsShortNameComesFirst(t *testing.T) {
	c := New(config{settings: store.Settings{Models: map[string]store.ModelConfig{"openai:x": {Aliases: []string{"opus"}}, "openai:a": {Aliases: []string{"opus"}}}}},
		env(nil))
	if i := c.Info("opus"); i.ID != "openai:a" { // of two, always the same one
		t.Error(i.ID)
	}
}

func TestFallbacksAreTheSettings(t *testing.T) {
	c := New(config{settings: store.Settings{ModelFallbacks: map[string]store.Fallback{
		"anthropic:claude-opus-5-5": {Models: []string{"sonnet", "anthropic:claude-opus-5-5", "opus", "gibberish", "", "anthropic:claude-sonnet-5-5", "mine:m"}},
	}}}, env(map[string]string{"ANTHROPIC_API_KEY": "k"}))
	want := []string{"anthropic:claude-sonnet-5-5", "mine:m"}
	for _, id := range []string{"opus", "anthropic:claude-opus-5-5"} {
		if got := c.Fallbacks(id); !slices.Equal(got, want) {
			t.Errorf("%s: %v", id, got)
		}
	}
	if r, err := c.Resolve(Choice{Model: "opus"}); err != nil || !slices.Equal(r.Fallbacks, want) {
		t.Errorf("%v, %v", r.Fallbacks, err)
	}
	for _, id := range []string{"", "sonnet", "gibberish"} {
		if got := c.Fallbacks(id); got != nil {
			t.Errorf("%s: %v", id, got)
		}
	}
}

func TestProModeAndTiersAreToldWhereTheyExist(t *testing.T) {
	key := map[string]string{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
	direct := catalog(key, entries{"openai": {Cyber: true}})
	for id, pro := range map[string]bool{"sol": true, "astra": true, "luna": true, "openai:gpt-5.5": false, "opus": false} {
		if i := direct.Info(id); i.Pro != pro || i.Cyber != (id == "sol" || id == "astra") {
			t.Errorf("%s: %+v", id, i)
		}
	}
	if i := direct.Info("astra"); !slices.Equal(i.Tiers, []string{"flex", "priority", "ultrafast"}) {
		t.Error(i.Tiers)
	}
	chat := catalog(key, entries{"openai": {WireFormat: "chatCompletions"}})
	if i := chat.Info("sol"); i.Pro || i.Cyber {
		t.Errorf("%+v", i)
	}
	if i := chat.Info("luna"); !slices.Equal(i.Levels, []Level{Off}) {
		t.Error(i.Levels)
	}
	if i := direct.Info("opus"); !slices.Equal(i.Tiers, []string{"fast"}) {
		t.Error(i.Tiers)
	}
}
