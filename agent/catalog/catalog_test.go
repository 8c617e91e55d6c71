package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
	"carrel/store"
)

type config struct {
	entries  map[string]store.ProviderConfig
	settings store.Settings
	err      error
}

func (c config) Settings() (store.Settings, error) { return c.settings, c.err }

func (c config) Providers() (map[string]store.ProviderConfig, error) { return c.entries, c.err }

func catalog(env map[string]string, entries map[string]store.ProviderConfig) *Catalog {
	return New(config{entries: entries}, func(k string) string { return env[k] })
}

func env(vars map[string]string) func(string) string { return func(k string) string { return vars[k] } }

func code(err error) string {
	var e *ConfigError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestAliasesAndIDsResolve(t *testing.T) {
	c := catalog(map[string]string{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "DEEPSEEK_API_KEY": "k"}, nil)
	for in, want := range map[string]string{
		"opus": "anthropic:claude-opus-5-5", "Sonnet": "anthropic:claude-sonnet-5-5", "gpt": "openai:gpt-6.1-sol",
		"deepseek": "deepseek:deepseek-v4-pro", "demo": "demo:demo", "openai:any-new-model": "openai:any-new-model",
		" anthropic:x:y ": "anthropic:x:y",
	} {
		if r, err := c.Resolve(Choice{Model: in}); err != nil || r.ID != want || r.Streamer == nil {
			t.Errorf("%q resolves to %+v, %v", in, r, err)
		}
	}
}

func TestRefusalsSayHowToMend(t *testing.T) {
	off := false
	c := catalog(map[string]string{"HOME": t.TempDir(), "OPENAI_API_KEY": "k\nk"}, map[string]store.ProviderConfig{
		"xai":        {APIKey: "k", Enabled: &off},
		"deepseek":   {APIKey: "k", ProviderType: "openai-compatible"},
		"zai":        {APIKey: "k", BaseURL: "https://host/v1?key=1"},
		"openrouter": {APIKeyFile: "~/missing"},
		"moonshotai": {APIKeyFile: "relative"},
		"Local.One":  {ProviderType: "openai-compatible", BaseURL: "http://localhost:1"},
		"no-type":    {BaseURL: "http://localhost:1"},
		"no-base":    {ProviderType: "openai-responses"},
		"bad-base":   {ProviderType: "openai-compatible", BaseURL: "localhost:8000"},
		"google":     {ProviderType: "openai-compatible", BaseURL: "http://localhost:1"},
		"headers":    {ProviderType: "openai-compatible", BaseURL: "http://localhost:1", Headers: map[string]string{"a b": "c"}},
	})
	for id, want := range map[string]Code{
		"": BadModel, "gibberish": BadModel, "demo:other": BadModel, "nowhere:x": UnknownProvider,
		"anthropic:x": NoKey, "ollama:x": NoKey, "openai:x": BadKey, "xai:x": Disabled, "deepseek:x": BadProvider,
		"zai:x": BadBaseURL, "openrouter:x": BadKey, "moonshotai:x": BadKey, "Local.One:x": BadProvider,
		"no-type:x": BadProvider, "no-base:x": BadBaseURL, "bad-base:x": BadBaseURL, "google:x": BadProvider, "headers:x": BadProvider,
	} {
		_, err := c.Resolve(Choice{Model: id})
		if code(err) != want || !strings.HasSuffix(err.Error(), ".") {
			t.Errorf("%q: %q, %v; want %s", id, code(err), err, want)
		}
	}
	silent := []string{"anthropic", "ollama", "xai", "demo", "github-copilot", "bedrock", "coder"}
	for _, p := range c.Providers() {
		if wrong := p.Error != ""; p.Configured && wrong || wrong == slices.Contains(silent, p.ID) {
			t.Errorf("%+v", p)
		}
	}
}

func TestSettingsComeBeforeTheEnvironment(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "key"), []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "ANTHROPIC_API_KEY": "from-env", "OPENAI_API_KEY": "from-env", "ANTHROPIC_AUTH_TOKEN": "token"}
	for _, c := range []struct {
		entry                store.ProviderConfig
		env                  map[string]string
		source, header, want string
	}{
		{store.ProviderConfig{APIKey: " from-settings ", APIKeyFile: "~/key"}, env, "settings", "X-Api-Key", "from-settings"},
		{store.ProviderConfig{APIKeyFile: "~/key"}, env, "file", "X-Api-Key", "from-file"},
		{store.ProviderConfig{}, env, "ANTHROPIC_API_KEY", "X-Api-Key", "from-env"},
		{store.ProviderConfig{}, map[string]string{"ANTHROPIC_AUTH_TOKEN": "token"}, "ANTHROPIC_AUTH_TOKEN", "Authorization", "Bearer token"},
		{store.ProviderConfig{Headers: map[string]string{"authorization": "Bearer own"}}, nil, "", "Authorization", "Bearer own"},
	} {
		server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
		c.entry.BaseURL = server.URL + "/anthropic/"
		cat := catalog(c.env, map[string]store.ProviderConfig{"anthropic": c.entry})
		r, err := cat.Resolve(Choice{Model: "opus"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Streamer.Stream(t.Context(), hello(r.Model), nil); err != nil {
			t.Fatal(err)
		}
		got := server.Last()
		if p := cat.Providers()[0]; got.Header.Get(c.header) != c.want || got.Path != "/anthropic/v1/messages" || p.KeySource != c.source {
			t.Errorf("%s: sent %v to %s, source %q", c.source, got.Header, got.Path, p.KeySource)
		}
	}
}

func hello(id string) *model.Request {
	return &model.Request{Model: id, Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "hi"}}}}}
}

func TestBaseURLsAndWireFormats(t *testing.T) {
	for _, c := range []struct {
		id           string
		entry        store.ProviderConfig
		suffix, path string
	}{
		{"openai", store.ProviderConfig{APIKey: "k"}, "", "/v1/responses"},
		{"openai", store.ProviderConfig{APIKey: "k", WireFormat: "chatCompletions"}, "", "/v1/chat/completions"},
		{"openai", store.ProviderConfig{APIKey: "k"}, "/", "/responses"},
		{"local", store.ProviderConfig{ProviderType: "openai-compatible"}, "", "/v1/chat/completions"},
		{"local", store.ProviderConfig{ProviderType: "openai-compatible"}, "/", "/chat/completions"},
		{"local", store.ProviderConfig{ProviderType: "openai-compatible"}, "/api/openai", "/api/openai/chat/completions"},
		{"local", store.ProviderConfig{ProviderType: "openai-responses"}, "/v1/", "/v1/responses"},
		{"local", store.ProviderConfig{ProviderType: "anthropic-messages"}, "", "/v1/messages"},
		{"local", store.ProviderConfig{ProviderType: "anthropic-messages"}, "/anthropic/v1/", "/anthropic/v1/messages"},
		{"ollama", store.ProviderConfig{Models: []string{"qwen3:8b"}}, "/api", "/v1/chat/completions"},
	} {
		server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
		c.entry.BaseURL = server.URL + c.suffix
		r, err := catalog(nil, map[string]store.ProviderConfig{c.id: c.entry}).Resolve(Choice{Model: c.id + ":m:1"})
		if err != nil {
			t.Errorf("%s%s: %v", c.id, c.suffix, err)
			continue
		}
		if _, err := r.Streamer.Stream(t.Context(), hello(r.Model), nil); err != nil || server.Last().Path != c.path || server.Last().Model != "m:1" {
			t.Errorf("%s %q: path %s, model %s, %v", c.id, c.suffix, server.Last().Path, server.Last().Model, err)
		}
		if got := server.Last().Header.Get("Authorization"); c.entry.APIKey == "" && got != "" {
			t.Errorf("%s: a keyless server is sent %q", c.id, got)
		}
	}
}

func TestEnvironmentSetsOpenAI(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	c := catalog(map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL, "OPENAI_ORG_ID": "org-1"}, nil)
	r, err := c.Resolve(Choice{Model: "gpt"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Streamer.Stream(t.Context(), hello(r.Model), nil); err != nil || server.Last().Header.Get("OpenAI-Organization") != "org-1" {
		t.Errorf("%v, %v", err, server.Last().Header)
	}
	c = catalog(map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "ftp://x"}, nil)
	if _, err := c.Resolve(Choice{Model: "gpt"}); code(err) != BadBaseURL || !strings.Contains(err.Error(), "OPENAI_BASE_URL") {
		t.Error(err)
	}
}

func TestDefaultIsSettingThenFirstConfiguredThenDemo(t *testing.T) {
	none := catalog(nil, nil)
	if got := none.Default("opus"); got != "demo:demo" {
		t.Errorf("nothing configured: %s", got)
	}
	custom := catalog(nil, map[string]store.ProviderConfig{"mine": {ProviderType: "openai-compatible", BaseURL: "http://localhost:1", Models: []string{"m"}}})
	if got := custom.Default(""); got != "mine:m" {
		t.Errorf("a custom provider only: %s", got)
	}
	both := catalog(map[string]string{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, nil)
	for setting, want := range map[string]string{"": "anthropic:claude-opus-5-5", "luna": "openai:gpt-6-luna", "xai:grok-4.7": "anthropic:claude-opus-5-5", "demo:demo": "demo:demo"} {
		if got := both.Default(setting); got != want {
			t.Errorf("setting %q: %s, want %s", setting, got, want)
		}
	}
}

func TestModelsTellWhatIsAvailable(t *testing.T) {
	c := catalog(map[string]string{"OPENAI_API_KEY": "k"}, map[string]store.ProviderConfig{
		"openai": {Models: []string{"gpt-6-luna", "ft:mine"}},
		"mine":   {ProviderType: "anthropic-messages", BaseURL: "http://localhost:1", Models: []string{"m"}},
	})
	count := map[string]int{}
	for _, m := range c.Models() {
		count[m.ID]++
		if want := m.Provider == "openai" || m.Provider == "mine" || m.Demo; m.Available != want {
			t.Errorf("%+v", m)
		}
	}
	for _, id := range []string{"openai:gpt-6-luna", "openai:ft:mine", "mine:m", "demo:demo", "anthropic:claude-opus-5-5"} {
		if count[id] != 1 {
			t.Errorf("%s is listed %d times", id, count[id])
		}
	}
}

func TestUnreadableSettingsAreToldAndLeaveTheDemo(t *testing.T) {
	c := New(config{err: errors.New("line 3")}, func(string) string { return "" })
	if _, err := c.Resolve(Choice{Model: "opus"}); code(err) != Unreadable {
		t.Error(err)
	}
	if r, err := c.Resolve(Choice{Model: "demo:demo"}); err != nil || r.Streamer == nil {
		t.Error(err)
	}
}

func TestKeyFileThatIsAPipeIsRefused(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	c := catalog(nil, map[string]store.ProviderConfig{"anthropic": {APIKeyFile: pipe}})
	if _, err := c.Resolve(Choice{Model: "opus"}); code(err) != BadKey {
		t.Error(err)
	}
}
