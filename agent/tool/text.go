package tool

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// bom begins some UTF-8 files. The model never sees it, and an edit never touches it.
const bom = "\uFEFF"

// span is a change of a text: the bytes from start to end become text.
type span struct {
	start, end int
	text       string
}

// apply makes changes that are in order and do not overlap.
func apply(body string, spans []span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(body[at:s.start])
		b.WriteString(s.text)
		at = s.end
	}
	b.WriteString(body[at:])
	return b.String()
}

// lfView is a text as the model sees it: every line ends with a line feed alone. It knows where
// the carriage returns were.
type lfView struct {
	text string
	crs  []int // positions in text of the line feeds that had a carriage return before them
}

func viewLF(body string) lfView {
	if !strings.Contains(body, "\r\n") {
		return lfView{text: body}
	}
	var v lfView
	var b strings.Builder
	b.Grow(len(body))
	for {
		i := strings.Index(body, "\r\n")
		if i < 0 {
			break
		}
		b.WriteString(body[:i])
		v.crs = append(v.crs, b.Len())
		b.WriteByte('\n')
		body = body[i+2:]
	}
	b.WriteString(body)
	v.text = b.String()
	return v
}

// original gives the position in the text as it is. Before a line end that is before its carriage
// return.
func (v lfView) original(p int) int { return p + sort.SearchInts(v.crs, p) }

// crlf reports whether lines around a region end with carriage return and line feed: the first
// line end in it decides, else the next after it, else the last before it.
func (v lfView) crlf(start, end int) bool {
	at := strings.IndexByte(v.text[start:], '\n')
	if at >= 0 {
		at += start
	} else if at = strings.LastIndexByte(v.text[:start], '\n'); at < 0 {
		return false
	}
	_, found := slices.BinarySearch(v.crs, at)
	return found
}

// replacement makes the change of a region of the view, with line ends like those around it, and
// no larger than the difference.
func (v lfView) replacement(start, end int, text string) span {
	crlf := v.crlf(start, end)
	if crlf {
		text = toLF(text)
	}
	old := v.text[start:end]
	for old != "" && text != "" && old[0] == text[0] {
		old, text, start = old[1:], text[1:], start+1
	}
	for old != "" && text != "" && old[len(old)-1] == text[len(text)-1] {
		old, text, end = old[:len(old)-1], text[:len(text)-1], end-1
	}
	if crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return span{start: v.original(start), end: v.original(end), text: text}
}

func toLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// findAll gives the places of old in text, which do not overlap.
func findAll(text, old string) []int {
	var at []int
	for from := 0; ; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + len(old)
	}
}

// lineAt gives the number of the line that holds a position.
func lineAt(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }

// splitLines gives the lines with their ends. A line end at the end of the text begins no line.
func splitLines(body string) []string {
	lines := strings.SplitAfter(body, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

// content gives a line without its end.
func content(line string) string {
	if s, ok := strings.CutSuffix(line, "\n"); ok {
		return strings.TrimSuffix(s, "\r")
	}
	return line
}

// clean makes text of a file fit to be shown.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// numbered shows the lines from first to last, 1-based, as file_read does.
func numbered(lines []string, first, last int) string {
	var b strings.Builder
	for n := max(first, 1); n <= min(last, len(lines)); n++ {
		fmt.Fprintf(&b, "%d\t%s\n", n, clean(cutEnd(content(lines[n-1]), 300)))
	}
	return b.String()
}

// foreign says why a file can't be handled as text, "" if it can. Single bytes that are not UTF-8
// are no reason: files in Latin-1 and the like are kept as they are.
func foreign(head []byte, size int64) string {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "is UTF-16 text, which the file tools don't handle; use bash, for instance with iconv"
	case bytes.IndexByte(head, 0) >= 0:
		return fmt.Sprintf("is a binary file (%s, %d bytes); use bash to examine it", media(head), size)
	}
	return ""
}

// media names the type of a binary file by its first bytes.
func media(head []byte) string {
	for _, m := range []struct{ magic, name string }{
		{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF8", "image/gif"}, {"%PDF-", "application/pdf"},
		{"PK\x03\x04", "application/zip"}, {"\x1f\x8b", "application/gzip"}, {"\x7fELF", "an ELF program"}, {"SQLite format 3\x00", "an SQLite database"},
		{"\xcf\xfa\xed\xfe", "a Mach-O program"}, {"\x00asm", "application/wasm"}, {"\x00\x00\x01\x00", "image/x-icon"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.name
		}
	}
	if len(head) > 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP" {
		return "image/webp"
	}
	return "unknown type"
}

// ascii reports whether a text means the same in every encoding that extends ASCII.
func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
