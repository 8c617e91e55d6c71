package permission

import (
	"fmt"
	"strings"
	"unicode"
)

// Visible writes out what people can't see in a text, or would take for something else, as \u{202E}:
// characters without a shape, those that turn the direction of what follows, spaces that are no space, and
// letters that look like Latin ones in a word of Latin letters. Lines and tabs stay.
func Visible(s string) string {
	var b strings.Builder
	text := []rune(s)
	for i, r := range text {
		if r < 0x80 && (r >= ' ' && r != 0x7f || r == '\n' || r == '\t') || r >= 0x80 && !unseen(r) && !disguised(text, i) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%04X}`, r)
		}
	}
	return b.String()
}

// unseen reports whether a character has no shape of its own.
func unseen(r rune) bool {
	switch r {
	case 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800: // blanks that count as letters and symbols
		return true
	}
	return !unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Mn, r) && r >= 0x1000
}

// disguised reports whether a letter stands in a word of Latin letters and is none.
func disguised(text []rune, i int) bool {
	r := text[i]
	if r >= 0xff01 && r <= 0xff5e || r >= 0x1d400 && r <= 0x1d7ff { // wide and mathematical forms of ASCII
		return true
	}
	switch r {
	case 0x2010, 0x2011, 0x2012, 0x2013, 0x2212, 0x2044, 0x2215, 0x29f8, 0x2223, 0x01c0, 0x037e, 0x02d0, 0xa789, 0x2236, 0x2024, 0x201a, 0x02cb: // of - / | ; : . , `
		return true
	}
	if !unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu) {
		return false
	}
	for _, step := range []int{-1, 1} {
		for at := i + step; at >= 0 && at < len(text) && unicode.IsLetter(text[at]); at += step {
			if unicode.Is(unicode.Latin, text[at]) {
				return true
			}
		}
	}
	return false
}
