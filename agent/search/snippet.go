package search

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Sizes of a snippet, in bytes.
const (
	before     = 60  // ahead of the first mark
	maxSnippet = 240 // of the whole
	maxSeen    = 500 // marks that are looked at
)

// Piece is a run of a snippet's text.
type Piece struct {
	Text string
	Hit  bool // it is what was looked for
}

// span is a match in a text, in bytes.
type span struct {
	from, to int
	term     int
}

// snippet gives the part of a text with the most of what was looked for, on one line, and how many of
// the terms are in it.
func snippet(text string, terms []term) ([]Piece, int) {
	marks := find(text, terms)
	if len(marks) == 0 {
		return pieces(text, 0, cut(text, maxSnippet), nil), 0
	}
	best, most := 0, 0
	for i := range marks {
		var seen [maxTerms]bool
		n := 0
		for _, m := range marks[i:] {
			if m.to-marks[i].from > maxSnippet-before {
				break
			}
			if !seen[m.term] {
				seen[m.term] = true
				n++
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	from := boundary(text, max(0, marks[best].from-before))
	return pieces(text, from, cut(text, from+maxSnippet), marks[best:]), most
}

// cut moves an offset back to the beginning of a character.
func cut(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// boundary moves an offset on to the beginning of a character, and past a piece of a word if that
// is short.
func boundary(text string, at int) int {
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	if at > 0 {
		if i := strings.IndexAny(text[at:min(len(text), at+20)], " \n\t"); i >= 0 {
			return at + i + 1
		}
	}
	return at
}

func pieces(text string, from, to int, marks []span) []Piece {
	var out []Piece
	add := func(s string, hit bool) {
		if s = oneLine(s); s != "" {
			out = append(out, Piece{s, hit})
		}
	}
	if from > 0 {
		add("… ", false)
	}
	at := from
	for _, m := range marks {
		if m.from < at || m.from >= to {
			continue
		}
		add(text[at:m.from], false)
		at = min(m.to, to)
		add(text[m.from:at], true)
	}
	add(text[at:to], false)
	if to < len(text) {
		add(" …", false)
	}
	return out
}

// oneLine makes one space of each run of spaces and control characters.
func oneLine(s string) string {
	var b strings.Builder
	space := false
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if r <= ' ' || r == 0x7f {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if space {
		b.WriteByte(' ')
	}
	return b.String()
}

// find gives the places of the terms that must be there, in order, as far as maxSeen.
func find(text string, terms []term) []span {
	long := 1
	for _, t := range terms {
		long = max(long, len(t.words))
	}
	var last []word // the last words, at most long
	var out []span
	eachWord(text, func(w word) bool {
		if last = append(last, w); len(last) > 2*long {
			last = slices.Delete(last, 0, len(last)-long)
		}
		for i, t := range terms {
			if !t.not && t.ends(last) {
				out = append(out, span{last[len(last)-len(t.words)].from, w.to, i})
			}
		}
		return len(out) < maxSeen
	})
	slices.SortStableFunc(out, func(a, b span) int { return a.from - b.from })
	return out
}

// ends reports whether the words end with the term.
func (t term) ends(words []word) bool {
	n := len(t.words)
	if len(words) < n {
		return false
	}
	words = words[len(words)-n:]
	for i, want := range t.words {
		got := words[i].text
		if got != want && !(t.prefix && i == n-1 && strings.HasPrefix(got, want)) {
			return false
		}
	}
	return true
}
