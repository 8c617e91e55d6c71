package transcript_test

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// writeLarge writes a log of about that many megabytes, twenty messages of 50 KB to a turn, without
// an index.
func writeLarge(tb testing.TB, dir string, mb int) {
	tb.Helper()
	f, err := os.Create(logPath(dir))
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	seq := 0
	line := func(turn int, rest string) {
		seq++
		_, _ = fmt.Fprintf(w, `{"seq":%d,"time":"2026-01-01T00:00:00Z","turn":"t%d",%s}`+"\n", seq, turn, rest)
	}
	text := strings.Repeat("some words of an answer\\n", 50_000/25)
	say := func(role string) string {
		return fmt.Sprintf(`"message":{"role":%q,"parts":[{"kind":"text","text":"%s"}]}`, role, text)
	}
	for n := range mb {
		line(n, `"kind":"user",`+say("user"))
		line(n, `"kind":"turn_start","model":"demo:demo"`)
		for range 19 {
			line(n, `"kind":"step_start"`)
			line(n, fmt.Sprintf(`"kind":"assistant","stepSeq":%d,`, seq)+say("assistant"))
		}
		line(n, `"kind":"turn_end","end":"done"`)
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkOpenGigabyte opens a log of 1 GB and one of 10 MB: at most twice as long.
func BenchmarkOpenGigabyte(b *testing.B) {
	for _, mb := range []int{10, 1000} {
		b.Run(fmt.Sprint(mb, "MB"), func(b *testing.B) {
			dir := b.TempDir()
			writeLarge(b, dir, mb)
			openAndShow(b, dir) // writes the index
			b.ResetTimer()
			for range b.N {
				openAndShow(b, dir)
			}
		})
	}
}

// BenchmarkRebuildGigabyte is a lost index, with the memory that it took at most in all.
func BenchmarkRebuildGigabyte(b *testing.B) {
	dir := b.TempDir()
	writeLarge(b, dir, 1000)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		_ = os.Remove(dir + "/index")
		_ = os.Remove(dir + "/fold")
		openAndShow(b, dir)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapSys>>20), "MB-heap")
}

// BenchmarkStep is what a step costs the log in a history of 2,000 and of 200,000 tokens: the end
// of a step, the start of the next one and its request.
func BenchmarkStep(b *testing.B) {
	for _, size := range []int{2_000, 200_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			l := open(b, b.TempDir())
			answer := strings.Repeat("some words of an answer ", 80) // 400 tokens
			for n := range size / 400 {
				if n%20 == 0 {
					add(b, l, transcript.Record{Kind: transcript.User, Message: say(model.User, "go on")})
				}
				step := add(b, l, transcript.Record{Kind: transcript.StepStart, Turn: "t"})
				add(b, l, transcript.Record{Kind: transcript.Assistant, StepSeq: step.Seq, Message: say(model.Assistant, answer)})
			}
			f, err := l.PutFrame(ask(strings.Repeat("rules ", 2000)), "demo:big", "")
			if err != nil {
				b.Fatal(err)
			}
			add(b, l, transcript.Record{Kind: transcript.Edit, From: 1 << 60})
			at := l.State().LastSeq + 1
			if _, err := l.History(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for n := range b.N {
				step := add(b, l, transcript.Record{Kind: transcript.StepStart, Turn: "t"})
				add(b, l, transcript.Record{Kind: transcript.Assistant, StepSeq: step.Seq, Message: say(model.Assistant, "x")})
				if _, err := l.Build(f); err != nil {
					b.Fatal(err)
				}
				if n%64 == 63 { // the history stays as long as it is
					b.StopTimer()
					add(b, l, transcript.Record{Kind: transcript.Edit, From: at})
					b.StartTimer()
				}
			}
		})
	}
}

// BenchmarkEditAtTheEnd is a failed attempt that is dropped, and a last message that is edited.
func BenchmarkEditAtTheEnd(b *testing.B) {
	dir := b.TempDir()
	writeLarge(b, dir, 20)
	l := open(b, dir)
	if _, err := l.History(); err != nil {
		b.Fatal(err)
	}
	at := l.State().LastSeq + 1
	b.ResetTimer()
	for range b.N {
		add(b, l, transcript.Record{Kind: transcript.User, Turn: "e", From: at, Message: say(model.User, "anew")})
	}
}
