package export

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"carrel/agent/transcript"
)

// contain makes Markdown that ends where it ends: a fence that was left open is closed, and HTML that
// would swallow or hide what follows is shown as text.
func contain(s string) string {
	var b strings.Builder
	fence := "" // of the open code block
	for line := range strings.SplitSeq(strings.TrimRight(clean(s), "\n"), "\n") {
		mark := fenceOf(line)
		switch {
		case fence == "" && mark != "":
			fence = mark
		case fence == "":
			line = swallowing.ReplaceAllString(line, "&lt;$1")
		case strings.HasPrefix(mark, fence) && strings.Trim(line, " "+mark[:1]) == "":
			fence = ""
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String()+fence, "\n")
}

// swallowing begins HTML whose end matters to what follows.
var swallowing = regexp.MustCompile(`(?i)<(/?(?:details|summary|script|style|textarea|pre|title|div|table)\b|!--|!\[CDATA|!doctype|\?)`)

// fenceOf gives the marks with which a line opens or closes a block of code, "" when it does not.
func fenceOf(line string) string {
	rest := strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		if n := len(rest) - len(strings.TrimLeft(rest, c)); n >= 3 && !(c == "`" && strings.Contains(rest[n:], "`")) {
			return rest[:n]
		}
	}
	return ""
}

func price(r *transcript.Record) string {
	if !r.CostKnown {
		return ""
	}
	return fmt.Sprintf(" · $%.4f", float64(r.Cost)/1e6)
}

func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// clean makes valid UTF-8 without the control characters that would do something in a terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || 0x80 <= r && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD"))
}

func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// escape is text on a line of Markdown, where it means nothing else.
func escape(s string) string {
	var b strings.Builder
	for _, r := range oneLine(s) {
		if strings.ContainsRune("\\`*_[]<>|#~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func heading(s string) string { return escape(cut(s, 200)) }

// code is a name in code marks, which it can't leave.
func code(s string) string {
	return "`" + cut(strings.ReplaceAll(oneLine(s), "`", "'"), 500) + "`"
}

// quote makes every line a quoted one.
func quote(s string) string {
	return "> " + strings.ReplaceAll(strings.TrimRight(clean(s), "\n"), "\n", "\n> ")
}

// cut gives the first n characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
