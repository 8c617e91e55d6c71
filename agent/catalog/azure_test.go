package catalog

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
)

func TestAzureStandsBehindOpenAI(t *testing.T) {
	for _, x := range []struct{ format, deployment, version, path, sent string }{
		{"", "", "", "/openai/v1/responses", "gpt-6-luna"},
		{"", "mine", "v1", "/openai/v1/responses", "mine"},
		{"", "mine", "2025-04-01-preview", "/openai/responses", "mine"},
		{"chatCompletions", "mine", "2024-10-21", "/openai/deployments/mine/chat/completions", "mine"},
		{"chatCompletions", "", "2024-10-21", "/openai/deployments/gpt-6-luna/chat/completions", "gpt-6-luna"},
		{"chatCompletions", "mine", "", "/openai/v1/chat/completions", "mine"},
	} {
		server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
		c := catalog(map[string]string{"AZURE_OPENAI_API_KEY": "azure-key", "AZURE_OPENAI_ENDPOINT": server.URL, "AZURE_OPENAI_DEPLOYMENT": x.deployment,
			"AZURE_OPENAI_API_VERSION": x.version}, entries{"openai": {WireFormat: x.format}})
		r, err := c.Resolve(Choice{Model: "luna", Pro: true})
		if err != nil {
			t.Fatal(err)
		}
		body := ask(t, server, r)
		got := server.Last()
		if got.Path != x.path || body["model"] != x.sent || got.Header.Get("Api-Key") != "azure-key" || got.Header.Get("Authorization") != "" || r.ID != "openai:gpt-6-luna" {
			t.Errorf("%+v: %s, model %v, %v", x, got.Path, body["model"], got.Header)
		}
		if reasoning, ok := body["reasoning"].(map[string]any); ok && reasoning["mode"] != nil {
			t.Errorf("pro mode is sent to Azure")
		}
		p := c.Providers()[slices.IndexFunc(c.Providers(), func(p Provider) bool { return p.ID == "openai" })]
		if !p.Configured || p.KeySource != "AZURE_OPENAI_API_KEY" || p.BaseURL != server.URL {
			t.Errorf("%+v", p)
		}
	}
}

func TestWhatSaysHowToReachOpenAIComesBeforeAzure(t *testing.T) {
	azure := map[string]string{"AZURE_OPENAI_API_KEY": "a", "AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com"}
	for _, x := range []struct {
		e   entries
		key string
	}{{entries{"openai": {APIKey: "k"}}, ""}, {nil, "k"}} {
		vars := map[string]string{"OPENAI_API_KEY": x.key}
		for k, v := range azure {
			vars[k] = v
		}
		if s, _ := catalog(vars, x.e).one("openai"); s.azure.Endpoint != "" || s.key.value != "k" {
			t.Errorf("%+v: %+v", x, s.azure)
		}
	}
	azure["AZURE_OPENAI_ENDPOINT"] = "not an address"
	if _, err := catalog(azure, nil).Resolve(Choice{Model: "sol"}); code(err) != BadBaseURL {
		t.Error(err)
	}
	if _, err := catalog(azure, nil).Suggest(t.Context(), "openai"); code(err) == "" {
		t.Error(err)
	}
}

func TestCopilotIsToldWhoAsks(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	c := catalog(map[string]string{"GITHUB_COPILOT_TOKEN": "gho_1"}, entries{"github-copilot": {BaseURL: server.URL + "/"}})
	r, err := c.Resolve(Choice{Model: "github-copilot:gpt-5.5"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Streamer.Stream(t.Context(), hello(r.Model), func(model.Event) {}); err != nil {
		t.Fatal(err)
	}
	got := server.Last()
	if got.Path != "/chat/completions" || got.Header.Get("Authorization") != "Bearer gho_1" || got.Header.Get("X-Initiator") != "user" {
		t.Errorf("%s %v", got.Path, got.Header)
	}
	if s, _ := catalog(nil, nil).one("github-copilot"); s.err == nil || s.err.Code != NoKey {
		t.Errorf("%+v", s.err)
	}
}

func TestAnApplicationLogsInAtMicrosoftForAzure(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	logins, answer, status := 0, `{"access_token":"entra-token","expires_in":3600}`, http.StatusOK
	authority := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		logins++
		if r.URL.Path != "/tenant/oauth2/v2.0/token" || r.FormValue("grant_type") != "client_credentials" || r.FormValue("client_id") != "app" ||
			r.FormValue("client_secret") != "app-secret" || r.FormValue("scope") != "https://cognitiveservices.azure.com/.default" {
			t.Errorf("%s %v", r.URL, r.Form)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(authority.Close)
	vars := map[string]string{"AZURE_OPENAI_ENDPOINT": server.URL, "AZURE_TENANT_ID": "tenant", "AZURE_CLIENT_ID": "app", "AZURE_CLIENT_SECRET": "app-secret",
		"AZURE_AUTHORITY_HOST": authority.URL}
	c := catalog(vars, nil)
	for range 2 {
		r, err := c.Resolve(Choice{Model: "luna"})
		if err != nil {
			t.Fatal(err)
		}
		ask(t, server, r)
		if h := server.Last().Header; h.Get("Authorization") != "Bearer entra-token" || h.Get("Api-Key") != "" {
			t.Errorf("%v", h)
		}
	}
	if logins != 1 {
		t.Errorf("%d logins", logins)
	}
	for _, x := range []struct {
		status int
		answer string
		kind   model.ErrorKind
	}{
		{401, `{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret app-secret.\r\nTrace ID: 1"}`, model.ErrAuth},
		{200, `<html>`, model.ErrAuth}, {503, `busy`, model.ErrServer},
	} {
		status, answer = x.status, x.answer
		r, err := catalog(vars, nil).Resolve(Choice{Model: "luna"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Streamer.Stream(t.Context(), &model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "hi"}}}}}, nil)
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != x.kind || strings.Contains(fmt.Sprintf("%+v", e), "app-secret") || strings.Contains(e.Message, "Trace") {
			t.Errorf("%+v", e)
		}
	}
	delete(vars, "AZURE_CLIENT_ID")
	if _, err := catalog(vars, nil).Resolve(Choice{Model: "luna"}); code(err) != NoKey {
		t.Error(err)
	}
}
