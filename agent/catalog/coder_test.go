package catalog

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carrel/agent/catalog/coder"
	"carrel/agent/catalog/coder/fakecoder"
	"carrel/agent/model"
	"carrel/agent/model/fakewire"
	"carrel/store"
)

// kept is a Config that keeps a renewed login, as the store does.
type kept struct {
	mu sync.Mutex
	e  store.ProviderConfig
	k  map[string]store.ProviderConfig
}

func (k *kept) Settings() (store.Settings, error) { return store.Settings{}, nil }

func (k *kept) Providers() (map[string]store.ProviderConfig, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := maps.Clone(k.k)
	if out == nil {
		out = map[string]store.ProviderConfig{}
	}
	out["coder"] = k.e
	return out, nil
}

func (k *kept) SetProvider(_ string, path []string, value any) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l, ok := value.(store.CoderLogin); ok && slices.Equal(path, []string{"login"}) {
		k.e.Login = &l
	}
	return nil
}

// connected is a catalog that is logged in at a deployment with these providers.
func connected(t *testing.T, list ...store.GatewayProvider) (*fakecoder.Deployment, *kept, *Catalog) {
	t.Helper()
	fake := fakecoder.New(t, fakewire.Steps(fakewire.Reply{Text: "OK"}))
	d := coder.Deployment{URL: fake.URL, HTTP: catalog(nil, nil).http}
	back, err := coder.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	l, err := d.Begin(t.Context(), back.Address)
	if err != nil {
		t.Fatal(err)
	}
	fakecoder.Approve(t, l.Address)
	token, err := d.Finish(t.Context(), l, (<-back.Answers()).Code)
	if err != nil {
		t.Fatal(err)
	}
	k := &kept{e: store.ProviderConfig{BaseURL: fake.URL + "/", Discovered: list, Login: &store.CoderLogin{ClientID: l.Client.ID,
		ClientSecret: l.Client.Secret, AccessToken: token.Access, RefreshToken: token.Refresh, ExpiresAt: token.Expires}}}
	return fake, k, New(k, func(string) string { return "" })
}

func hi() *model.Request {
	return &model.Request{Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "hi"}}}}}
}

func TestCodersProvidersAreAskedInTheirFormats(t *testing.T) {
	fake, k, c := connected(t, store.GatewayProvider{Name: "anthropic", Type: "anthropic"}, store.GatewayProvider{Name: "claude-aws", Type: "bedrock"},
		store.GatewayProvider{Name: "gpt", Type: "openai"}, store.GatewayProvider{Name: "gemini", Type: "google"})
	k.e.Further = []store.GatewayProvider{{Name: "llm-proxy", Type: "openai-compat"}}
	for id, want := range map[string]struct{ format, path, model string }{
		"coder:anthropic/claude-opus-5-5":      {"anthropic", "/anthropic/v1/messages", "claude-opus-5-5"},
		"coder:claude-aws/us.anthropic.claude": {"anthropic", "/claude-aws/v1/messages", "us.anthropic.claude"},
		"coder:gpt/gpt-6-luna":                 {"responses", "/gpt/v1/responses", "gpt-6-luna"},
		"coder:gemini/gemini-3-pro":            {"chat", "/gemini/v1/chat/completions", "gemini-3-pro"},
		"coder:llm-proxy/meta/llama-3.3-70b":   {"chat", "/llm-proxy/v1/chat/completions", "meta/llama-3.3-70b"},
	} {
		r, err := c.Resolve(Choice{Model: id, Level: High})
		if err != nil {
			t.Fatal(err)
		}
		q := hi()
		r.Prepare(q)
		fake.Set(func(s *fakecoder.State) { s.Providers = nil })
		if _, err := r.Streamer.Stream(t.Context(), q, nil); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		got := fake.Wire.Last()
		if got.Format != want.format || got.Path != want.path || got.Model != want.model || r.ID != id || r.Via != "" {
			t.Errorf("%s: %s %s %s, %+v", id, got.Format, got.Path, got.Model, r)
		}
	}
	for id, want := range map[string]Code{"coder:claude": BadModel, "coder:nowhere/x": BadModel, "coder:anthropic/": BadModel} {
		if _, err := c.Resolve(Choice{Model: id}); code(err) != want {
			t.Errorf("%s: %v", id, err)
		}
	}
	if i := c.Info("coder:anthropic/claude-opus-5-5"); i.Context == 0 || i.Prices != nil || !slices.Contains(i.Levels, High) {
		t.Errorf("%+v", i)
	}
	check(t, "coder", c.Test(t.Context(), "coder"), "")
}

// way is how a model is expected to be reached.
type way struct {
	what   string
	change func(*store.ProviderConfig)
	key    bool // for the model's own provider
	model  string
	via    string
	code   Code
}

func TestNativeModelsGoThroughCoder(t *testing.T) {
	for _, x := range []way{
		{"by default", nil, false, "opus", "coder:anthropic/claude-opus-5-5", ""},
		{"a key comes first", nil, true, "opus", "", ""},
		{"but not where Coder is preferred", func(e *store.ProviderConfig) { e.Preferred = true }, true, "opus", "coder:anthropic/claude-opus-5-5", ""},
		{"mapped", func(e *store.ProviderConfig) { e.Routes = map[string]string{"anthropic": "claude-corp"} }, false, "opus", "coder:claude-corp/claude-opus-5-5", ""},
		{"mapped to another type", func(e *store.ProviderConfig) { e.Routes = map[string]string{"anthropic": "gpt"} }, false, "opus", "", NoKey},
		{"mapped to what is gone", func(e *store.ProviderConfig) { e.Routes = map[string]string{"anthropic": "gone"} }, false, "opus", "", NoKey},
		{"no provider of that name", nil, false, "sol", "", NoKey},
		{"mapped OpenAI", func(e *store.ProviderConfig) { e.Routes = map[string]string{"openai": "gpt"} }, false, "sol", "coder:gpt/gpt-6.1-sol", ""},
		{"Google only when mapped", nil, false, "gemini", "", NoKey},
		{"Google", func(e *store.ProviderConfig) { e.Routes = map[string]string{"google": "google"} }, false, "gemini", "coder:google/gemini-3.1-pro-preview", ""},
		{"not in the catalogue", func(e *store.ProviderConfig) { e.Catalog = []string{"anthropic/other"} }, false, "opus", "", NoKey},
		{"in the catalogue", func(e *store.ProviderConfig) { e.Catalog = []string{"anthropic/claude-opus-5-5"} }, false, "opus", "coder:anthropic/claude-opus-5-5", ""},
		{"of one without a catalogue", func(e *store.ProviderConfig) { e.Catalog, e.Unlisted = []string{}, []string{"anthropic"} }, false, "opus", "coder:anthropic/claude-opus-5-5", ""},
		{"logged out", func(e *store.ProviderConfig) { e.Login = nil }, false, "opus", "", NoKey},
	} {
		x.check(t)
	}
	_, _, c := connected(t, gateways()...)
	if got := c.Default(""); got != "anthropic:claude-opus-5-5" {
		t.Errorf("the default is %s", got)
	}
	if got := c.Default("anthropic:claude-haiku-5-5"); got != "anthropic:claude-haiku-5-5" {
		t.Errorf("a default that goes through Coder becomes %s", got)
	}
}

func TestAModelsOwnRouteComesFirst(t *testing.T) {
	for _, x := range []way{
		{"chosen for the model, beside a key", func(e *store.ProviderConfig) { e.ModelRoutes = map[string]string{"anthropic:claude-opus-5-5": "coder"} }, true, "opus", "coder:anthropic/claude-opus-5-5", ""},
		{"chosen, but not served", func(e *store.ProviderConfig) {
			e.Catalog, e.ModelRoutes = []string{}, map[string]string{"anthropic:claude-opus-5-5": "coder"}
		}, true, "opus", "", NoRoute},
		{"not through Coder, though it is preferred", func(e *store.ProviderConfig) {
			e.Preferred, e.ModelRoutes = true, map[string]string{"anthropic:claude-opus-5-5": "direct"}
		}, true, "opus", "", ""},
		{"not through Coder, without a key", func(e *store.ProviderConfig) {
			e.ModelRoutes = map[string]string{"anthropic:claude-opus-5-5": "direct"}
		}, false, "opus", "", NoKey},
		{"chosen, but logged out", func(e *store.ProviderConfig) {
			e.Login, e.ModelRoutes = nil, map[string]string{"anthropic:claude-opus-5-5": "coder"}
		}, true, "opus", "", ""},
	} {
		x.check(t)
	}
}

func gateways() []store.GatewayProvider {
	return []store.GatewayProvider{{Name: "anthropic", Type: "anthropic"}, {Name: "claude-corp", Type: "anthropic"}, {Name: "gpt", Type: "openai"}, {Name: "google", Type: "google"}}
}

func (x way) check(t *testing.T) {
	t.Helper()
	fake, k, c := connected(t, gateways()...)
	if x.change != nil {
		x.change(&k.e)
	}
	if x.key {
		k.k = map[string]store.ProviderConfig{"anthropic": {APIKey: "k", BaseURL: fake.Wire.URL}}
	}
	r, err := c.Resolve(Choice{Model: x.model})
	if code(err) != x.code || r.Via != x.via {
		t.Errorf("%s: via %q, %v", x.what, r.Via, err)
	}
	i := slices.IndexFunc(c.Models(), func(m Model) bool { return slices.Contains(m.Aliases, x.model) })
	if m := c.Models()[i]; m.Available != (x.code == "") || m.Via != x.via {
		t.Errorf("%s: available is %v, via %q", x.what, m.Available, m.Via)
	}
	if x.via == "" {
		return
	}
	q := hi()
	r.Prepare(q)
	if _, err := r.Streamer.Stream(t.Context(), q, nil); err != nil || r.ID == x.via {
		t.Errorf("%s: %v, %s", x.what, err, r.ID)
	}
}

func TestALoginIsRenewedOnce(t *testing.T) {
	fake, k, c := connected(t)
	k.e.Login.ExpiresAt = time.Now().Add(10 * time.Second)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			r, err := c.Resolve(Choice{Model: "coder:anthropic/claude-opus-5-5"})
			if err != nil {
				t.Error(err)
				return
			}
			q := hi()
			r.Prepare(q)
			if _, err := r.Streamer.Stream(t.Context(), q, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if fake.Renewals() != 1 {
		t.Errorf("%d renewals", fake.Renewals())
	}
	k.e.Login.ExpiresAt, k.e.Login.RefreshToken = time.Now().Add(-time.Minute), "gone"
	r, err := c.Resolve(Choice{Model: "coder:anthropic/claude-opus-5-5"})
	if err != nil {
		t.Fatal(err)
	}
	q := hi()
	r.Prepare(q)
	_, err = r.Streamer.Stream(t.Context(), q, nil)
	if err == nil || !strings.Contains(err.Error(), "auth") || !strings.Contains(err.Error(), "Log in again") {
		t.Errorf("%v", err)
	}
	check(t, "an ended login", c.Test(t.Context(), "coder"), "auth")
}

func TestCodersModelsAreSuggestedOnceTheyAreLoaded(t *testing.T) {
	_, k, c := connected(t)
	if _, err := c.Suggest(t.Context(), "coder"); code(err) != NoList {
		t.Errorf("%v", err)
	}
	k.e.Catalog = []string{"b/x", "a/y"}
	if list, err := c.Suggest(t.Context(), "coder"); err != nil || len(list) != 2 || list[0].ID != "coder:a/y" {
		t.Errorf("%+v, %v", list, err)
	}
}
