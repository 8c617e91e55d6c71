package app

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Caps of short texts, in bytes: what a repository says in one line, and what a person calls things.
const (
	maxLine  = 512
	maxLabel = 200
)

// CutNote ends a text of an Entry of which only the beginning is shown.
const CutNote = "\n… cut here; open the entry to see the rest"

// cutText cuts s to at most n bytes without cutting a character, and says so.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:runeStart(s, n)] + CutNote
}

// runeStart is the start of the character in which the byte at n is.
func runeStart(s string, n int) int {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// short caps a line whose length others decide, such as a commit's subject.
func short(s string) string {
	if len(s) <= maxLine {
		return s
	}
	return s[:runeStart(s, maxLine)] + "…"
}

// shorts caps each line, and makes a nil list an empty one, which hosts see as [].
func shorts(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = short(s)
	}
	return out
}

// label is a name or title as it is kept: one line without control characters and marks that turn the
// direction of what follows, at most 200 bytes.
func label(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
	s = strings.TrimSpace(s)
	if len(s) > maxLabel {
		s = strings.TrimSpace(s[:runeStart(s, maxLabel)])
	}
	return s
}
