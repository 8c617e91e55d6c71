package catalog

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"carrel/agent/model/fakewire"
)

const secret = "sk-very-secret-0123456789"

// serve is a server of a custom provider "mine" that speaks Chat Completions, and a catalog of it.
func serve(t *testing.T, handler http.HandlerFunc, path string) *Catalog {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return mine(server.URL + path)
}

func mine(base string) *Catalog {
	return catalog(nil, entries{"mine": {ProviderType: "openai-compatible", BaseURL: base, APIKey: secret, Models: []string{"m"}}})
}

func failing(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models") {
			_, _ = fmt.Fprint(w, `{"data":[{"id":"other"}]}`)
			return
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, strings.ReplaceAll(body, "KEY", r.Header.Get("Authorization")))
	}
}

func check(t *testing.T, what string, got TestResult, code string) {
	t.Helper()
	text := fmt.Sprintf("%+v", got)
	switch {
	case got.OK != (code == ""), got.Code != code:
		t.Errorf("%s: %s, want code %q", what, text, code)
	case strings.Contains(text, secret):
		t.Errorf("%s: the key is in %s", what, text)
	case code != "" && (!strings.HasSuffix(got.Problem, ".") || !strings.HasSuffix(got.Mend, ".")):
		t.Errorf("%s: no sentences: %s", what, text)
	}
}

func TestAProviderThatAnswersIsWell(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "OK"}))
	c := catalog(nil, entries{"anthropic": {APIKey: secret, BaseURL: server.URL}, "openai": {APIKey: secret, BaseURL: server.URL}})
	for id, want := range map[string]string{"anthropic": "anthropic:claude-haiku-5-5", "openai": "openai:gpt-6-luna"} {
		got := c.Test(t.Context(), id)
		if check(t, id, got, ""); got.Model != want || got.Latency <= 0 {
			t.Errorf("%+v", got)
		}
	}
	if len(server.Last().Raw) > 2000 {
		t.Errorf("a test is no small request: %s", server.Last().Raw)
	}
	check(t, "demo", c.Test(t.Context(), "demo"), "")
}

func TestWhatIsWrongWithAServerIsTold(t *testing.T) {
	for _, x := range []struct {
		what   string
		status int
		body   string
		code   string
	}{
		{"key", 401, `{"error":{"message":"Incorrect API key provided: KEY","code":"invalid_api_key"}}`, "auth"},
		{"rights", 403, `{"error":{"message":"You may not use this model"}}`, "forbidden"},
		{"model", 404, `{"error":{"message":"The model m does not exist","code":"model_not_found"}}`, "model_not_found"},
		{"quota", 429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, "quota"},
		{"credit", 402, `{"error":{"message":"Insufficient credits"}}`, "quota"},
		{"rate", 429, `{"error":{"message":"slow down"}}`, "rate_limit"},
		{"server", 500, `{"error":{"message":"oops KEY"}}`, "server"},
		{"overloaded", 503, `busy`, "server"},
		{"page", 200, `<html>Log in</html>`, "not_api"},
		{"document", 200, `{"hello":"world"}`, "not_api"},
		{"request", 400, `{"error":{"message":"temperature is not allowed"}}`, "bad_request"},
		{"redirect", 302, ``, "redirect"},
	} {
		check(t, x.what, serve(t, failing(x.status, x.body), "/v1").Test(t.Context(), "mine"), x.code)
	}
}

func TestAWrongPathIsToldFromAModelThatIsNotThere(t *testing.T) {
	underV1 := func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			_, _ = fmt.Fprint(w, `{"data":[]}`)
			return
		}
		http.NotFound(w, r)
	}
	c := serve(t, underV1, "/")
	got := c.Test(t.Context(), "mine")
	if check(t, "no /v1", got, "missing_v1"); !strings.Contains(got.Mend, "/v1.") {
		t.Errorf("%+v", got)
	}
	check(t, "another path", serve(t, http.NotFound, "/elsewhere/v1").Test(t.Context(), "mine"), "wrong_path")
}

func TestWhyAServerCanNotBeReachedIsTold(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }))
	defer cut.Close()
	check(t, "refused", mine(gone.URL).Test(t.Context(), "mine"), "refused")
	check(t, "certificate", mine(secure.URL).Test(t.Context(), "mine"), "tls")
	check(t, "no https", mine(strings.Replace(plain.URL, "http:", "https:", 1)).Test(t.Context(), "mine"), "tls")
	if got := mine(cut.URL).Test(t.Context(), "mine"); got.OK || got.Code == "" || got.Mend == "" {
		t.Errorf("cut: %+v", got)
	}

	dns := mine("https://nowhere.example/v1")
	dns.http.Transport = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "nowhere.example", IsNotFound: true}}
	}}
	got := dns.Test(t.Context(), "mine")
	if check(t, "dns", got, "dns"); !strings.Contains(got.Problem, "nowhere.example") {
		t.Errorf("%+v", got)
	}

	proxied := mine("http://nowhere.example/v1")
	address, err := url.Parse(gone.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxied.http.Transport = &http.Transport{Proxy: http.ProxyURL(address)}
	check(t, "proxy", proxied.Test(t.Context(), "mine"), "proxy")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check(t, "given up", mine(plain.URL).Test(ctx, "mine"), "timeout")
}

func TestWhatIsWrongWithTheSettingsIsTold(t *testing.T) {
	c := catalog(nil, entries{"bedrock": {}, "zai": {APIKeyFile: "/nowhere/key"}, "xai": {APIKey: secret, BaseURL: "https://h/v1?x=1"},
		"deepseek": {APIKey: secret, ModelParameters: parameters(t, `{"*":{"temperature":9}}`)}})
	for id, want := range map[string]string{"bedrock": NoRegion, "zai": BadKey, "xai": BadBaseURL, "openai": NoKey, "nowhere": UnknownProvider, "ollama": NoKey,
		"deepseek": BadParameters} {
		check(t, id, c.Test(t.Context(), id), want)
	}
}

func TestAServerWithoutNamedModelsIsAskedForThem(t *testing.T) {
	fake := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "OK"}))
	target, err := url.Parse(fake.URL)
	if err != nil {
		t.Fatal(err)
	}
	list := `{"models":[{"name":"qwen3:8b"},{"name":"a:1b"}]}`
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/tags" {
			_, _ = fmt.Fprint(w, list)
			return
		}
		r.URL.Scheme, r.URL.Host, r.RequestURI = target.Scheme, target.Host, ""
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		_, _ = fmt.Fprint(w, readAll(t, resp))
	}))
	defer front.Close()
	c := catalog(nil, entries{"ollama": {BaseURL: front.URL + "/api"}})
	got := c.Test(t.Context(), "ollama")
	if check(t, "ollama", got, ""); got.Model != "ollama:a:1b" {
		t.Errorf("%+v", got)
	}
	list = `{"models":[]}`
	check(t, "no model", catalog(nil, entries{"ollama": {BaseURL: front.URL + "/api"}}).Test(t.Context(), "ollama"), "no_model")
	front.Close()
	check(t, "not started", catalog(nil, entries{"ollama": {BaseURL: front.URL}}).Test(t.Context(), "ollama"), "refused")
}
