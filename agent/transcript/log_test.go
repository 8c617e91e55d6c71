package transcript_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

func open(t testing.TB, dir string) *transcript.Log {
	t.Helper()
	l, err := transcript.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func add(t testing.TB, l *transcript.Log, r transcript.Record) transcript.Record {
	t.Helper()
	out, err := l.Append(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func say(role model.Role, text string) *model.Message {
	return &model.Message{Role: role, Parts: []model.Part{{Kind: model.Text, Text: text}}}
}

// turn writes one whole turn: three records with a message, five in all.
func turn(t testing.TB, l *transcript.Log, n int) {
	t.Helper()
	id := fmt.Sprint("t", n)
	add(t, l, transcript.Record{Kind: transcript.User, Turn: id, MessageID: fmt.Sprint("m", n), Message: say(model.User, fmt.Sprint("question ", n))})
	add(t, l, transcript.Record{Kind: transcript.TurnStart, Turn: id, Model: "demo:demo"})
	step := add(t, l, transcript.Record{Kind: transcript.StepStart, Turn: id, Step: 1})
	add(t, l, transcript.Record{Kind: transcript.Assistant, Turn: id, Step: 1, StepSeq: step.Seq, Message: say(model.Assistant, fmt.Sprint("answer ", n))})
	add(t, l, transcript.Record{Kind: transcript.TurnEnd, Turn: id, End: transcript.Done})
}

func fill(t testing.TB, l *transcript.Log, turns int) {
	t.Helper()
	for i := range turns {
		turn(t, l, i)
	}
}

func texts(t testing.TB, l *transcript.Log) []string {
	t.Helper()
	h, err := l.History()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range h {
		for _, p := range m.Parts {
			out = append(out, string(m.Role)+": "+p.Text)
		}
	}
	return out
}

func logPath(dir string) string { return filepath.Join(dir, "transcript.jsonl") }

func readLog(t testing.TB, dir string) string {
	t.Helper()
	b, err := os.ReadFile(logPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writeLog(t testing.TB, dir, s string) {
	t.Helper()
	if err := os.WriteFile(logPath(dir), []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestReopeningGivesWhatWasAppended(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	fill(t, l, 20)
	want, wantState := texts(t, l), l.State()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir)
	if diff := cmp.Diff(want, texts(t, l)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(wantState, l.State()); diff != "" {
		t.Error(diff)
	}
	turn(t, l, 20)
	if got := len(texts(t, l)); got != 42 {
		t.Errorf("%d messages, want 42", got)
	}
}

func TestPagesGoBackwardsWithoutGapOrRepeat(t *testing.T) {
	l := open(t, t.TempDir())
	fill(t, l, 30)
	var all []transcript.Record
	seq, more := uint64(0), true
	for more {
		var page []transcript.Record
		var err error
		page, more, err = l.Before(seq, 7)
		if err != nil {
			t.Fatal(err)
		}
		all = append(page, all...)
		seq = page[0].Seq
	}
	if len(all) != 150 {
		t.Fatalf("%d records, want 150", len(all))
	}
	for i, r := range all {
		if r.Seq != uint64(i+1) {
			t.Fatalf("record %d has seq %d", i, r.Seq)
		}
	}
	since, err := l.Since(140)
	if err != nil || len(since) != 10 || since[0].Seq != 141 {
		t.Errorf("since 140: %d records, %v", len(since), err)
	}
}

func TestCheckpointsCostWhatTheyAdd(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	add(t, l, transcript.Record{Kind: transcript.TurnStart, Turn: "t"})
	step := add(t, l, transcript.Record{Kind: transcript.StepStart, Turn: "t", Step: 1})
	text := ""
	for range 400 {
		text += strings.Repeat("<é>", 100)
		m := say(model.Assistant, text)
		m.Parts = append(m.Parts, model.Part{Kind: model.ToolCall, CallID: "c", Input: text, Open: true})
		got := add(t, l, transcript.Record{Kind: transcript.Partial, Turn: "t", Step: 1, StepSeq: step.Seq, Message: m})
		if diff := cmp.Diff(m, got.Message); diff != "" {
			t.Fatal(diff)
		}
	}
	if n := len(readLog(t, dir)); n > 3*len(text) {
		t.Errorf("%d bytes of log for %d bytes of text and as many of input", n, len(text))
	}
	_ = l.Close()
	l = open(t, dir)
	if p := l.State().LastPartial; p == nil || p.Message.Parts[0].Text != text || p.Message.Parts[1].Input != text {
		t.Error("the checkpoint is not whole after reopening")
	}
	page, _, err := l.Before(0, 10)
	if err != nil || len(page) != 3 || page[2].Message.Parts[0].Text != text {
		t.Errorf("page has %d records, %v", len(page), err)
	}
	add(t, l, transcript.Record{Kind: transcript.Assistant, Turn: "t", Step: 1, StepSeq: step.Seq, Message: say(model.Assistant, "done")})
	if page, _, err = l.Before(0, 10); err != nil || len(page) != 3 || page[2].Kind != transcript.Assistant {
		t.Errorf("after the response the page has %d records, %v", len(page), err)
	}
}
