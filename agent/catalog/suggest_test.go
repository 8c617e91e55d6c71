package catalog

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"carrel/store"
)

func readAll(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

func TestProvidersListsAreRead(t *testing.T) {
	data := `{"data":[{"id":"b","display_name":"B"},{"id":"a","name":"A","context_length":7},{"id":"text-embedding-3"},{"id":"e","capabilities":{"type":"embeddings"}}]}`
	for _, x := range []struct {
		id         string
		e          store.ProviderConfig
		suffix     string
		path, body string
		header     string
		want       []Suggestion
	}{
		{"anthropic", store.ProviderConfig{}, "", "/v1/models", `{"data":[{"id":"b","display_name":"B","capabilities":{"x":{"y":1}}},{"id":"a","max_input_tokens":9}]}`, "X-Api-Key",
			[]Suggestion{{"anthropic:a", "a", 9}, {"anthropic:b", "B", 0}}},
		{"openai", store.ProviderConfig{}, "", "/v1/models", data, "Authorization", []Suggestion{{"openai:a", "A", 7}, {"openai:b", "B", 0}, {"openai:e", "e", 0}}},
		{"github-copilot", store.ProviderConfig{}, "/", "/models", data, "Authorization",
			[]Suggestion{{"github-copilot:a", "A", 7}, {"github-copilot:b", "B", 0}, {"github-copilot:text-embedding-3", "text-embedding-3", 0}}},
		{"openrouter", store.ProviderConfig{}, "/api/v1", "/api/v1/models", `{"data":[{"id":"x/y","name":"Y","context_length":5}]}`, "Authorization", []Suggestion{{"openrouter:x/y", "Y", 5}}},
		{"mine", store.ProviderConfig{ProviderType: "openai-responses"}, "", "/v1/models", `{"data":[{"id":"m"}]}`, "Authorization", []Suggestion{{"mine:m", "m", 0}}},
		{"mine", store.ProviderConfig{ProviderType: "anthropic-messages"}, "/x", "/x/v1/models", `{"data":[{"id":"m"}]}`, "X-Api-Key", []Suggestion{{"mine:m", "m", 0}}},
		{"ollama", store.ProviderConfig{}, "/api", "/api/tags", `{"models":[{"name":"qwen3:8b"},{"name":"a"}]}`, "", []Suggestion{{"ollama:a", "a", 0}, {"ollama:qwen3:8b", "qwen3:8b", 0}}},
		{"mine", store.ProviderConfig{ProviderType: "openai-compatible"}, "", "/v1/models",
			`{"data":[{"id":"ok","name":"a\u001b[31mb"},{"id":"ok"},{"id":""},{"id":"a b"},{"id":"\u0007"},{"id":"` + strings.Repeat("l", 300) + `"}]}`, "Authorization",
			[]Suggestion{{"mine:ok", "a[31mb", 0}}},
	} {
		var calls atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			if r.URL.Path != x.path || x.header != "" && !strings.Contains(r.Header.Get(x.header), "k-1") {
				t.Errorf("%s: asked %s with %v", x.id, r.URL, r.Header)
			}
			_, _ = fmt.Fprint(w, x.body)
		}))
		x.e.BaseURL = server.URL + x.suffix
		if x.id != "ollama" {
			x.e.APIKey = "k-1"
		}
		c := catalog(nil, entries{x.id: x.e})
		for range 3 { // the second time it is kept
			got, err := c.Suggest(t.Context(), x.id)
			if err != nil || !slices.Equal(got, x.want) {
				t.Errorf("%s: %+v, %v; want %+v", x.id, got, err, x.want)
			}
		}
		if calls.Load() != 1 {
			t.Errorf("%s was asked %d times", x.id, calls.Load())
		}
		server.Close()
	}
}

func TestAListIsAskedAgainWhenTheSettingsChange(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		_, _ = fmt.Fprint(w, `{"data":[]}`)
	}))
	defer server.Close()
	e := entries{"mine": {ProviderType: "openai-compatible", BaseURL: server.URL, APIKey: "one"}}
	c := catalog(nil, e)
	for _, key := range []string{"one", "two", "two"} {
		e["mine"] = store.ProviderConfig{ProviderType: "openai-compatible", BaseURL: server.URL, APIKey: key}
		if got, err := c.Suggest(t.Context(), "mine"); err != nil || len(got) != 0 {
			t.Fatal(got, err)
		}
	}
	if calls.Load() != 2 {
		t.Errorf("%d calls", calls.Load())
	}
}

func TestListsAreBounded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, `{"data":[`)
		for i := range 3000 {
			_, _ = fmt.Fprintf(w, `{"id":"m%d"},`, i)
		}
		_, _ = fmt.Fprint(w, `{"id":"z"}]}`)
	}))
	defer server.Close()
	if got, err := mine(server.URL).Suggest(t.Context(), "mine"); err != nil || len(got) != listMost {
		t.Errorf("%d, %v", len(got), err)
	}
}

func TestAListThatCanNotBeHadIsTold(t *testing.T) {
	for _, x := range []struct {
		status int
		body   string
	}{{404, ""}, {401, `{"error":"` + secret + `"}`}, {200, "<html>"}, {200, `{"data":5}`}, {302, ""}} {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(x.status)
			_, _ = fmt.Fprint(w, x.body)
		}, "")
		_, err := c.Suggest(t.Context(), "mine")
		var e *ListError
		if !errors.As(err, &e) || e.Status != x.status || !strings.HasSuffix(e.Error(), ".") || strings.Contains(e.Error(), secret) {
			t.Errorf("%d %s: %v", x.status, x.body, err)
		}
	}
	for id, want := range map[string]Code{"nowhere": UnknownProvider, "openai": NoKey} {
		if _, err := catalog(nil, nil).Suggest(t.Context(), id); code(err) != want {
			t.Errorf("%s: %v", id, err)
		}
	}
}
