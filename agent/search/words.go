package search

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is the longest word that is indexed, in bytes: longer ones are data, such as base64.
const maxWord = 64

// word is a word of a text: where it is, and its letters as they are compared.
type word struct {
	from, to int // bytes
	text     string
}

// eachWord calls f for the words of a text until it gives false. Letters, digits and marks make
// words, all else separates them; case and accents don't count. Scripts without spaces between
// words have one word for each character, so that any run of them is found as a phrase.
func eachWord(s string, f func(word) bool) {
	var buf [maxWord + utf8.UTFMax]byte
	out, from := buf[:0], -1
	end := func(at int) bool {
		ok := true
		if from >= 0 && len(out) > 0 && len(out) <= maxWord {
			ok = f(word{from, at, string(out)})
		}
		out, from = buf[:0], -1
		return ok
	}
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case !ofWord(r):
			if !end(i) {
				return
			}
		case alone(r):
			if !end(i) || !f(word{i, i + size, string(r)}) {
				return
			}
		default:
			if from < 0 {
				from = i
			}
			if len(out) <= maxWord {
				out = appendFolded(out, r)
			}
		}
		i += size
	}
	end(len(s))
}

func ofWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.Mn, unicode.Mc)
}

// alone reports whether a character of a script that has no spaces between words.
func alone(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar)
}

// appendFolded appends a letter without its case and its accents.
func appendFolded(out []byte, r rune) []byte {
	switch {
	case 'A' <= r && r <= 'Z':
		return append(out, byte(r)+'a'-'A')
	case r < utf8.RuneSelf:
		return append(out, byte(r))
	case accent(r):
		return out
	}
	r = unicode.ToLower(r)
	if r < 0x0530 || 0x1E00 <= r && r < 0x2000 { // Latin, Greek, Cyrillic
		var enc [utf8.UTFMax]byte
		n := utf8.EncodeRune(enc[:], r)
		if d := norm.NFD.Properties(enc[:n]).Decomposition(); len(d) > 0 {
			r, _ = utf8.DecodeRune(d)
			r = unicode.ToLower(r)
		}
	}
	return utf8.AppendRune(out, r)
}

// accent reports whether a combining mark changes only how a letter looks.
func accent(r rune) bool { return 0x0300 <= r && r <= 0x036F }
