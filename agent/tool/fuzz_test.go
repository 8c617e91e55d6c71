package tool

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// untouched reports whether the bytes outside the spans are the same before and after, and that the
// spans are in order.
func untouched(body, after string, spans []span) bool {
	at, shift := 0, 0
	for _, s := range spans {
		if s.start < at || s.end < s.start || s.end > len(body) {
			return false
		}
		if body[at:s.start] != after[at+shift:s.start+shift] || after[s.start+shift:s.start+shift+len(s.text)] != s.text {
			return false
		}
		shift += len(s.text) - (s.end - s.start)
		at = s.end
	}
	return body[at:] == after[at+shift:]
}

func FuzzReplaceString(f *testing.F) {
	f.Add("a\r\nb\r\nc\r\n", "a\nb", "a\nX\nb", -1)
	f.Add("aaaa", "aa", "b", -1)
	f.Add("x\ny\r\nz", "y\nz", "$1\n", 1)
	f.Add("\xE9 x\r\r\n", "x\r", "", 1)
	f.Fuzz(func(t *testing.T, body, old, text string, count int) {
		if old == "" || count == 0 || count < -1 {
			return
		}
		spans, err := planReplace("f", body, old, text, count)
		if err != nil {
			return
		}
		after := apply(body, spans)
		if !untouched(body, after, spans) {
			t.Fatalf("%q became %q by %+v", body, after, spans)
		}
		// The same in the eyes of the model, who sees line feeds alone.
		view, want, with := viewLF(body).text, strings.TrimPrefix(old, bom), text
		if !strings.Contains(view, want) || view != body {
			want, with = toLF(want), toLF(text)
		}
		n := count
		if !strings.Contains(view+want+with, "\r") && viewLF(after).text != strings.Replace(view, want, with, n) {
			t.Fatalf("%q became %q", body, after)
		}
		diff(body, after, spans)
	})
}

func FuzzReplaceLines(f *testing.F) {
	f.Add("a\r\nb\nc", 1, 2, "x\ny")
	f.Add("a\nb", 2, 2, "")
	f.Fuzz(func(t *testing.T, body string, first, last int, text string) {
		if first < 1 || last < first {
			return
		}
		r := lineRange{path: "f", first: first, last: last}
		if text != "" {
			r.lines = strings.Split(text, "|")
		}
		spans, err := r.plan(body)
		if err != nil {
			return
		}
		after := apply(body, spans)
		have := splitLines(body)
		before, rest := strings.Join(have[:first-1], ""), strings.Join(have[last:], "")
		if !untouched(body, after, spans) || !strings.HasPrefix(after, before) || !strings.HasSuffix(after, rest) {
			t.Fatalf("%q became %q by %+v", body, after, spans)
		}
	})
}

func FuzzInsert(f *testing.F) {
	f.Add("a\r\nb", "a", "x\n", true)
	f.Add("", "", "x", false)
	f.Fuzz(func(t *testing.T, body, anchor, text string, after bool) {
		a := insertion{path: "f", text: text, before: anchor}
		if after {
			a.before, a.after = "", anchor
		}
		spans, err := a.plan(body)
		if err != nil {
			return
		}
		if len(spans) != 1 || spans[0].start != spans[0].end || !untouched(body, apply(body, spans), spans) {
			t.Fatalf("%q by %+v", body, spans)
		}
	})
}

func FuzzOutput(f *testing.F) {
	f.Add([]byte("a\rb\x1b[31mc\x1b[0m\n\xff\xc3\xa4"), 3)
	f.Add([]byte("\x1b]0;t\x07x\x1b[2Ky\x1b[500Gz\x9b\n"), 1)
	f.Add([]byte(strings.Repeat("l\n", 900)), 7)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		var live strings.Builder
		o := newOutput(Env{Progress: func(s string) { live.WriteString(s) }}, "")
		whole := newOutput(Env{}, "")
		if _, err := whole.Write(data); err != nil {
			t.Fatal(err)
		}
		for rest := data; len(rest) > 0; {
			n := min(max(size, 1), len(rest))
			if _, err := o.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		o.close()
		whole.close()
		got, _ := o.text()
		want, _ := whole.text()
		if got != want {
			t.Fatalf("in pieces of %d: %q, at once: %q", size, got, want)
		}
		if !utf8.ValidString(got) || !utf8.ValidString(live.String()) || strings.ContainsAny(got, "\x1b\r\b") || len(got) > 16<<10+200 {
			t.Fatalf("got %q, live %q", got, live.String())
		}
	})
}
