package modeltest

import (
	"context"
	"strings"
	"testing"
	"time"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
)

var silences = []fakewire.Hang{
	fakewire.HangHeaders, fakewire.HangStart, fakewire.HangLine, fakewire.HangComments, fakewire.HangEnd,
}

// silence holds O-LLM-07: every way to fall silent ends as a retryable error, and a stop works at
// once in each.
func (s Subject) silence(t *testing.T) {
	for _, hang := range silences {
		t.Run(string(hang), func(t *testing.T) {
			server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "Hello", Hang: hang}))
			patience := 60 * time.Millisecond
			if hang == fakewire.HangEnd {
				patience = time.Second // what comes before must not be late on a busy machine
			}
			m, err := s.New(t, server.URL, patience).Stream(t.Context(), ask(user("hi")), nil)
			e := asError(t, err)
			if e.Kind != model.ErrNetwork || !e.Retryable() || m.Stop != model.StopError || e.MidStream != (hang == fakewire.HangEnd) {
				t.Errorf("%+v, %+v", e, m)
			}
		})
		t.Run(string(hang)+", stopped", func(t *testing.T) {
			server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "Hello", Hang: hang}))
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			begin := time.Now()
			m, err := s.New(t, server.URL, 0).Stream(ctx, ask(user("hi")), nil)
			if e := asError(t, err); e.Kind != model.ErrCancelled || m.Stop != model.StopCancelled || time.Since(begin) > 20*time.Second {
				t.Errorf("%+v, %+v after %s", e, m, time.Since(begin))
			}
		})
	}
	t.Run("slow is not silent", func(t *testing.T) {
		server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: strings.Repeat("x", 130), Chunk: 1, Delay: 10 * time.Millisecond}))
		m, err := s.New(t, server.URL, time.Second).Stream(t.Context(), ask(user("hi")), nil)
		if err != nil || len(m.Parts[0].Text) != 130 {
			t.Errorf("%+v, %v", m, err)
		}
	})
}

// cut holds O-LLM-06: what the output limit or a lost connection cut does not run, and the model
// learns why.
func (s Subject) cut(t *testing.T) {
	for _, input := range []string{`{"path":"a.txt","content":"line1\nli`, `{"script":"rm -rf build`, ``} {
		if s.Whole {
			break
		}
		m, err := s.one(t, fakewire.Reply{Text: "x", Calls: []fakewire.Call{{Name: "read", Input: input}}, Stop: model.StopLength}, ask(user("hi")))
		if err != nil || m.Stop != model.StopLength || !m.Parts[1].Open || model.Runnable(m) != nil {
			t.Fatalf("%q: %+v, %v", input, m, err)
		}
		r := s.sent(t, ask(user("hi"), *clone(t, m), user("go on")))
		if got := r.Messages[2].Results; len(got) != 1 || !strings.Contains(got[0].Text, "smaller") {
			t.Errorf("%q: results %+v", input, got)
		}
	}
	m, err := s.one(t, fakewire.Reply{Calls: []fakewire.Call{{Name: "list", Input: ""}}}, ask(user("hi")))
	if err != nil || m.Parts[0].Input != "{}" || len(model.Runnable(m)) != 1 {
		t.Errorf("a call without arguments: %+v, %v", m, err)
	}
}
