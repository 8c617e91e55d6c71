package catalog

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
)

func TestGeminiIsAskedInItsOwnFormat(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "OK"}))
	on := true
	c := catalog(map[string]string{"GOOGLE_API_KEY": secret}, entries{"google": {BaseURL: server.URL, WebSearch: &on}})
	for id, want := range map[string]string{
		"gemini+high":                      `"thinkingLevel":"high"`,
		"google:gemini-2.5-flash+low":      `"thinkingBudget":4000`,
		"google:gemini-3.1-pro-preview+":   `"googleSearch":{}`,
		"google:gemini-something-new+high": `"thinkingLevel":"high"`,
	} {
		id, level, _ := strings.Cut(id, "+")
		r, err := c.Resolve(Choice{Model: id, Level: Level(level)})
		if err != nil {
			t.Fatal(err)
		}
		q := &model.Request{Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "hi"}}}}}
		r.Prepare(q)
		if _, err := r.Streamer.Stream(t.Context(), q, nil); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if got := server.Last(); got.Format != "gemini" || !strings.Contains(string(got.Raw), want) || got.Header.Get("X-Goog-Api-Key") != secret {
			t.Errorf("%s: %s %s", id, got.Format, got.Raw)
		}
	}
	check(t, "google", c.Test(t.Context(), "google"), "")
}

func TestGeminiListsItsModelsAndRefusesKeys(t *testing.T) {
	good := secret
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("X-Goog-Api-Key") != good || strings.Contains(r.URL.String(), secret):
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprint(w, `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`)
		case r.URL.Path == "/v1beta/models":
			_, _ = fmt.Fprint(w, `{"models":[{"name":"models/gemini-b","displayName":"B","inputTokenLimit":9,"supportedGenerationMethods":["generateContent"]},
				{"name":"models/embed","supportedGenerationMethods":["embedContent"]}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(w, `{"error":{"code":404,"message":"models/x is not found","status":"NOT_FOUND"}}`)
		}
	}))
	t.Cleanup(server.Close)
	c := catalog(nil, entries{"google": {APIKey: secret, BaseURL: server.URL}})
	list, err := c.Suggest(t.Context(), "google")
	if err != nil || len(list) != 1 || list[0] != (Suggestion{ID: "google:gemini-b", Name: "B", Context: 9}) {
		t.Errorf("%+v, %v", list, err)
	}
	check(t, "no such model", c.Test(t.Context(), "google"), "model_not_found")
	check(t, "a wrong key", catalog(nil, entries{"google": {APIKey: "wrong-" + secret, BaseURL: server.URL}}).Test(t.Context(), "google"), "auth")
	if _, err := catalog(nil, entries{"google": {APIKey: secret, BaseURL: "localhost"}}).Resolve(Choice{Model: "gemini"}); code(err) != BadBaseURL {
		t.Errorf("%v", err)
	}
}
