package store_test

import (
	"reflect"
	"strings"
	"testing"

	"carrel/store"
)

func chains(t *testing.T, r *store.Root) map[string]store.Fallback {
	t.Helper()
	s, err := r.Settings()
	if err != nil {
		t.Fatal(err)
	}
	return s.ModelFallbacks
}

func TestANewInstallStartsWithChainsOfFallbacks(t *testing.T) {
	r := open(t)
	want := map[string]store.Fallback{
		"anthropic:claude-fable-5-1":  {Models: []string{"anthropic:claude-opus-5"}},
		"anthropic:claude-sonnet-5-5": {Models: []string{"anthropic:claude-sonnet-5"}},
	}
	if got := chains(t, r); !reflect.DeepEqual(got, want) {
		t.Fatalf("before anything is written: %v", got)
	}
	if err := r.SetSetting([]string{"theme"}, "dark"); err != nil {
		t.Fatal(err)
	}
	if got := chains(t, r); !reflect.DeepEqual(got, want) {
		t.Fatalf("after the first change: %v", got)
	}
	if err := r.SetSetting([]string{"modelFallbacks", "anthropic:claude-fable-5-1"}, nil); err != nil {
		t.Fatal(err)
	}
	delete(want, "anthropic:claude-fable-5-1")
	if got := chains(t, r); !reflect.DeepEqual(got, want) {
		t.Fatalf("after one was removed: %v", got)
	}
}

func TestAnExistingFilesChainsAreNeverChanged(t *testing.T) {
	for _, text := range []string{`{"theme": "dark"}`, `{"modelFallbacks": {}}`, `{}`, ``} {
		r := open(t)
		write(t, r, "settings.jsonc", text)
		if got := chains(t, r); len(got) != 0 {
			t.Errorf("%q: %v", text, got)
		}
		if err := r.SetSetting([]string{"theme"}, "light"); err != nil {
			t.Fatal(err)
		}
		if got := chains(t, r); len(got) != 0 {
			t.Errorf("%q after a change: %v", text, got)
		}
	}
}

func TestAWrongModelInTheSettingsSpoilsNoOther(t *testing.T) {
	r := open(t)
	write(t, r, "settings.jsonc", `{
		"models": {"a:b": {"aliases": ["x"], "context": 5, "prices": {"input": 1.5, "cacheRead": 0}}, "a:bad": {"context": "big"}, "a:worse": 3},
		"modelFallbacks": {"a:b": {"models": ["c:d"]}, "a:bad": ["c:d"]},
	}`)
	s, err := r.Settings()
	if err != nil || len(s.Models) != 1 || s.Models["a:b"].Context != 5 || *s.Models["a:b"].Prices.CacheRead != 0 || len(s.ModelFallbacks) != 1 {
		t.Fatalf("%+v %v", s, err)
	}
	for _, p := range r.Problems() {
		if p.Code != store.BadSetting || !strings.Contains(p.Message, "settings.jsonc") {
			t.Errorf("%+v", p)
		}
	}
	if len(r.Problems()) != 3 {
		t.Errorf("%d problems", len(r.Problems()))
	}
}

func TestProvidersKeepEveryField(t *testing.T) {
	r := open(t)
	write(t, r, "providers.jsonc", `{
		"anthropic": {"apiKey": "k", "speed": "fast", "cacheTtl": "1h", "modelParameters": {"*": {"temperature": 0.7, "own": {"x": [1,],},},},},
		"openai": {"wireFormat": "chatCompletions", "serviceTier": "ultrafast", "cyber": true, "webSearch": false},
		"openrouter": {"order": ["Cerebras", "Fireworks"], "allow_fallbacks": true, "only": ["a"], "ignore": ["b"], "data_collection": "deny"},
		"xai": {"searchParameters": {"mode": "auto"}},
		"bedrock": {"region": "us-east-1", "profile": "p", "bearerToken": "t", "accessKeyId": "a", "secretAccessKey": "s", "sessionToken": "x"},
	}`)
	p, err := r.Providers()
	if err != nil {
		t.Fatal(err)
	}
	a, o, or, b := p["anthropic"], p["openai"], p["openrouter"], p["bedrock"]
	if a.Speed != "fast" || a.CacheTTL != "1h" || string(a.ModelParameters["*"]["temperature"]) != "0.7" || a.ModelParameters["*"]["own"] == nil ||
		o.ServiceTier != "ultrafast" || !o.Cyber || o.WebSearch == nil || *o.WebSearch || len(or.Order) != 2 || !*or.AllowFallbacks || or.DataCollection != "deny" ||
		string(p["xai"].SearchParameters["mode"]) != `"auto"` || b.Region != "us-east-1" || b.Profile != "p" || b.BearerToken != "t" || b.AccessKeyID != "a" ||
		b.SecretAccessKey != "s" || b.SessionToken != "x" {
		t.Errorf("%+v", p)
	}
}
