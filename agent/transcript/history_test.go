package transcript_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

func history(t *testing.T, l *transcript.Log) []model.Message {
	t.Helper()
	h, err := l.History()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHistoryIsLegalAndGrowsAtItsEndOnlyAtEveryPrefixOfTheLog(t *testing.T) { // O-LLM-01, O-LLM-08
	dir := t.TempDir()
	l := open(t, dir)
	for _, id := range []string{"one", "two"} {
		writeTurn(func(r transcript.Record) transcript.Record { return add(t, l, r) }, id)
	}
	full := history(t, l)
	lines := strings.SplitAfter(readLog(t, dir), "\n")
	for n := range lines {
		cut := t.TempDir()
		writeLog(t, cut, strings.Join(lines[:n], ""))
		p := open(t, cut)
		checkLegal(t, p)
		got := history(t, p)
		// What belongs to closed steps is the final history's; the last two messages are open.
		if closed := max(0, len(got)-2); !cmp.Equal(got[:closed], full[:closed]) {
			t.Errorf("after %d records: %s", n, cmp.Diff(got[:closed], full[:closed]))
		}
		_ = p.Close()
	}
}

func TestHistoryIsTheSameLiveAndReopened(t *testing.T) { // O-LLM-08
	dir := t.TempDir()
	l := open(t, dir)
	_ = history(t, l)
	m := say(model.Assistant, "a <b> & \xff é")
	m.Parts = append(m.Parts, model.Part{Kind: model.Reasoning, Origin: "x", Signature: "s", Opaque: []byte("{ \"a\" : [1,\n2.50, \"<&>\"] }")})
	add(t, l, transcript.Record{Kind: transcript.User, Message: say(model.User, "x")})
	add(t, l, transcript.Record{Kind: transcript.Assistant, Message: m})
	live := history(t, l)
	_ = l.Close()
	if diff := cmp.Diff(live, history(t, open(t, dir))); diff != "" {
		t.Error(diff)
	}
}

func TestACrashedResponseCountsAsFarAsItHadArrived(t *testing.T) { // O-LLM-01
	dir := t.TempDir()
	l := open(t, dir)
	add(t, l, transcript.Record{Kind: transcript.User, Turn: "t", Message: say(model.User, "go")})
	add(t, l, transcript.Record{Kind: transcript.TurnStart, Turn: "t"})
	step := add(t, l, transcript.Record{Kind: transcript.StepStart, Turn: "t", Step: 1})
	m := say(model.Assistant, "Looking")
	m.Parts = append(m.Parts,
		model.Part{Kind: model.ToolCall, CallID: "a", Input: "{}"},
		model.Part{Kind: model.ToolCall, CallID: "b", Input: `{"pa`, Open: true})
	m.Usage = model.Usage{Input: 7}
	add(t, l, transcript.Record{Kind: transcript.Partial, Turn: "t", Step: 1, StepSeq: step.Seq, Message: m})
	add(t, l, transcript.Record{Kind: transcript.TurnEnd, Turn: "t", End: transcript.Crashed})
	_ = l.Close()
	l = open(t, dir)
	checkLegal(t, l)
	h := history(t, l)
	if len(h) != 3 || h[1].Stop != model.StopError || h[1].Parts[0].Text != "Looking" {
		t.Fatalf("%+v", h)
	}
	if got := h[2].Parts[0].Parts[0].Text; got != transcript.NotStarted {
		t.Errorf("the call that was not run reads %q", got)
	}
	if st := l.State(); st.Usage.Input != 7 || st.Turn != "" || st.LastPartial != nil {
		t.Errorf("%+v", st)
	}
}

func TestResultsFollowTheOrderOfTheCalls(t *testing.T) {
	l := open(t, t.TempDir())
	m := say(model.Assistant, "x")
	for _, id := range []string{"a", "b", "c"} {
		m.Parts = append(m.Parts, model.Part{Kind: model.ToolCall, CallID: id, Input: "{}"})
	}
	add(t, l, transcript.Record{Kind: transcript.Assistant, Message: m})
	add(t, l, transcript.Record{Kind: transcript.ToolStart, CallID: "b"})
	for _, id := range []string{"c", "a"} {
		add(t, l, transcript.Record{Kind: transcript.ToolEnd, CallID: id, Result: &model.Part{Kind: model.ToolResult, CallID: id}})
	}
	checkLegal(t, l)
	if got := history(t, l)[1].Parts[1].Parts[0].Text; got != transcript.UnknownEffects {
		t.Errorf("the running call reads %q", got)
	}
}

func TestHistoryMayBeAskedForWhileTheLogGrows(t *testing.T) {
	dir, want := filled(t, 400)
	l := open(t, dir)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range 50 {
			turn(t, l, 400+n)
		}
	}()
	for range 20 {
		checkLegal(t, l)
	}
	<-done
	got := texts(t, l)
	if diff := cmp.Diff(want, got[:800]); diff != "" || len(got) != 900 {
		t.Errorf("%d messages: %s", len(got), diff)
	}
}
