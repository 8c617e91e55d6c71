package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"carrel/app"
)

func TestJSONTellsWhatCountsForNothing(t *testing.T) {
	var out bytes.Buffer
	p := &jsonPrinter{io: IO{Out: &out}}
	p.entry(app.Entry{ID: "3.0", Kind: app.EntryAssistant, Text: "First try"})
	out.Reset()
	p.removed([]string{"3.0"})
	if want := `{"type":"removed","entries":["3.0"]}` + "\n"; out.String() != want {
		t.Errorf("%s", &out)
	}
	if err := p.ended(app.Workspace{ID: "w"}, turnEnd{activity: app.Done}, nil); err != nil || strings.Contains(out.String(), "First try") {
		t.Errorf("%v, %s", err, &out)
	}
}

func TestUntrustedTextIsPlain(t *testing.T) {
	for in, want := range map[string]string{
		"two\nlines\tand a tab": "two\nlines\tand a tab", "\x1b[31mred\x1b[0m": "[31mred[0m",
		"\u009b2J": "2J", "a\r\b\x00\x7fb": "ab", "\u202egpj.exe\u2066": "gpj.exe", "grüße 中 👍🏽": "grüße 中 👍🏽",
	} {
		if got := plain(in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
	if got := line(" two\n lines\t"); got != " two  lines" && got != "two lines" {
		t.Errorf("one line: %q", got)
	}
	if got := title("  \n\nFix it\nplease"); got != "Fix it" {
		t.Errorf("title: %q", got)
	}
	if got := title(strings.Repeat("é", 100)); len([]rune(got)) != maxTitle {
		t.Errorf("title of %d characters", len([]rune(got)))
	}
	if got := quote("/a b/it's"); got != `'/a b/it'\''s'` {
		t.Errorf("quoted: %s", got)
	}
}

func TestAReaderThatStopsHoldsNothingUp(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := newSpool(func() { t.Error("broken") })
	out, errOut := s.writer(w), s.writer(io.Discard)
	for range 1000 { // more than a pipe holds
		if _, err := out.Write(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		if _, err := errOut.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	read := make(chan int)
	go func() {
		text, _ := io.ReadAll(r)
		read <- len(text)
	}()
	if err := s.close(); err != nil {
		t.Error(err)
	}
	_ = w.Close() // the reader counts
	if n := <-read; n != 1000*1000 {
		t.Errorf("%d bytes arrived", n)
	}
}

func TestABrokenOutputIsToldOnce(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close() // nobody reads
	told := make(chan struct{}, 10)
	s := newSpool(func() { told <- struct{}{} })
	stops := listenInterrupts(func(int) {}) // or the signal of a closed pipe ends the test
	defer stops.stop()
	out := s.writer(w)
	_, _ = out.Write([]byte("x"))
	<-told
	_, _ = out.Write([]byte("x"))
	if err := s.close(); err == nil || len(told) != 0 {
		t.Errorf("%v, told %d times more", err, len(told))
	}
}

func TestErrorsOfTheSystemAreSentences(t *testing.T) {
	inner := &app.Error{Code: "internal", Message: "See the log.", Cause: errors.New("open x: broken")}
	if code, text := describe(inner, exitFailure); code != "failed" || text != "open x: broken" {
		t.Errorf("%s, %s", code, text)
	}
	if code, text := describe(&os.PathError{Op: "open", Path: "x", Err: os.ErrPermission}, exitFailure); code != "permission" || !strings.Contains(text, "open x") {
		t.Errorf("%s, %s", code, text)
	}
}

func TestAgoIsForPeople(t *testing.T) {
	now := time.Now()
	for d, want := range map[time.Duration]string{
		time.Second: "just now", 90 * time.Second: "1 min ago", 3 * time.Hour: "3 h ago", 100 * time.Hour: "4 days ago",
	} {
		if got := ago(now, now.Add(-d)); got != want {
			t.Errorf("%v: %s", d, got)
		}
	}
}
