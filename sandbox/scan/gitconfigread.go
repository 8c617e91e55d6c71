package scan

import (
	"bytes"
	"strings"
)

// setting is one entry of a git configuration; the key as in core.sshcommand, its first and last part
// in lower case.
type setting struct{ key, value string }

// configReader reads a git configuration as git does, character by character. Where git would give up
// the whole file it goes on with the next line: another version may not give up.
type configReader struct {
	text    string
	section string
	list    []setting
}

func parseConfig(text string) []setting {
	text = strings.TrimPrefix(text, "\uFEFF")
	r := &configReader{text: strings.ReplaceAll(text, "\r\n", "\n")}
	for r.text != "" {
		switch c := r.text[0]; {
		case isSpace(c):
			r.text = r.text[1:]
		case c == '#' || c == ';':
			r.skipLine()
		case c == '[':
			if !r.head() {
				r.skipLine()
			}
		default:
			r.entry()
		}
	}
	return r.list
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// isKey reports whether a character may be part of a name.
func isKey(c byte) bool {
	return c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (r *configReader) skipLine() {
	_, r.text, _ = strings.Cut(r.text, "\n")
}

// next takes a character; the end of the text is the end of a line.
func (r *configReader) next() byte {
	if r.text == "" {
		return '\n'
	}
	c := r.text[0]
	r.text = r.text[1:]
	return c
}

// head reads [section], [section.sub] or [section "sub"].
func (r *configReader) head() bool {
	r.next()
	var name []byte
	for {
		c := r.next()
		switch {
		case c == ']':
			r.section = strings.ToLower(string(name))
			return true
		case c == '\n':
			r.text = "\n" + r.text
			return false
		case isSpace(c):
			sub, ok := r.subsection()
			if ok {
				r.section = strings.ToLower(string(name)) + "." + sub
			}
			return ok
		case !isKey(c) && c != '.':
			return false
		}
		name = append(name, c)
	}
}

// subsection reads what is left of a head after the space.
func (r *configReader) subsection() (string, bool) {
	c := r.next()
	for isSpace(c) && c != '\n' {
		c = r.next()
	}
	if c != '"' {
		return "", false
	}
	var name []byte
	for {
		c := r.next()
		switch c {
		case '\n':
			return "", false
		case '"':
			return string(name), r.next() == ']'
		case '\\':
			if c = r.next(); c == '\n' {
				return "", false
			}
		}
		name = append(name, c)
	}
}

// entry reads a key and its value.
func (r *configReader) entry() {
	var key []byte
	for r.text != "" && isKey(r.text[0]) {
		key = append(key, r.next())
	}
	c := r.next()
	for c == ' ' || c == '\t' {
		c = r.next()
	}
	value := "true"
	switch {
	case c == '=':
		value = r.value()
	case c != '\n':
		r.skipLine()
	}
	if len(key) > 0 {
		r.list = append(r.list, setting{r.section + "." + strings.ToLower(string(key)), value})
	}
}

// value reads up to the end of the line. Git refuses an open quote there and unknown escapes; here they
// stand for themselves.
func (r *configReader) value() string {
	var b []byte
	var quoted bool
	kept := 0 // up to here a space at the end is meant
	for {
		c := r.next()
		switch {
		case c == '\n':
			return string(b[:max(kept, len(bytes.TrimRight(b, " \t\v\f\r")))])
		case (c == '#' || c == ';') && !quoted:
			r.skipLine()
			r.text = "\n" + r.text
		case c == '"':
			quoted = !quoted
			kept = len(b)
		case c == '\\':
			kept = len(b)
			if c = r.next(); c != '\n' {
				b = append(b, map[byte]byte{'t': '\t', 'b': '\b', 'n': '\n'}[c])
				if b[len(b)-1] == 0 {
					b[len(b)-1] = c
				}
				kept = len(b)
			}
		case len(b) > 0 || quoted || !isSpace(c):
			b = append(b, c)
		}
	}
}
