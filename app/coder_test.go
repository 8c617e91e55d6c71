package app_test

import (
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"

	"carrel/agent/catalog/coder"
	"carrel/agent/catalog/coder/fakecoder"
	"carrel/agent/model/fakewire"
	"carrel/app"
	"carrel/store"
)

// deployment is one with two providers that list models and one that does not.
func deployment(t *testing.T) *fakecoder.Deployment {
	t.Helper()
	d := fakecoder.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	d.Set(func(s *fakecoder.State) {
		s.Providers = []coder.Provider{{Name: "anthropic", Type: "anthropic"}, {Name: "gpt", Type: "openai"}, {Name: "llm", Type: "openai-compat"}}
		s.Models = map[string][]string{"anthropic": {"claude-opus-5-5", "claude-haiku-5-5"}, "gpt": {"gpt-6-luna"}}
	})
	return d
}

func (h *house) login(d *fakecoder.Deployment) app.CoderState {
	h.t.Helper()
	l, err := h.api.Settings.LoginCoder(h.t.Context(), app.LoginCoder{URL: d.URL})
	if err != nil {
		h.t.Fatal(err)
	}
	fakecoder.Approve(h.t, l.Address)
	state, err := h.api.Settings.AwaitCoder(h.t.Context(), app.ByID{ID: l.ID})
	if err != nil {
		h.t.Fatal(err)
	}
	return state
}

// said gives the code of an error that a person may read.
func said(t *testing.T, err error) string {
	t.Helper()
	var e *app.Error
	if !errors.As(err, &e) || !strings.HasSuffix(e.Message, ".") {
		t.Fatalf("%v", err)
	}
	return e.Code
}

func TestLoginWithCoder(t *testing.T) {
	h, d := newHouse(t), deployment(t)
	if _, err := h.api.Settings.LoginCoder(t.Context(), app.LoginCoder{URL: "ftp://x"}); said(t, err) != "bad_base_url" {
		t.Errorf("%v", err)
	}
	state := h.login(d)
	if !state.Connected || state.URL != d.URL || len(state.Providers) != 3 || state.Loaded || d.Logins() != 1 {
		t.Fatalf("%+v", state)
	}
	h.wait("the settings to change", func(e app.Event) bool { _, ok := e.(app.SettingsChanged); return ok })
	if info, err := os.Stat(h.root.Path("providers.jsonc")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	models, err := h.api.Settings.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models {
		if m.ID == "anthropic:claude-opus-5-5" && !m.Available {
			t.Error("a native model does not go through Coder")
		}
	}
	state = h.login(d) // once more: the first login is taken back
	if d.Logins() != 1 || d.Clients() != 1 {
		t.Errorf("%d logins, %d clients", d.Logins(), d.Clients())
	}
	if state, err = h.api.Settings.LogoutCoder(t.Context()); err != nil || state.Connected || d.Logins() != 0 || d.Clients() != 0 || state.URL != d.URL {
		t.Errorf("%+v, %v, %d logins", state, err, d.Logins())
	}
	if _, err := h.api.Settings.RefreshCoder(t.Context()); said(t, err) != "no_key" {
		t.Errorf("%v", err)
	}
	for _, secret := range []string{"access-token", "refresh-token", "secret-of", "manage-"} {
		text, err := os.ReadFile(h.root.Path("providers.jsonc"))
		if err != nil || strings.Contains(string(text), secret) || strings.Contains(h.log.String(), secret) {
			t.Errorf("%s is left, %v", secret, err)
		}
	}
}

func TestALoginOfABrowserComesBackToItsPage(t *testing.T) {
	h, d := newHouse(t), deployment(t)
	l, err := h.api.Settings.LoginCoder(t.Context(), app.LoginCoder{URL: d.URL, Origin: "https://carrel.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(l.Address)
	if err != nil || u.Query().Get("redirect_uri") != "https://carrel.example.com/auth/coder/callback" {
		t.Fatalf("%s, %v", l.Address, err)
	}
	if h.app.FinishCoder("guessed", "c", "") || !h.app.FinishCoder(u.Query().Get("state"), "", "access_denied") {
		t.Error("an answer is given to the wrong login")
	}
	if _, err := h.api.Settings.AwaitCoder(t.Context(), app.ByID{ID: l.ID}); said(t, err) != "denied" {
		t.Errorf("%v", err)
	}
	for _, origin := range []string{"carrel.example.com", "https://x/y", "javascript:1", "http://remote.example"} {
		if _, err := h.api.Settings.LoginCoder(t.Context(), app.LoginCoder{URL: d.URL, Origin: origin}); err == nil {
			t.Errorf("%s is taken", origin)
		}
	}
	if _, err := h.api.Settings.AwaitCoder(t.Context(), app.ByID{ID: "nobody"}); said(t, err) != "not_found" {
		t.Errorf("%v", err)
	}
}

func TestALoginThatIsGivenUp(t *testing.T) {
	h, d := newHouse(t), deployment(t)
	l, err := h.api.Settings.LoginCoder(t.Context(), app.LoginCoder{URL: d.URL})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := h.api.Settings.CancelCoder(t.Context(), app.ByID{ID: l.ID}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.api.Settings.AwaitCoder(t.Context(), app.ByID{ID: l.ID}); said(t, err) != "cancelled" {
		t.Errorf("%v", err)
	}
	if state, err := h.api.Settings.Coder(t.Context()); err != nil || state.Connected || d.Logins() != 0 {
		t.Errorf("%+v, %v", state, err)
	}
}

func TestALoginThatWaitsEndsWithTheApplication(t *testing.T) {
	h, d := newHouse(t), deployment(t)
	if _, err := h.api.Settings.LoginCoder(t.Context(), app.LoginCoder{URL: d.URL}); err != nil {
		t.Fatal(err)
	} // the clean-up closes the application, and goleak looks
}

func TestCodersCatalogue(t *testing.T) {
	h, d := newHouse(t), deployment(t)
	h.login(d)
	broken := func(status int) { d.Set(func(s *fakecoder.State) { s.Broken = map[string]int{"gpt": status} }) }
	broken(502)
	if _, err := h.api.Settings.LoadCoderCatalog(t.Context()); said(t, err) != "coder" {
		t.Errorf("%v", err)
	}
	if s, err := h.api.Settings.Coder(t.Context()); err != nil || s.Loaded {
		t.Errorf("half a catalogue is loaded: %+v, %v", s, err)
	}
	broken(0)
	load := func(want int) {
		t.Helper()
		s, err := h.api.Settings.LoadCoderCatalog(t.Context())
		if err != nil || !s.Loaded || s.Models != want {
			t.Errorf("%+v, %v, want %d models", s, err, want)
		}
	}
	load(3)
	list, err := h.api.Settings.SuggestModels(t.Context(), app.ByID{ID: "coder"})
	if err != nil || len(list) != 3 || list[0].ID != "coder:anthropic/claude-haiku-5-5" {
		t.Errorf("%+v, %v", list, err)
	}
	broken(502)
	load(3) // what failed keeps what it had
	d.Set(func(s *fakecoder.State) { s.Providers[1].Type = "openai-compat" })
	if s, err := h.api.Settings.RefreshCoder(t.Context()); err != nil || s.Models != 2 {
		t.Errorf("a provider of another type keeps its models: %+v, %v", s, err)
	}
	d.Set(func(s *fakecoder.State) { s.Hidden = true })
	if s, err := h.api.Settings.RefreshCoder(t.Context()); err != nil || len(s.Providers) != 2 || s.Providers[0].Name != "anthropic" {
		t.Errorf("hidden providers: %+v, %v", s, err)
	}
}

func TestRoutesThroughCoder(t *testing.T) {
	h, d := newHouse(t), deployment(t)
	h.login(d)
	if err := h.root.SetProvider("coder", []string{"additionalProviders"}, []store.GatewayProvider{{Name: "claude-corp", Type: "anthropic"}}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []app.SetCoderRoute{{Native: "xai", Provider: "gpt"}, {Native: "anthropic", Provider: "gpt"}, {Native: "anthropic", Provider: "gone"}} {
		if _, err := h.api.Settings.SetCoderRoute(t.Context(), bad); said(t, err) != "bad_request" {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	s, err := h.api.Settings.SetCoderRoute(t.Context(), app.SetCoderRoute{Native: "anthropic", Provider: "claude-corp"})
	if err != nil || s.Routes[0].Provider != "claude-corp" || s.Routes[1].Provider != "" || !s.Providers[0].Own {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err = h.api.Settings.SetCoderRoute(t.Context(), app.SetCoderRoute{Native: "anthropic"}); err != nil || s.Routes[0].Provider != "anthropic" || s.Routes[0].Mapped != "" {
		t.Errorf("%+v, %v", s, err)
	}
}

func (h *house) model(id string) app.Model {
	h.t.Helper()
	all, err := h.api.Settings.Models(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, m := range all {
		if m.ID == id {
			return m
		}
	}
	h.t.Fatalf("no model %s", id)
	return app.Model{}
}

func TestTheRouteOfOneModel(t *testing.T) {
	h, d := newHouse(t), deployment(t)
	h.login(d)
	const opus = "anthropic:claude-opus-5-5"
	for _, bad := range []app.SetModelRoute{{Model: "xai:grok-4.7", Route: "coder"}, {Model: "anthropic:", Route: "coder"}, {Model: opus, Route: "elsewhere"}} {
		if err := h.api.Settings.SetModelRoute(t.Context(), bad); said(t, err) != "bad_request" {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	set := func(route string) app.Model {
		t.Helper()
		if err := h.api.Settings.SetModelRoute(t.Context(), app.SetModelRoute{Model: opus, Route: route}); err != nil {
			t.Fatal(err)
		}
		return h.model(opus)
	}
	if m := h.model(opus); m.Via != "coder:anthropic/claude-opus-5-5" || m.Route != "" {
		t.Errorf("%+v", m)
	}
	if m := set("direct"); m.Available || m.Via != "" || m.Route != "direct" {
		t.Errorf("%+v", m)
	}
	if m := set(""); !m.Available || m.Route != "" {
		t.Errorf("%+v", m)
	}
	_, w := h.desk(app.NewWorkspace{Name: "gateway", Model: opus})
	h.send(w, "Hello")
	h.wait("the turn to end", ended(w.ID, app.Done))
	entries := h.snapshot(w).Entries
	if last := entries[len(entries)-1]; last.Text != "ok" || last.Model != opus || last.Via != "coder:anthropic/claude-opus-5-5" {
		t.Errorf("%+v", last)
	}
}
