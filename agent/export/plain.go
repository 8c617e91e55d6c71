package export

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	"carrel/agent/transcript"
)

// contain makes Markdown that ends where it ends and that is no other's: a fence that was left open is
// closed, HTML that would swallow or hide what follows is shown as text, and its headings are smaller than
// those that say who speaks. Where fences stand inside of lists or quotes, it is a quotation as a whole.
func contain(s string) string {
	s = strings.TrimRight(clean(s), "\n")
	if nested.MatchString(s) {
		return quote(s)
	}
	var b strings.Builder
	fence, before := "", "" // the marks of the open block of code; the line before
	inList, depth := false, 0
	for line := range strings.SplitSeq(s, "\n") {
		mark, indent := fenceOf(line), len(line)-len(strings.TrimLeft(line, " "))
		switch {
		case fence != "" && indent < depth && strings.TrimSpace(line) != "":
			return quote(s) // the list that the fence is in has ended, and the fence with it
		case fence == "" && mark != "":
			if fence = mark; inList {
				depth = indent
			}
		case fence == "":
			if underline.MatchString(line) && strings.TrimSpace(before) != "" {
				b.WriteByte('\n') // a rule, and not a heading of the line before
			}
			inList = inList || item.MatchString(line)
			before = line
			line = smaller.ReplaceAllString(markup(line), "$1##$2")
		case strings.HasPrefix(mark, fence) && strings.TrimSpace(line) == mark:
			fence, before, depth = "", "", 0
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	if depth > 0 {
		return quote(s)
	}
	return strings.TrimRight(b.String()+fence, "\n")
}

var (
	// swallowing begins HTML whose end matters to what follows.
	swallowing = regexp.MustCompile(`(?i)<(/?(?:details|summary|script|style|textarea|pre|title|div|table|template|svg|math|iframe|noscript|select|xmp|plaintext)\b|!--|!\[CDATA|![a-z]|\?)`)
	// nested is a fence that stands inside of a list or a quote, or as deep as it would there: when it ends
	// can't be told from its marks; or one that could be taken for the head of a table.
	nested = regexp.MustCompile("(?m)^(?: {4,}| *\t| {0,3}(?:[-*+>]|\\d{1,9}[.)])).*(?:```|~~~)|^ {0,3}(?:```|~~~).*\\|")
	// block begins a block of HTML, at the start of a line.
	block = regexp.MustCompile(`^( {0,3})<([a-zA-Z/!?])`)
	item  = regexp.MustCompile(`^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)`)
	// underline makes a heading of the line before; smaller is a heading.
	underline = regexp.MustCompile(`^ {0,3}(?:=+|-+)[ \t]*$`)
	smaller   = regexp.MustCompile(`^( {0,3}#{1,4})((?:[ \t].*)?)$`)
)

// markup shows as text what would swallow what follows: a block of HTML hides even the marks of a fence.
func markup(line string) string {
	return block.ReplaceAllString(swallowing.ReplaceAllString(line, "&lt;$1"), "$1&lt;$2")
}

// fenceOf gives the marks with which a line opens or closes a block of code, "" when it does not.
func fenceOf(line string) string {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 {
		return "" // code of another kind, or of the block that is open
	}
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

// oneLine is s on one line, without the marks that turn the direction of what follows.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, clean(s))), " ")
}

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

// quote makes every line a quoted one, and contains what is in it.
func quote(s string) string {
	s = swallowing.ReplaceAllString(strings.TrimRight(clean(s), "\n"), "&lt;$1")
	return "> " + strings.ReplaceAll(s, "\n", "\n> ")
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
