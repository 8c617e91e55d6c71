package transcript_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// editedTalk writes a conversation with every kind that changes what is before it.
func editedTalk(t *testing.T, dir string) *transcript.Log {
	l := open(t, dir)
	turn(t, l, 0)
	add(t, l, transcript.Record{Kind: transcript.Setup, Frame: &transcript.Frame{Name: "m"}})
	turn(t, l, 1)
	add(t, l, transcript.Record{Kind: transcript.Edit, From: 7})
	turn(t, l, 2)
	add(t, l, transcript.Record{Kind: transcript.User, Turn: "e", From: 13, Message: say(model.User, "anew")})
	add(t, l, transcript.Record{Kind: transcript.TurnStart, Turn: "e"})
	step := add(t, l, transcript.Record{Kind: transcript.StepStart, Turn: "e"})
	part := add(t, l, transcript.Record{Kind: transcript.Partial, Turn: "e", StepSeq: step.Seq, Message: say(model.Assistant, "bro")})
	add(t, l, transcript.Record{Kind: transcript.Retry, Turn: "e", StepSeq: step.Seq, Attempt: 1})
	add(t, l, transcript.Record{Kind: transcript.Edit, Turn: "e", StepSeq: step.Seq, From: part.Seq})
	add(t, l, transcript.Record{Kind: transcript.Assistant, Turn: "e", StepSeq: step.Seq, Message: say(model.Assistant, "whole"), Cost: 3, CostKnown: true})
	add(t, l, transcript.Record{Kind: transcript.TurnEnd, Turn: "e", End: transcript.Done})
	add(t, l, transcript.Record{Kind: transcript.Boundary, Border: transcript.Clear})
	turn(t, l, 4)
	return l
}

func TestALogCutAtAnyByteIsThatOfItsWholeLines(t *testing.T) { // O-DATA-01
	dir := t.TempDir()
	_ = editedTalk(t, dir).Close()
	log := readLog(t, dir)
	var want look
	known := -1
	for n := 0; n <= len(log); n++ {
		lines := log[:strings.LastIndexByte(log[:n], '\n')+1]
		if n < len(log) && log[n] == '\n' {
			lines = log[:n+1] // a whole record whose newline is missing counts
		}
		if n%37 != 0 && lines != log[:n] {
			continue // some bytes of each line, and the ends of all
		}
		if len(lines) != known {
			whole := t.TempDir()
			writeLog(t, whole, lines)
			want, known = lookAt(t, open(t, whole)), len(lines)
		}
		cut := t.TempDir()
		writeLog(t, cut, log[:n])
		l := open(t, cut)
		got := lookAt(t, l)
		got.State.Torn = ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("cut at byte %d: %s", n, diff)
		}
		turn(t, l, 7)
		checkLegal(t, l)
		_ = l.Close()
	}
}

func TestDamageInWhatAnEditLeftTouchesNothingElse(t *testing.T) { // O-DATA-02
	dir := t.TempDir()
	l := open(t, dir)
	fill(t, l, 3)
	edit := add(t, l, transcript.Record{Kind: transcript.Edit, From: 6})
	turn(t, l, 9)
	want := lookAt(t, l)
	_ = l.Close()
	lines := strings.SplitAfter(readLog(t, dir), "\n")
	lines[8] = lines[8][:40] + "\n"
	writeLog(t, dir, strings.Join(lines, ""))
	l = open(t, dir)
	got := lookAt(t, l)
	if got.State.Damaged != 1 {
		t.Errorf("%d damaged lines", got.State.Damaged)
	}
	got.State.Damaged = 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := left(t, l, edit.Seq); fmt.Sprint(got) != "[question 1 question 2 answer 2]" {
		t.Errorf("%q", got)
	}
}

func TestALogFromBeforeTheNewKindsOpensAsBefore(t *testing.T) {
	dir := t.TempDir()
	fill(t, open(t, dir), 3)
	old := readLog(t, dir)
	for _, word := range []string{"cost", "frame", "from", "border", "attempt", "choice", `"at"`} {
		if strings.Contains(old, word) {
			t.Errorf("a plain conversation has %q in its log", word)
		}
	}
	// What version 1 wrote beside a log is read anew.
	fresh := t.TempDir()
	writeLog(t, fresh, old)
	if got := texts(t, open(t, fresh)); len(got) != 6 {
		t.Errorf("%q", got)
	}
}

func TestRecordsThatLackWhatTheirKindPromisesAreDamage(t *testing.T) {
	for _, line := range []string{
		`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"setup"}`,
		`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"edit"}`,
		`{"seq":1,"time":"2026-01-01T00:00:00Z","kind":"boundary"}`,
	} {
		dir := t.TempDir()
		writeLog(t, dir, line+"\n")
		l := open(t, dir)
		turn(t, l, 0)
		if st := l.State(); st.Torn == "" && st.Damaged == 0 || st.LastSeq != 5 {
			t.Errorf("%s: %+v", line, st)
		}
	}
	l := open(t, t.TempDir())
	if _, err := l.Append(transcript.Record{Kind: transcript.Edit}); err == nil {
		t.Error("an edit of nothing was written")
	}
	// One that names itself or what is to come leaves nothing.
	turn(t, l, 0)
	add(t, l, transcript.Record{Kind: transcript.Edit, From: 6})
	add(t, l, transcript.Record{Kind: transcript.Edit, From: 1 << 60})
	if got := texts(t, l); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

func TestAReaderFollowsAnEditOfAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	fill(t, l, 30)
	r, err := transcript.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	_ = history(t, r)
	edit := add(t, l, transcript.Record{Kind: transcript.User, Turn: "e", From: 11, Message: say(model.User, "anew")})
	news, err := r.Since(150)
	if err != nil || len(news) != 1 || news[0].Seq != edit.Seq || news[0].From != 11 {
		t.Errorf("%+v, %v", news, err)
	}
	for n := range 30 { // the index is written anew under the reader
		turn(t, l, 100+n)
	}
	if diff := cmp.Diff(lookAt(t, l), lookAt(t, r)); diff != "" {
		t.Error(diff)
	}
}

func TestAMessageThatJoinsAnOpenTurnIsAnsweredByIt(t *testing.T) {
	l := open(t, t.TempDir())
	add(t, l, transcript.Record{Kind: transcript.User, Turn: "t", Message: say(model.User, "go")})
	add(t, l, transcript.Record{Kind: transcript.TurnStart, Turn: "t"})
	add(t, l, transcript.Record{Kind: transcript.User, Turn: "t", Message: say(model.User, "and this")})
	if st := l.State(); st.Unanswered != "" || st.Turn != "t" {
		t.Errorf("%+v", st)
	}
}

func TestForgettingCostsOnlyTime(t *testing.T) {
	l := open(t, t.TempDir())
	fill(t, l, 3)
	want := history(t, l)
	l.Forget()
	if diff := cmp.Diff(want, history(t, l)); diff != "" {
		t.Error(diff)
	}
	_ = l.Close()
	l.Forget()
	if _, err := l.History(); err == nil || errors.Is(err, transcript.ErrNotEdit) {
		t.Errorf("a closed log has a history: %v", err)
	}
}
