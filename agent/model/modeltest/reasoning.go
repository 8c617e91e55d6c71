package modeltest

import (
	"bytes"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
)

// reasoning holds O-LLM-02. The fake server, as the real ones, refuses reasoning that another model
// made or that was altered.
func (s Subject) reasoning(t *testing.T) {
	thought := fakewire.Reply{Reasoning: "deep <thought> 1", Calls: []fakewire.Call{{Name: "read", Input: `{}`}}}
	m, err := s.one(t, thought, ask(user("hi")))
	if err != nil {
		t.Fatal(err)
	}
	m = clone(t, m)

	t.Run("goes back to its model after a restart", func(t *testing.T) {
		r := s.sent(t, ask(user("hi"), *m, results(m)))
		if got := bytes.Contains(r.Raw, []byte("deep")); got != s.Replays {
			t.Errorf("replayed: %v\n%s", got, r.Raw)
		}
	})
	t.Run("never goes to another model", func(t *testing.T) {
		req := ask(user("hi"), *m, results(m))
		req.Model = "model-b"
		if r := s.sent(t, req); bytes.Contains(r.Raw, []byte("deep")) {
			t.Errorf("leaked: %s", r.Raw)
		}
	})
	t.Run("goes back after a turn with another model", func(t *testing.T) {
		other := model.Message{Role: model.Assistant, Stop: model.StopEnd, Parts: []model.Part{
			{Kind: model.Reasoning, Text: "foreign", Origin: "elsewhere/p/model-b", Signature: "sig", Opaque: []byte(`{"type":"reasoning"}`)},
			{Kind: model.Text, Text: "hello"}}}
		r := s.sent(t, ask(user("hi"), *m, results(m), user("b"), other, user("a")))
		if bytes.Contains(r.Raw, []byte("foreign")) || bytes.Contains(r.Raw, []byte("deep")) != s.Replays {
			t.Errorf("sent %s", r.Raw)
		}
	})
	t.Run("of every other format and provider stays out", func(t *testing.T) { s.foreign(t, m) })
	t.Run("unsigned or half reasoning stays out", func(t *testing.T) {
		cut := *clone(t, m)
		cut.Parts[0].Open, cut.Stop = true, model.StopCancelled
		if r := s.sent(t, ask(user("hi"), cut, user("go on"))); bytes.Contains(r.Raw, []byte("deep")) {
			t.Errorf("sent %s", r.Raw)
		}
	})
	t.Run("is left out once it was refused", func(t *testing.T) {
		if !s.Replays {
			t.Skip("it is never sent")
		}
		server := fakewire.New(t, fakewire.Once(fakewire.Steps(fakewire.Reply{Text: "ok"}), fakewire.Reply{Status: 400,
			ErrorType: "invalid_request_error", ErrorMessage: "Invalid `signature` in `thinking` block; reasoning item not found"}))
		got, err := s.New(t, server.URL, 0).Stream(t.Context(), ask(user("hi"), *m, results(m)), nil)
		if err != nil || got.Stop != model.StopEnd || len(server.Requests()) != 2 || bytes.Contains(server.Last().Raw, []byte("deep")) {
			t.Errorf("%+v, %v, %d requests", got, err, len(server.Requests()))
		}
	})
}

func (s Subject) foreign(t *testing.T, m *model.Message) {
	for _, origin := range []string{"anthropic/q/model-a", "responses/q/model-a", "chat/q/model-a", "gemini/q/model-a", "bedrock/q/model-a", ""} {
		foreign := *clone(t, m)
		for i := range foreign.Parts {
			foreign.Parts[i].Origin, foreign.Parts[i].Signature, foreign.Parts[i].Opaque = origin, "SIG", []byte(`{"type":"reasoning","id":"SEALED"}`)
		}
		r := s.sent(t, ask(user("hi"), foreign, results(&foreign)))
		for _, leak := range []string{"deep", "SIG", "SEALED"} {
			if bytes.Contains(r.Raw, []byte(leak)) {
				t.Errorf("%q leaks %s: %s", origin, leak, r.Raw)
			}
		}
	}
}
