package modeltest

import (
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
)

func (s Subject) history(t *testing.T) {
	t.Run("a crash at any event leaves a legal history", s.crash)
	t.Run("an interrupt between results leaves a legal history", s.interrupted)
	t.Run("malformed arguments are kept and stay legal", s.malformed)
	t.Run("ids of another provider are made legal", s.foreignIDs)
}

// crash holds O-LLM-01 and O-LLM-02: the partial of any event, read back from disk, can be followed
// by the next message, at the same model and at another.
func (s Subject) crash(t *testing.T) {
	server := fakewire.New(t, fakewire.Turns(fakewire.Steps(full), fakewire.Steps(fakewire.Reply{Text: "ok"})))
	client := s.New(t, server.URL, 0)
	for n := 1; ; n++ {
		ctx, emit, snapshot := stopAt(t, n)
		m, err := client.Stream(ctx, ask(user("hi")), emit)
		partial := snapshot()
		if partial == nil {
			if err != nil || n < 20 {
				t.Fatalf("%d events, %v", n, err)
			}
			return
		}
		for _, left := range []*model.Message{partial, m} {
			req := ask(user("hi"), *left, user("go on"))
			if _, err := client.Stream(t.Context(), req, nil); err != nil {
				t.Fatalf("after event %d: %v\n%s", n, err, server.Last().Raw)
			}
			req.Model = "model-b"
			if _, err := client.Stream(t.Context(), req, nil); err != nil {
				t.Fatalf("after event %d, another model: %v\n%s", n, err, server.Last().Raw)
			}
		}
	}
}

// interrupted holds O-LLM-01: three calls, one result, then a new message.
func (s Subject) interrupted(t *testing.T) {
	calls := model.Message{Role: model.Assistant, Stop: model.StopTools}
	for _, id := range []string{"a", "b", "c"} {
		calls.Parts = append(calls.Parts, model.Part{Kind: model.ToolCall, CallID: id, Name: "read", Input: `{}`})
	}
	back := model.Message{Role: model.ToolRole, Parts: []model.Part{result("a", "read", "first")}}
	r := s.sent(t, ask(user("hi"), calls, back, user("continue")))
	got := r.Messages[2].Results
	if len(got) != 3 || got[0].Text != "first" {
		t.Fatalf("results %+v", got)
	}
	for _, g := range got[1:] {
		if !strings.Contains(g.Text, "interrupted") || !strings.Contains(g.Text, "side effects are unknown") {
			t.Errorf("result %q", g.Text)
		}
	}
}

func (s Subject) malformed(t *testing.T) {
	if s.Whole {
		t.Skip("there are none")
	}
	for _, input := range []string{`{"path": "/a`, `[1]`, `null`, `"x"`, `{"a":1}{"b":2}`} {
		m, err := s.one(t, fakewire.Reply{Calls: []fakewire.Call{{Name: "read", Input: input}}}, ask(user("hi")))
		if err != nil {
			t.Fatal(err)
		}
		same(t, "arguments", m.Parts[0].Input, input)
		s.sent(t, ask(user("hi"), *clone(t, m), results(m)))
	}
}

func (s Subject) foreignIDs(t *testing.T) {
	calls := model.Message{Role: model.Assistant, Stop: model.StopTools}
	for _, id := range []string{"functions.read:0", "functions.read:1", strings.Repeat("x", 90), strings.Repeat("x", 91), "", "ü"} {
		calls.Parts = append(calls.Parts, model.Part{Kind: model.ToolCall, CallID: id, Name: "weird tool!", Input: `{}`})
	}
	back := results(&calls)
	r := s.sent(t, ask(user("hi"), calls, back, user("again"), calls, back))
	for i, g := range r.Messages[2].Results {
		if want := "content of " + calls.Parts[i].CallID; g.Text != want {
			t.Errorf("result %d is %q, want %q", i, g.Text, want)
		}
	}
}
