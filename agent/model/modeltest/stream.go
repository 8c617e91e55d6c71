package modeltest

import (
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
)

var full = fakewire.Reply{
	Reasoning: "Let me think about <it> & more.",
	Text:      "I'll read it: ünïcödé 😀😀.",
	Calls:     []fakewire.Call{{Name: "read", Input: `{"path":"/a <b>","n":1.0}`}, {Name: "list", Input: ""}},
	Usage:     model.Usage{Input: 100, Output: 42, CacheRead: 30},
	Chunk:     3,
}

func (s Subject) stream(t *testing.T) {
	t.Run("deltas add up", s.deltasAddUp)
	t.Run("each event's message survives JSON", s.partialsSurvive)
	t.Run("usage", s.usage)
	t.Run("stops", s.stops)
	t.Run("the end is not waited for", s.staysOpen)
}

func (s Subject) deltasAddUp(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(full))
	deltas, started, ended := map[int]string{}, map[int]bool{}, map[int]bool{}
	m, err := s.New(t, server.URL, 0).Stream(t.Context(), ask(user("hi")), func(e model.Event) {
		switch e.Type {
		case model.PartStart:
			started[e.Index] = true
		case model.PartDelta:
			if !started[e.Index] || ended[e.Index] {
				t.Errorf("delta %q of a part that is not open", e.Delta)
			}
			deltas[e.Index] += e.Delta
		case model.PartEnd:
			ended[e.Index] = true
		case model.UsageUpdate:
			if e.Index != -1 {
				t.Errorf("index of usage is %d", e.Index)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{full.Reasoning, full.Text, full.Calls[0].Input, "{}"}
	if len(m.Parts) != len(want) {
		t.Fatalf("%d parts: %+v", len(m.Parts), m.Parts)
	}
	for i, p := range m.Parts {
		same(t, "content", p.Text+p.Input, want[i])
		if i < 3 {
			same(t, "deltas", deltas[i], want[i])
		}
		if p.Open || !ended[i] {
			t.Errorf("part %d is open", i)
		}
	}
	if m.Stop != model.StopTools || len(model.Runnable(m)) != 2 || m.Parts[2].CallID == m.Parts[3].CallID {
		t.Errorf("stop %q, runnable %+v", m.Stop, model.Runnable(m))
	}
}

func (s Subject) partialsSurvive(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(full))
	n := 0
	_, err := s.New(t, server.URL, 0).Stream(t.Context(), ask(user("hi")), func(e model.Event) {
		n++
		same(t, "after JSON", clone(t, e.Message), e.Message)
	})
	if err != nil || n < 20 {
		t.Errorf("%d events, %v", n, err)
	}
}

func (s Subject) usage(t *testing.T) {
	want := model.Usage{Input: 100, Output: 42, CacheRead: 30}
	if s.CacheWrite {
		want.CacheWrite = 20
	} else {
		want.Reasoning = 10
	}
	m, err := s.one(t, fakewire.Reply{Text: "x", Usage: want}, ask(user("hi")))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "usage", m.Usage, want)
}

func (s Subject) stops(t *testing.T) {
	for stop, runs := range map[model.Stop]int{model.StopTools: 1, model.StopLength: 0, model.StopFilter: 0} {
		m, err := s.one(t, fakewire.Reply{Calls: []fakewire.Call{{Name: "read", Input: `{}`}}, Stop: stop}, ask(user("hi")))
		if err != nil || m.Stop != stop || len(model.Runnable(m)) != runs {
			t.Errorf("%s: stop %q, runnable %+v, %v", stop, m.Stop, model.Runnable(m), err)
		}
	}
	m, err := s.one(t, fakewire.Reply{Text: "bye"}, ask(user("hi")))
	if err != nil || m.Stop != model.StopEnd {
		t.Errorf("stop %q, %v", m.Stop, err)
	}
}

func (s Subject) staysOpen(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "x", Hang: fakewire.HangOpen}))
	m, err := s.New(t, server.URL, 0).Stream(t.Context(), ask(user("hi")), nil)
	if err != nil || m.Stop != model.StopEnd { // a server that keeps the stream open delays nothing
		t.Errorf("%+v, %v", m, err)
	}
}
