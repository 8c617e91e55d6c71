package responses

import (
	"errors"
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
	"carrel/agent/model/modeltest"
	"carrel/agent/model/wire"
)

func ask() *model.Request {
	return &model.Request{Model: "gpt", CacheKey: "k", Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "hi"}}}}}
}

func TestOpenAIsOptionsAreSent(t *testing.T) {
	c, err := New(Options{Key: modeltest.Key})
	if err != nil {
		t.Fatal(err)
	}
	plain := string(c.Body(ask()))
	for _, want := range []string{`"store":false`, `"include":["reasoning.encrypted_content"]`, `"prompt_cache_key":"k"`} {
		if !strings.Contains(plain, want) {
			t.Errorf("%s is missing: %s", want, plain)
		}
	}
	if strings.Contains(plain, `"reasoning":`) || strings.Contains(plain, "service_tier") || strings.Contains(plain, "access_programs") {
		t.Errorf("unasked: %s", plain)
	}
	for want, r := range map[string]model.Request{
		`"reasoning":{"effort":"max","summary":"auto"}`:              {Thinking: model.Thinking{Effort: "max"}},
		`"reasoning":{"mode":"pro","effort":"low","summary":"auto"}`: {Thinking: model.Thinking{Effort: "low", Pro: true}},
		`"reasoning":{"mode":"pro","summary":"auto"}`:                {Thinking: model.Thinking{Pro: true}},
		`"reasoning":{"effort":"none"}`:                              {Thinking: model.Thinking{Off: true}},
		`"service_tier":"ultrafast"`:                                 {Tier: "ultrafast"},
		`"access_programs":{"cyber":"daybreak_blue"}`:                {Cyber: "daybreak_blue"},
		`"tools":[{"type":"web_search"}]`:                            {Native: []string{model.WebSearch}},
	} {
		r.Model, r.Messages = "gpt", ask().Messages
		body := c.Body(&r)
		if !strings.Contains(string(body), want) {
			t.Errorf("%s is missing: %s", want, body)
		}
		if err := fakewire.Check(c.URL, body); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestRefusedProgramsAreShownAndNotRetried(t *testing.T) {
	for _, code := range []string{"invalid_access_program", "unsupported_access_program", "access_program_not_enabled"} {
		for _, status := range []int{400, 403} {
			server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Status: status, ErrorType: code, ErrorMessage: "Your project lacks the program."}))
			c, err := New(Options{BaseURL: server.URL, Key: modeltest.Key})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Stream(t.Context(), ask(), nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Retryable() || e.Kind != model.ErrBadRequest || e.Code != code || e.Hint == "" ||
				e.Message != "Your project lacks the program." || len(server.Requests()) != 1 {
				t.Errorf("%s: %+v", code, e)
			}
		}
	}
}

func events(t *testing.T, list ...string) *model.Message {
	t.Helper()
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Raw: []byte("data: " + strings.Join(list, "\n\ndata: ") + "\n\n")}))
	c, err := New(Options{BaseURL: server.URL, Key: modeltest.Key})
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.Stream(t.Context(), ask(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRefusalsStopTheResponse(t *testing.T) {
	m := events(t, `{"type":"response.output_item.added","output_index":0,"item":{"id":"m","type":"message"}}`,
		`{"type":"response.refusal.delta","output_index":0,"item_id":"m","delta":"I can't."}`,
		`{"type":"response.completed","response":{"status":"completed"}}`)
	if m.Stop != model.StopFilter || m.Parts[0].Text != "I can't." {
		t.Errorf("%+v", m)
	}
}

// Some models answer worse when the phase of what they said is lost.
func TestThePhaseOfATextGoesBack(t *testing.T) {
	m := events(t, `{"type":"response.output_item.added","output_index":0,"item":{"id":"m","type":"message"}}`,
		`{"type":"response.output_text.delta","output_index":0,"item_id":"m","delta":"Looking."}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"id":"m","type":"message","phase":"commentary","content":[]}}`,
		`{"type":"response.completed","response":{"status":"completed","service_tier":"priority"}}`)
	c, err := New(Options{Key: modeltest.Key})
	if err != nil {
		t.Fatal(err)
	}
	r := ask()
	r.Messages = append(r.Messages, *m)
	if body := string(c.Body(r)); !strings.Contains(body, `"role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"Looking."}]`) || m.Tier != "priority" {
		t.Errorf("%s, %+v", body, m)
	}
	r.Model = "another"
	if body := string(c.Body(r)); strings.Contains(body, "phase") {
		t.Errorf("leaked: %s", body)
	}
}

func TestAzureTakesItsKeyAndDeployment(t *testing.T) {
	for _, z := range []wire.Azure{{Deployment: "mine"}, {Deployment: "mine", APIVersion: "2025-03-01-preview"}} {
		server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
		z.Endpoint = server.URL
		c, err := New(Options{Azure: z, Key: modeltest.Key})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Stream(t.Context(), ask(), nil); err != nil {
			t.Fatal(err)
		}
		got := server.Last()
		if got.Header.Get("Api-Key") != modeltest.Key || got.Header.Get("Authorization") != "" || got.Model != "mine" || !strings.HasPrefix(got.Path, "/openai/") {
			t.Errorf("%s %v, model %s", got.Path, got.Header, got.Model)
		}
	}
}
