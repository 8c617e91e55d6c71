package modeltest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
)

func (s Subject) failure(t *testing.T) {
	t.Run("statuses", s.statuses)
	t.Run("Retry-After", s.retryAfter)
	t.Run("inside the stream", s.midStream)
	t.Run("the stream is cut anywhere", s.cutAnywhere)
	t.Run("no server", s.noServer)
	t.Run("a web page", s.webPage)
	t.Run("no key in errors", s.noKey)
	t.Run("cancel keeps the partial", s.cancel)
	t.Run("the same request again after a failure in the middle", s.again)
}

func (s Subject) statuses(t *testing.T) {
	for _, c := range []struct {
		status    int
		kind, msg string
		want      model.ErrorKind
	}{
		{429, "rate_limit_error", "slow down", model.ErrRateLimit},
		{529, "overloaded_error", "Overloaded", model.ErrOverloaded},
		{503, "overloaded_error", "Overloaded", model.ErrOverloaded},
		{500, "api_error", "oops", model.ErrServer},
		{502, "", "", model.ErrServer},
		{408, "", "", model.ErrServer},
		{401, "authentication_error", "invalid x-api-key", model.ErrAuth},
		{403, "permission_error", "not for you", model.ErrAuth},
		{404, "not_found_error", "model: nope", model.ErrNotFound},
		{400, "invalid_request_error", "bad field", model.ErrBadRequest},
		{400, "invalid_request_error", "prompt is too long: 203456 tokens > 200000 maximum", model.ErrOverflow},
		{400, "invalid_request_error", "This model's maximum context length is 128000 tokens.", model.ErrOverflow},
		{400, "context_length_exceeded", "too much", model.ErrOverflow},
		{413, "request_too_large", "Request exceeds the maximum size", model.ErrOverflow},
		{429, "insufficient_quota", "You exceeded your current quota.", model.ErrQuota},
		{400, "invalid_request_error", "Your credit balance is too low to access the API.", model.ErrQuota},
		{402, "", "pay", model.ErrQuota},
	} {
		_, err := s.one(t, fakewire.Reply{Status: c.status, ErrorType: c.kind, ErrorMessage: c.msg}, ask(user("hi")))
		e := asError(t, err)
		if e.Kind != c.want || e.Status != c.status || e.MidStream || (c.msg != "" && e.Message != c.msg) || e.Message == "" {
			t.Errorf("%d %s %q: %+v, want %s", c.status, c.kind, c.msg, e, c.want)
		}
		retry := c.want == model.ErrRateLimit || c.want == model.ErrOverloaded || c.want == model.ErrServer
		if e.Retryable() != retry {
			t.Errorf("%s: retryable is %v", c.want, e.Retryable())
		}
	}
}

func (s Subject) retryAfter(t *testing.T) {
	get := func(v string) time.Duration {
		_, err := s.one(t, fakewire.Reply{Status: 429, ErrorType: "rate_limit_error", ErrorMessage: "x", RetryAfter: v}, ask(user("hi")))
		return asError(t, err).RetryAfter
	}
	for v, want := range map[string]time.Duration{"1": time.Second, "0.25": 250 * time.Millisecond, "": 0, "-4": 0, "soon": 0, "NaN": 0} {
		if got := get(v); got != want {
			t.Errorf("Retry-After %q gives %s, want %s", v, got, want)
		}
	}
	date := get(time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat))
	if date < 80*time.Second || date > 90*time.Second {
		t.Errorf("a date 90 s ahead gives %s", date)
	}
}

func (s Subject) midStream(t *testing.T) {
	for _, c := range []struct {
		kind, msg string
		want      model.ErrorKind
	}{
		{"overloaded_error", "Overloaded", model.ErrOverloaded},
		{"server_error", "The server had an error.", model.ErrServer},
		{"context_length_exceeded", "Your input exceeds the context window of this model.", model.ErrOverflow},
		{"rate_limit_exceeded", "Rate limit reached.", model.ErrRateLimit},
	} {
		m, err := s.one(t, fakewire.Reply{Text: "partial", ErrorType: c.kind, ErrorMessage: c.msg}, ask(user("hi")))
		e := asError(t, err)
		if e.Kind != c.want || !e.MidStream || m.Stop != model.StopError || m.Parts[0].Text != "partial" {
			t.Errorf("%s: %+v, %+v", c.kind, e, m)
		}
	}
}

// cutAnywhere closes the connection after each number of events: never a message that counts as
// complete, and no call that may run (O-LLM-06).
func (s Subject) cutAnywhere(t *testing.T) {
	reply := fakewire.Reply{Text: "Hello", Calls: []fakewire.Call{{Name: "read", Input: `{"path":"/a"}`}}, Chunk: 4}
	for n := 1; n < 200; n++ {
		reply.CutAfterEvents = n
		m, err := s.one(t, reply, ask(user("hi")))
		if err == nil {
			if m.Stop != model.StopTools || len(model.Runnable(m)) != 1 || n < 4 {
				t.Errorf("cut after %d events: %+v", n, m)
			}
			return
		}
		e := asError(t, err)
		if e.Kind != model.ErrNetwork || e.MidStream != (len(m.Parts) > 0) || m.Stop != model.StopError || model.Runnable(m) != nil {
			t.Errorf("cut after %d events: %+v, %+v", n, e, m)
		}
	}
	t.Error("never complete")
}

func (s Subject) noServer(t *testing.T) {
	_, err := s.New(t, "http://127.0.0.1:1", 0).Stream(t.Context(), ask(user("hi")), nil)
	if e := asError(t, err); e.Kind != model.ErrNetwork || !strings.Contains(e.Message, "127.0.0.1:1") {
		t.Errorf("%+v", e)
	}
}

func (s Subject) webPage(t *testing.T) {
	for _, raw := range []string{"<html>login</html>", `{"object":"list"}`} {
		server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Raw: []byte(raw)}))
		m, err := s.New(t, server.URL, 0).Stream(t.Context(), ask(user("hi")), nil)
		if e := asError(t, err); m.Stop != model.StopError || e.Message == "" {
			t.Errorf("%+v, %+v", e, m)
		}
	}
}

func (s Subject) noKey(t *testing.T) {
	_, err := s.one(t, fakewire.Reply{Status: 401, ErrorType: "authentication_error",
		ErrorMessage: "Incorrect API key provided: " + Key + "."}, ask(user("hi")))
	e := asError(t, err)
	if text := fmt.Sprintf("%v %+v %v", err, *e, e.Cause); strings.Contains(text, Key) || !strings.Contains(text, "[key]") {
		t.Errorf("the error shows the key: %s", text)
	}
}

func (s Subject) cancel(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: strings.Repeat("tok ", 50), Chunk: 4, Hang: fakewire.HangEnd}))
	ctx, emit, snapshot := stopAt(t, 12)
	m, err := s.New(t, server.URL, 0).Stream(ctx, ask(user("hi")), emit)
	if e := asError(t, err); e.Kind != model.ErrCancelled || e.Retryable() || m.Stop != model.StopCancelled {
		t.Errorf("%+v, %+v", e, m)
	}
	if !strings.HasPrefix(m.Parts[0].Text, "tok tok ") || snapshot() == nil {
		t.Errorf("partial %+v", m)
	}
	if s.UsageEarly != (m.Usage.Input > 0) {
		t.Errorf("usage after a cancel is %+v", m.Usage)
	}
	next := s.sent(t, ask(user("hi"), *clone(t, m), user("go on")))
	if !strings.Contains(string(next.Raw), "tok tok ") {
		t.Errorf("the partial is lost: %s", next.Raw)
	}
	select {
	case <-server.Gone():
	case <-time.After(5 * time.Second):
		t.Error("the connection stays open")
	}
}

// again holds that a failed attempt leaves nothing behind.
func (s Subject) again(t *testing.T) {
	for _, first := range []fakewire.Reply{
		{Text: "partial", ErrorType: "overloaded_error", ErrorMessage: "Overloaded"},
		{Text: "partial", CutAfterEvents: 2},
		{Status: 529, ErrorType: "overloaded_error", ErrorMessage: "Overloaded"},
	} {
		server := fakewire.New(t, fakewire.Once(fakewire.Steps(full), first))
		client := s.New(t, server.URL, 0)
		if _, err := client.Stream(t.Context(), ask(user("hi")), nil); !asError(t, err).Retryable() {
			t.Errorf("%v", err)
		}
		m, err := client.Stream(t.Context(), ask(user("hi")), nil)
		if err != nil || len(m.Parts) != 4 || m.Stop != model.StopTools || m.Parts[1].Text != full.Text {
			t.Errorf("%+v, %v", m, err)
		}
		if r := server.Requests(); len(r) != 2 || string(r[0].Raw) != string(r[1].Raw) {
			t.Errorf("%d requests, or they differ", len(r))
		}
	}
}
