package coder_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"carrel/agent/catalog/coder"
	"carrel/agent/catalog/coder/fakecoder"
	"carrel/agent/model/fakewire"
)

func deployment(t *testing.T) (*fakecoder.Deployment, coder.Deployment) {
	t.Helper()
	fake := fakecoder.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	transport := &http.Transport{DisableKeepAlives: true}
	return fake, coder.Deployment{URL: fake.URL, HTTP: &http.Client{Transport: transport}}
}

// login goes all the way.
func login(t *testing.T, d coder.Deployment) (coder.Client, coder.Token) {
	t.Helper()
	back, err := coder.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	l, err := d.Begin(t.Context(), back.Address)
	if err != nil {
		t.Fatal(err)
	}
	if page := fakecoder.Approve(t, l.Address); !strings.Contains(page, "close this page") {
		t.Fatalf("the browser shows %q", page)
	}
	a := <-back.Answers()
	if a.State != l.State || a.Code == "" {
		t.Fatalf("%+v", a)
	}
	token, err := d.Finish(t.Context(), l, a.Code)
	if err != nil || token.Access == "" || time.Until(token.Expires) < time.Minute {
		t.Fatalf("%+v, %v", token, err)
	}
	if _, err := d.Finish(t.Context(), l, a.Code); message(t, err).Status != 400 {
		t.Errorf("a code is taken twice: %v", err)
	}
	return l.Client, token
}

func message(t *testing.T, err error) *coder.Error {
	t.Helper()
	var e *coder.Error
	if !errors.As(err, &e) || !strings.HasSuffix(e.Message, ".") {
		t.Fatalf("%v", err)
	}
	for _, secret := range []string{"access-token", "refresh-token", "secret-of", "manage-"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error holds a secret: %v", err)
		}
	}
	return e
}

func TestLoginRenewalAndEnd(t *testing.T) {
	fake, d := deployment(t)
	c, first := login(t, d)
	second, err := d.Refresh(t.Context(), c, first.Refresh)
	if err != nil || second.Access == first.Access || second.Refresh == first.Refresh {
		t.Fatalf("%+v, %v", second, err)
	}
	if _, err := d.Refresh(t.Context(), c, first.Refresh); !message(t, err).Ended {
		t.Errorf("an old token: %v", err)
	}
	if _, _, err := d.Providers(t.Context(), first.Access); !message(t, err).Ended {
		t.Errorf("an old token: %v", err)
	}
	if err := d.End(t.Context(), c, second); err != nil || fake.Logins() != 0 || fake.Clients() != 0 {
		t.Errorf("%v, %d logins and %d clients are left", err, fake.Logins(), fake.Clients())
	}
}

func TestALoginThatIsDenied(t *testing.T) {
	fake, d := deployment(t)
	fake.Set(func(s *fakecoder.State) { s.Deny = true })
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
	if a := <-back.Answers(); a.Error != "access_denied" || a.Code != "" {
		t.Errorf("%+v", a)
	}
}

func TestDeploymentsThatLetNobodyIn(t *testing.T) {
	fake, d := deployment(t)
	if _, err := d.Begin(t.Context(), "http://remote.example/auth/coder/callback"); !strings.Contains(message(t, err).Message, "HTTPS") {
		t.Errorf("%v", err)
	}
	fake.Set(func(s *fakecoder.State) { s.NoOAuth = true })
	if _, err := d.Begin(t.Context(), "http://127.0.0.1:1/callback"); !strings.Contains(message(t, err).Message, "--experiments=oauth2") {
		t.Errorf("%v", err)
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"authorization_endpoint":"https://evil.example/a","token_endpoint":"https://evil.example/t","registration_endpoint":"https://evil.example/r"}`))
	}))
	t.Cleanup(elsewhere.Close)
	d.URL = elsewhere.URL
	if _, err := d.Begin(t.Context(), "http://127.0.0.1:1/callback"); !strings.Contains(message(t, err).Message, "evil.example") {
		t.Errorf("%v", err)
	}
	d.URL = "http://127.0.0.1:1"
	if _, err := d.Begin(t.Context(), "http://127.0.0.1:1/callback"); !strings.Contains(message(t, err).Message, "can't be reached") {
		t.Errorf("%v", err)
	}
}

func TestProvidersAndTheirModels(t *testing.T) {
	fake, d := deployment(t)
	_, token := login(t, d)
	want := []coder.Provider{{Name: "anthropic", Type: "anthropic"}, {Name: "claude-aws", Type: "bedrock"}, {Name: "llm", Type: "openai-compat"}}
	fake.Set(func(s *fakecoder.State) {
		s.Providers = append(want, coder.Provider{Name: "new", Type: "of-tomorrow"})
		s.Models = map[string][]string{"anthropic": {"b", "a", "b", "", "bad id"}}
		s.Broken = map[string]int{"claude-aws": 502}
	})
	got, known, err := d.Providers(t.Context(), token.Access)
	if err != nil || !known || !slices.Equal(got, want) {
		t.Errorf("%+v, %v, %v", got, known, err)
	}
	if list, has, err := d.Models(t.Context(), token.Access, "anthropic"); err != nil || !has || !slices.Equal(list, []string{"a", "b"}) {
		t.Errorf("%v, %v, %v", list, has, err)
	}
	if _, has, err := d.Models(t.Context(), token.Access, "llm"); err != nil || has {
		t.Errorf("without a list: %v, %v", has, err)
	}
	if _, _, err := d.Models(t.Context(), token.Access, "claude-aws"); message(t, err).Status != 502 {
		t.Errorf("%v", err)
	}
	fake.Set(func(s *fakecoder.State) { s.Hidden = true })
	if list, known, err := d.Providers(t.Context(), token.Access); err != nil || known || list != nil {
		t.Errorf("hidden: %v, %v, %v", list, known, err)
	}
}

func TestAddresses(t *testing.T) {
	for in, want := range map[string]string{"coder.example.com": "https://coder.example.com", " https://c.example/x/ ": "https://c.example/x", "http://localhost:3000": "http://localhost:3000",
		"": "", "https://u:p@c": "", "https://c?x": "", "ftp://c": ""} {
		if got, err := coder.Parse(in); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, p := range []coder.Provider{{"A", "openai"}, {"a--b", "openai"}, {"a/b", "openai"}, {"a", "x"}, {"", "openai"}} {
		if p.Valid() {
			t.Errorf("%+v is taken", p)
		}
	}
}
