package search

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a query; what is beyond them is not looked for.
const (
	maxQuery = 1000 // bytes
	maxTerms = 32
)

// ErrNothing says that a query names nothing to look for.
var ErrNothing = errors.New("there is no word to look for")

// term is a run of words that follow one another.
type term struct {
	words  []string
	prefix bool // the last word may go on
	not    bool
}

// parse reads a query: words and "phrases", all of which must be there, -word for what must not be,
// and word* for what begins so. There is no other syntax, and no query is malformed.
func parse(query string) ([]term, error) {
	if len(query) > maxQuery {
		query = query[:maxQuery]
	}
	query = strings.ToValidUTF8(query, " ")
	var terms []term
	positive := false
	for query != "" && len(terms) < maxTerms {
		var piece string
		var t term
		if piece, query, t.not = next(query); piece == "" {
			continue
		}
		t.prefix = strings.HasSuffix(piece, "*")
		eachWord(piece, func(w word) bool {
			t.words = append(t.words, w.text)
			return len(t.words) < maxTerms
		})
		if len(t.words) > 0 {
			terms = append(terms, t)
			positive = positive || !t.not
		}
	}
	if !positive {
		return nil, ErrNothing
	}
	return terms, nil
}

// next cuts the first word or phrase off a query. A quote that is not closed reaches to the end.
func next(q string) (piece, rest string, not bool) {
	q = strings.TrimLeftFunc(q, unicode.IsSpace)
	if len(q) > 1 && q[0] == '-' {
		not, q = true, q[1:]
	}
	if strings.HasPrefix(q, `"`) {
		piece, rest, _ = strings.Cut(q[1:], `"`)
		if after, ok := strings.CutPrefix(rest, "*"); ok {
			piece, rest = piece+"*", after
		}
		return piece, rest, not
	}
	for i, r := range q {
		if i > 0 && (unicode.IsSpace(r) || r == '"') {
			return q[:i], q[i:], not
		}
		if unicode.IsSpace(r) {
			return "", q[i+utf8.RuneLen(r):], false
		}
	}
	return q, "", not
}

// match gives the terms in SQLite's words.
func match(terms []term) string {
	var with, without []string
	for _, t := range terms {
		// The words are letters and digits alone, so nothing in them can end the quotes.
		s := `"` + strings.Join(t.words, " ") + `"`
		if t.prefix {
			s += " *"
		}
		if t.not {
			without = append(without, s)
		} else {
			with = append(with, s)
		}
	}
	out := "(" + strings.Join(with, " AND ") + ")"
	if len(without) > 0 {
		out = "(" + out + " NOT (" + strings.Join(without, " OR ") + "))"
	}
	return out
}
