package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
)

// sse makes a stream of events.
func sse(events ...string) []byte {
	return []byte("data: " + strings.Join(events, "\r\n\r\ndata: ") + "\r\n\r\n")
}

func client(t *testing.T, url string, old bool) model.Streamer {
	t.Helper()
	c, err := New(Options{BaseURL: url, Key: "k", Provider: "p", Old: old})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(messages ...model.Message) *model.Request {
	return &model.Request{Model: "gemini-3.1-pro-preview", Messages: messages,
		Tools: []model.Tool{{Name: "read", Description: "d", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}}}
}

func user(text string) model.Message {
	return model.Message{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: text}}}
}

// answer gives the message that a raw stream becomes.
func answer(t *testing.T, events ...string) (*model.Message, error) {
	t.Helper()
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Raw: sse(events...)}))
	return client(t, server.URL, false).Stream(t.Context(), ask(user("hi")), nil)
}

// body is what is sent for a history.
func body(t *testing.T, r *model.Request, old bool) string {
	t.Helper()
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	server.AcceptAnything()
	if _, err := client(t, server.URL, old).Stream(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	return string(server.Last().Raw)
}

const end = `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":1}}`

func piece(parts string) string { return `{"candidates":[{"content":{"parts":[` + parts + `]}}]}` }

func TestASignatureGoesBackOnThePieceThatItCameWith(t *testing.T) {
	for _, x := range []struct{ what, parts, want string }{
		{"an empty piece at the end", `{"text":"Hel"},{"text":"lo"},{"text":"","thoughtSignature":"S"}`,
			`"parts":[{"text":"Hello"},{"text":"","thoughtSignature":"S"}]`},
		{"a piece with text", `{"text":"Hel"},{"text":"lo","thoughtSignature":"S"}`, `"parts":[{"text":"Hel"},{"text":"lo","thoughtSignature":"S"}]`},
		{"the first piece", `{"text":"Hel","thoughtSignature":"S"},{"text":"lo"}`, `"parts":[{"text":"Hel","thoughtSignature":"S"},{"text":"lo"}]`},
		{"a piece after thoughts", `{"text":"hm","thought":true},{"text":"","thoughtSignature":"T"},{"text":"x"}`, `"parts":[{"text":"x"}]`},
		{"the first of two calls", `{"functionCall":{"name":"read","args":{"a":1}},"thoughtSignature":"S"},{"functionCall":{"name":"read","args":{"a":2}}}`,
			`"args":{"a":1}},"thoughtSignature":"S"},{"functionCall"`},
	} {
		m, err := answer(t, piece(x.parts), end)
		if err != nil {
			t.Fatal(err)
		}
		if got := body(t, ask(user("hi"), *m, user("go on")), false); !strings.Contains(got, x.want) {
			t.Errorf("%s: %s", x.what, got)
		}
		other := ask(user("hi"), *m, user("go on"))
		if other.Model = "gemini-3.8-flash"; strings.Contains(body(t, other, false), `"S"`) {
			t.Errorf("%s: the signature goes to another model", x.what)
		}
	}
}

func TestCallsWithoutASignatureAreMarkedAsSuch(t *testing.T) {
	call := model.Message{Role: model.Assistant, Stop: model.StopTools, Parts: []model.Part{
		{Kind: model.ToolCall, CallID: "a", Name: "read", Input: "{}"}, {Kind: model.ToolCall, CallID: "b", Name: "read", Input: "{}"}}}
	if got := body(t, ask(user("hi"), call), false); strings.Count(got, unsigned) != 1 {
		t.Errorf("%s", got)
	}
	if got := body(t, ask(user("hi"), call), true); strings.Contains(got, unsigned) {
		t.Errorf("an old model: %s", got)
	}
}

func TestIDsThatAreMissingBecomeUnique(t *testing.T) {
	m, err := answer(t, piece(`{"functionCall":{"name":"read"}},{"functionCall":{"name":"read","args":{}}},{"functionCall":{"id":"x","name":"read","args":{}}},{"functionCall":{"id":"x","name":"read","args":{}}}`), end)
	if err != nil || m.Stop != model.StopTools {
		t.Fatalf("%+v, %v", m, err)
	}
	seen := map[string]bool{}
	for _, p := range m.Parts {
		if p.CallID == "" || seen[p.CallID] || p.Input != "{}" {
			t.Errorf("%+v", p)
		}
		seen[p.CallID] = true
	}
}

func TestThinkingIsToldInTheModelsTerms(t *testing.T) {
	for _, x := range []struct {
		thinking model.Thinking
		id       string
		want     string
	}{
		{model.Thinking{}, "gemini-3.8-flash", ""},
		{model.Thinking{Off: true}, "gemini-3.8-flash", `{"thinkingLevel":"low"}`},
		{model.Thinking{Effort: "minimal"}, "gemini-3.8-flash", `{"thinkingLevel":"minimal","includeThoughts":true}`},
		{model.Thinking{Effort: "max"}, "gemini-3.8-flash", `{"thinkingLevel":"high","includeThoughts":true}`},
		{model.Thinking{Off: true}, "gemini-2.5-flash", `{"thinkingBudget":0}`},
		{model.Thinking{Budget: 4000}, "gemini-2.5-flash", `{"thinkingBudget":4000,"includeThoughts":true}`},
		{model.Thinking{Budget: 90000}, "gemini-2.5-flash", `{"thinkingBudget":24576,"includeThoughts":true}`},
		{model.Thinking{Budget: 90000}, "gemini-2.5-pro", `{"thinkingBudget":32768,"includeThoughts":true}`},
		{model.Thinking{Effort: "medium"}, "models/gemini-2.5-pro", `{"thinkingBudget":10000,"includeThoughts":true}`},
	} {
		r := ask(user("hi"))
		r.Model, r.Thinking = x.id, x.thinking
		got := body(t, r, Old(x.id))
		if x.want == "" && strings.Contains(got, "thinking") || !strings.Contains(got, x.want) {
			t.Errorf("%+v of %s: %s", x.thinking, x.id, got)
		}
	}
}

func TestFurtherParametersGoWhereTheyBelong(t *testing.T) {
	r := ask(user("hi"))
	seed, k := int64(7), 3
	r.Params = model.Params{Seed: &seed, TopK: &k, Extra: map[string]json.RawMessage{
		"safetySettings": json.RawMessage(`[]`), "mediaResolution": json.RawMessage(`"MEDIA_RESOLUTION_LOW"`), "contents": json.RawMessage(`[]`),
		"generationConfig": json.RawMessage(`{}`), "toolConfig": json.RawMessage(`{}`)}}
	got := body(t, r, false)
	if !strings.Contains(got, `"generationConfig":{"topK":3,"seed":7,"mediaResolution":"MEDIA_RESOLUTION_LOW"},"safetySettings":[],"contents":[{`) ||
		strings.Contains(got, "toolConfig") {
		t.Errorf("%s", got)
	}
}

func TestWhatASearchFoundIsCited(t *testing.T) {
	m, err := answer(t, piece(`{"text":"It is so."}`),
		`{"candidates":[{"groundingMetadata":{"webSearchQueries":["a","b"],"groundingChunks":[{"web":{"uri":"https://x.example","title":"x.example"}},{"web":{"uri":"https://x.example"}},{"retrievedContext":{}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5}}`)
	if err != nil || m.Stop != model.StopEnd || len(m.Parts) != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
	text, search := m.Parts[0], m.Parts[1]
	if len(text.Sources) != 1 || text.Sources[0].Title != "x.example" || search.Kind != model.Native || search.Text != "a; b" || m.Usage.Searches != 2 {
		t.Errorf("%+v", m)
	}
	if got := body(t, ask(user("hi"), *m, user("go on")), false); strings.Contains(got, "a; b") || strings.Contains(got, "x.example") {
		t.Errorf("the search goes back: %s", got)
	}
}

func TestOldModelsSearchOnlyWithoutTools(t *testing.T) {
	r := ask(user("hi"))
	r.Native = []string{model.WebSearch}
	if got := body(t, r, true); strings.Contains(got, "googleSearch") || !strings.Contains(got, `"read"`) {
		t.Errorf("%s", got)
	}
	r.Tools = nil
	if got := body(t, r, true); !strings.Contains(got, `"tools":[{"googleSearch":{}}]`) || strings.Contains(got, "toolConfig") {
		t.Errorf("%s", got)
	}
}

func TestReasonsToEnd(t *testing.T) {
	finish := func(reason string) string { return `{"candidates":[{"finishReason":"` + reason + `"}]}` }
	for event, want := range map[string]model.Stop{
		finish("SAFETY"): model.StopFilter, finish("PROHIBITED_CONTENT"): model.StopFilter, finish("RECITATION"): model.StopFilter,
		finish("MAX_TOKENS"): model.StopLength, finish("STOP"): model.StopEnd, `{"promptFeedback":{"blockReason":"SAFETY"}}`: model.StopFilter,
	} {
		if m, err := answer(t, piece(`{"text":"x"}`), event); err != nil || m.Stop != want {
			t.Errorf("%s: %q, %v", event, m.Stop, err)
		}
	}
	for _, reason := range []string{"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER"} {
		m, err := answer(t, piece(`{"text":"x"}`), finish(reason))
		var e *model.Error
		if !errors.As(err, &e) || !e.Retryable() || !e.MidStream || model.Runnable(m) != nil {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func TestErrorsAreReadWithTheirDetails(t *testing.T) {
	for _, x := range []struct {
		what   string
		status int
		body   string
		kind   model.ErrorKind
		code   string
		wait   time.Duration
	}{
		{"key", 400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`,
			model.ErrAuth, "API_KEY_INVALID", 0},
		{"minute", 429, `[{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},{"retryDelay":"34.5s"}]}}]`,
			model.ErrRateLimit, "RESOURCE_EXHAUSTED", 34500 * time.Millisecond},
		{"day", 429, `{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"34s"}]}}`,
			model.ErrQuota, "RESOURCE_EXHAUSTED", 0},
		{"never", 429, `{"error":{"code":429,"message":"Quota exceeded for metric: x, limit: 0, model: y","status":"RESOURCE_EXHAUSTED"}}`, model.ErrQuota, "RESOURCE_EXHAUSTED", 0},
		{"overflow", 400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`,
			model.ErrOverflow, "INVALID_ARGUMENT", 0},
		{"place", 400, `{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`, model.ErrBadRequest, "FAILED_PRECONDITION", 0},
		{"busy", 503, `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, model.ErrOverloaded, "UNAVAILABLE", 0},
		{"unknown", 500, `{"error":{"code":500,"message":"oops","status":"INTERNAL"}}`, model.ErrServer, "INTERNAL", 0},
		{"no JSON", 502, `<html>`, model.ErrServer, "", 0},
	} {
		var f format
		e := &model.Error{Kind: model.ErrServer, Status: x.status}
		f.Explain(nil, []byte(x.body), e)
		if e.Kind != x.kind || e.Code != x.code || e.RetryAfter != x.wait {
			t.Errorf("%s: %+v", x.what, e)
		}
	}
	_, err := answer(t, piece(`{"text":"x"}`), `{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}`)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.ErrOverloaded || !e.MidStream {
		t.Errorf("in the stream: %v", err)
	}
}

func TestPicturesThatTheFormatLacksBecomeNotes(t *testing.T) {
	gif := model.Part{Kind: model.File, Mime: "image/gif", Name: "a.gif",
		Data: []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x00\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")}
	asked := user("look")
	asked.Parts = append(asked.Parts, gif)
	call := model.Message{Role: model.Assistant, Stop: model.StopTools, Parts: []model.Part{{Kind: model.ToolCall, CallID: "a", Name: "read", Input: "{}"}}}
	back := model.Message{Role: model.ToolRole, Parts: []model.Part{{Kind: model.ToolResult, CallID: "a", Name: "read", Parts: []model.Part{gif}}}}
	if got := body(t, ask(asked, call, back), false); strings.Contains(got, "inlineData") || strings.Count(got, "[file a.gif: can't be shown") != 2 {
		t.Errorf("%s", got)
	}
}

func TestAddresses(t *testing.T) {
	for in, want := range map[string]string{
		"": DefaultBaseURL + "/v1beta", "http://h": "http://h/v1beta", "http://h/v1beta/": "http://h/v1beta", "http://h/x/v1": "http://h/x/v1",
		"http://h?key=x": "", "ftp://h": "", "http://u:p@h": "", "nothing": "",
	} {
		if got, err := Base(in); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for in, want := range map[string]string{"gemini-3": "models/gemini-3", "models/x": "models/x", "tunedModels/a b": "tunedModels/a%20b", "a?b": "models/a%3Fb"} {
		if got := path(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
	for id, old := range map[string]bool{"gemini-2.5-pro": true, "models/gemini-2.0-flash": true, "gemma-3-27b-it": true, "gemini-3-pro": false, "gemini-3.8-flash": false,
		"gemini-flash-latest": false, "gemini-12-pro": false, "new": false} {
		if Old(id) != old {
			t.Errorf("Old(%q) is %v", id, !old)
		}
	}
}

func TestTheKeyIsInAHeaderAlone(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	c, err := New(Options{BaseURL: server.URL, Key: "secret-key", Header: map[string][]string{"X-Team": {"t"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stream(t.Context(), ask(user("hi")), nil); err != nil {
		t.Fatal(err)
	}
	r := server.Last()
	if r.Header.Get("X-Goog-Api-Key") != "secret-key" || r.Header.Get("X-Team") != "t" || strings.Contains(fmt.Sprint(r.Path, string(r.Raw)), "secret") ||
		r.Path != "/v1beta/models/gemini-3.1-pro-preview:streamGenerateContent" {
		t.Errorf("%+v", r)
	}
}
