package tool

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxHinted is the longest text that is searched for what was meant, in bytes.
	maxHinted = 4 << 20
	// maxCompared is how many lines are compared for it: where all lines look alike, every one of
	// them could be the beginning.
	maxCompared = 1 << 20
)

// nearMiss says why old is not in text, as far as that can be told: the model sees the text only as
// it looks, and would try the same again.
func nearMiss(text, old string) string {
	if len(text) > maxHinted || len(old) > maxHinted {
		return "Read the file again and copy the text from it."
	}
	if strings.Contains(old, "\uFFFD") {
		return "old_string has the character U+FFFD, which stands for bytes that are not UTF-8: leave these out of old_string."
	}
	if stripped := lineNumbers().ReplaceAllLiteralString(old, ""); stripped != old && strings.Contains(text, stripped) {
		return "It begins its lines with the line numbers that file_read shows: leave these out."
	}
	plain, at := lookAlike(text)
	plainOld, _ := lookAlike(old)
	if i := strings.Index(plain, plainOld); i >= 0 {
		return oddCharacter(text[at(i):at(i+len(plainOld))], old, text[:at(i)])
	}
	if hint := otherSpaces(text, old); hint != "" {
		return hint
	}
	return firstDifference(text, old)
}

// lineNumbers matches what file_read puts before each line.
func lineNumbers() *regexp.Regexp { return regexp.MustCompile(`(?m)^ *\d+\t`) }

// lookAlike writes characters that look like ASCII ones as these. The function gives the position
// in s of one in the result.
func lookAlike(s string) (plain string, original func(int) int) {
	if ascii(s) {
		return s, func(i int) int { return i }
	}
	var b strings.Builder
	from := make([]int, 0, len(s)+1)
	for i, r := range s {
		n := b.Len()
		b.WriteString(looksLike(r))
		for range b.Len() - n {
			from = append(from, i)
		}
	}
	from = append(from, len(s))
	return b.String(), func(i int) int { return from[i] }
}

func looksLike(r rune) string {
	switch r {
	case '\u2018', '\u2019', '\u201b', '\u2032':
		return "'"
	case '\u201c', '\u201d', '\u201f', '\u2033':
		return `"`
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2212':
		return "-"
	case '\u2026':
		return "..."
	case '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad':
		return ""
	}
	if r >= utf8.RuneSelf && unicode.Is(unicode.Zs, r) {
		return " "
	}
	return string(r)
}

// oddCharacter names the first character in which the file differs from a text that looks the same.
func oddCharacter(have, old, before string) string {
	h, o := []rune(have), []rune(old)
	i := 0
	for i < len(h) && i < len(o) && h[i] == o[i] {
		i++
	}
	upto := before + string(h[:i])
	line := lineAt(upto, len(upto))
	column := utf8.RuneCountInString(upto[strings.LastIndexByte(upto, '\n')+1:]) + 1
	name := func(rs []rune) string {
		if i >= len(rs) {
			return "nothing"
		}
		return fmt.Sprintf("U+%04X (%s)", rs[i], charName(rs[i]))
	}
	return fmt.Sprintf("The file looks the same but has %s at line %d, column %d, where old_string has %s. Use file_edit_replace_lines, or put that character into old_string.", name(h), line, column, name(o))
}

// charName names the characters that are taken for others.
func charName(r rune) string {
	switch r {
	case ' ':
		return "space"
	case '\u00a0':
		return "no-break space"
	case '\u202f':
		return "narrow no-break space"
	case '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff':
		return "invisible, zero width"
	case '\u00ad':
		return "soft hyphen"
	}
	if r >= utf8.RuneSelf && unicode.Is(unicode.Zs, r) {
		return "a wide or narrow space"
	}
	return string(r)
}

// otherSpaces finds old with other white space.
func otherSpaces(text, old string) string {
	words := strings.Join(strings.Fields(old), " ")
	if words == "" {
		return ""
	}
	plain := oneSpace(text)
	at := strings.Index(plain, words)
	if at < 0 {
		return ""
	}
	first, last := lineAt(text, uncollapsed(text, at)), lineAt(text, uncollapsed(text, at+len(words)-1))
	return fmt.Sprintf("The same words with other white space are at lines %d to %d (spaces and tabs matter):\n%s",
		first, last, numbered(splitLines(text), first, min(last, first+20)))
}

// oneSpace writes each stretch of white space as one space.
func oneSpace(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	in := false
	for i, r := range s {
		space := unicode.IsSpace(r)
		switch {
		case !space:
			b.WriteString(s[i : i+runeLen(s[i:], r)])
		case !in:
			b.WriteByte(' ')
		}
		in = space
	}
	return b.String()
}

// uncollapsed gives the position in s of one in oneSpace(s).
func uncollapsed(s string, at int) int {
	n, in := 0, false
	for i, r := range s {
		space := unicode.IsSpace(r)
		size := 0
		switch {
		case !space:
			size = runeLen(s[i:], r)
		case !in:
			size = 1
		}
		if n+size > at {
			return i
		}
		n, in = n+size, space
	}
	return len(s)
}

// runeLen is the length in s of its first character r; a byte that is not UTF-8 has the length 1.
func runeLen(s string, r rune) int {
	if r == utf8.RuneError {
		_, size := utf8.DecodeRuneInString(s)
		return size
	}
	return utf8.RuneLen(r)
}

// firstDifference finds the first line of old, and where what follows it differs.
func firstDifference(text, old string) string {
	want, have := splitLines(old), splitLines(text)
	if len(have) == 0 {
		return "The file is empty: use file_edit_insert."
	}
	best, most, left := -1, 0, maxCompared
	for i := 0; i < len(have) && left > 0; i++ {
		n := 0
		for n < len(want) && i+n < len(have) && content(want[n]) == content(have[i+n]) {
			n++
		}
		left -= n + 1
		if n > most && strings.TrimSpace(want[0]) != "" {
			best, most = i, n
		}
	}
	if best < 0 || best+most >= len(have) {
		return "Read the file again and copy the text from it."
	}
	return fmt.Sprintf("Its first %d lines match from line %d on, but then the file has:\n%s", most, best+1, numbered(have, best+most+1, best+most+3))
}
