package transcript_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// long makes a log of that many messages, of about 1 KB each, twenty to a turn.
func long(t testing.TB, messages int) string {
	t.Helper()
	dir := t.TempDir()
	l := open(t, dir)
	text := strings.Repeat("some words of an answer ", 40)
	for n := range messages / 20 {
		id := fmt.Sprint("t", n)
		add(t, l, transcript.Record{Kind: transcript.User, Turn: id, MessageID: "message-" + id, Message: say(model.User, text)})
		add(t, l, transcript.Record{Kind: transcript.TurnStart, Turn: id})
		for k := 1; k < 20; k++ {
			step := add(t, l, transcript.Record{Kind: transcript.StepStart, Turn: id, Step: k})
			add(t, l, transcript.Record{Kind: transcript.Assistant, Turn: id, Step: k, StepSeq: step.Seq, Message: say(model.Assistant, text)})
		}
		add(t, l, transcript.Record{Kind: transcript.TurnEnd, Turn: id, End: transcript.Done})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// openAndShow does what a host's first look at a conversation costs.
func openAndShow(t testing.TB, dir string) {
	l, err := transcript.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if page, _, err := l.Before(0, 50); err != nil || len(page) != 50 {
		t.Fatalf("%d records, %v", len(page), err)
	}
	if l.State().LastSeq == 0 {
		t.Fatal("no state")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOpeningDoesNotGrowWithTheHistory(t *testing.T) { // O-DATA-04
	small, large := long(t, 200), long(t, 20000)
	quickest := func(f func()) time.Duration {
		var took []time.Duration
		for range 60 {
			start := time.Now()
			f()
			took = append(took, time.Since(start))
		}
		return slices.Min(took)
	}
	compare := func(what string, few, many func()) {
		var a, b time.Duration
		for n := 0; n == 0 || n < 10 && b > 2*a; n++ { // a busy machine may slow down one of them
			a, b = quickest(few), quickest(many)
		}
		t.Logf("%s: 200 messages %v, 20,000 messages %v, ratio %.2f", what, a, b, float64(b)/float64(a))
		if b > 2*a {
			t.Errorf("%s with 20,000 messages takes %v, with 200 %v", what, b, a)
		}
	}
	compare("open", func() { openAndShow(t, small) }, func() { openAndShow(t, large) })
	ls, ll := open(t, small), open(t, large)
	note := transcript.Record{Kind: transcript.Note, Note: strings.Repeat("x", 200)}
	compare("append", func() { add(t, ls, note) }, func() { add(t, ll, note) })
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{200, 20000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := long(b, n)
			b.ResetTimer()
			for range b.N {
				openAndShow(b, dir)
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{200, 20000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := open(b, long(b, n))
			r := transcript.Record{Kind: transcript.User, Message: say(model.User, strings.Repeat("words ", 50))}
			b.ResetTimer()
			for range b.N {
				add(b, l, r)
			}
		})
	}
}

// BenchmarkRebuild is the cost of a lost index.
func BenchmarkRebuild(b *testing.B) {
	dir := long(b, 20000)
	log := readLog(b, dir)
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		fresh := b.TempDir()
		writeLog(b, fresh, log)
		b.StartTimer()
		openAndShow(b, fresh)
	}
}

// BenchmarkHistory is the cost of the first request after opening.
func BenchmarkHistory(b *testing.B) {
	dir := long(b, 20000)
	b.ResetTimer()
	for range b.N {
		l := open(b, dir)
		if h, err := l.History(); err != nil || len(h) != 20000 {
			b.Fatal(len(h), err)
		}
		_ = l.Close()
	}
}
