package permission

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command.
type word struct {
	// text is the word as the program gets it when lit, else its source.
	text string
	lit  bool
	// glob says that it is a pattern for file names and nothing else that is not literal.
	glob bool
	// lead is what the word begins with for certain, where it is not lit.
	lead string
	// split says that it may become several words, or none.
	split bool
}

// same reports whether a word of a rule is a word of a command.
func (w word) same(o word) bool {
	return w.lit == o.lit && w.glob == o.glob && w.text == o.text && (w.lit || w.glob)
}

// option reports whether the word may be read as an option.
func (w word) option() bool {
	if w.lit {
		return len(w.text) > 1 && w.text[0] == '-'
	}
	return w.lead == "" || w.lead[0] == '-'
}

// unknown is a word of which nothing is known.
func unknown(source string) word { return word{text: source, split: true} }

func literal(s string) word { return word{text: s, lit: true} }

// wordOf reads a word.
func wordOf(w *syntax.Word) word {
	if w.Lit() == "[" {
		return literal("[") // the command, and no pattern
	}
	b := builder{lit: true}
	if braces(w) {
		b.dynamic(true)
	}
	for i, p := range w.Parts {
		b.part(p, i == 0)
	}
	out := word{lit: b.lit && !b.glob, glob: b.lit && b.glob, split: b.split || b.glob}
	if out.lit {
		out.text = b.value.String()
		return out
	}
	out.text, out.lead = source(w), b.value.String()
	if b.stopped {
		out.lead = b.lead
	}
	if i := strings.IndexAny(out.lead, "*?["); out.glob && i >= 0 {
		out.lead = out.lead[:i]
	}
	return out
}

// braces reports whether a word may be one that braces make several of, as in {a,"b"}: what stands outside
// of quotes counts over all of its parts.
func braces(w *syntax.Word) bool {
	bare := ""
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			bare += l.Value
		} else {
			bare += "?"
		}
	}
	return strings.Contains(bare, "{") && (strings.Contains(bare, ",") || strings.Contains(bare, ".."))
}

// source prints a node.
func source(n syntax.Node) string {
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, n); err != nil {
		return "?"
	}
	return strings.TrimSpace(b.String())
}

// builder puts a word's value together.
type builder struct {
	value   strings.Builder
	lit     bool
	glob    bool
	split   bool
	stopped bool // lead is complete
	lead    string
}

// dynamic notes a part that is known only when it runs.
func (b *builder) dynamic(split bool) {
	b.lit = false
	b.split = b.split || split
	b.stop()
}

func (b *builder) stop() {
	if !b.stopped {
		b.stopped, b.lead = true, b.value.String()
	}
}

func (b *builder) part(p syntax.WordPart, first bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		b.bare(p.Value, first)
	case *syntax.SglQuoted:
		if !p.Dollar {
			b.value.WriteString(p.Value)
			return
		}
		s, ok := ansi(p.Value)
		if !ok {
			b.dynamic(false)
		}
		b.value.WriteString(s)
	case *syntax.DblQuoted:
		if p.Dollar {
			b.dynamic(false)
		}
		for _, q := range p.Parts {
			b.quoted(q)
		}
	case *syntax.ProcSubst:
		b.value.WriteString("/dev/fd/63") // what runs in it is looked at by itself
	default:
		b.dynamic(true)
	}
}

// quoted adds a part inside double quotes.
func (b *builder) quoted(p syntax.WordPart) {
	switch p := p.(type) {
	case *syntax.Lit:
		s := p.Value
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
				if i++; s[i] == '\n' {
					continue
				}
			}
			b.value.WriteByte(s[i])
		}
	case *syntax.ParamExp:
		many := p.Index != nil || p.Names != 0 || p.Excl || p.Param == nil || p.Param.Value == "@" || p.Param.Value == "*" || p.Exp != nil
		b.dynamic(many)
	default:
		b.dynamic(false)
	}
}

// bare adds a literal outside of quotes.
func (b *builder) bare(s string, first bool) {
	if first && strings.HasPrefix(s, "~") {
		if rest := s[1:]; rest != "" && rest[0] != '/' {
			b.dynamic(false) // another person's home, or a place that the shell remembers
		}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			if i++; s[i] != '\n' {
				b.value.WriteByte(s[i])
			}
		case c == '*' || c == '?' || c == '[':
			b.glob = true
			b.value.WriteByte(c)
		default:
			b.value.WriteByte(c)
		}
	}
}

// ansi decodes what stands in $'…'; false when it uses more than we read.
func ansi(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return b.String(), false
		}
		if at := strings.IndexByte(`abefnrtv\'"?E`, s[i]); at >= 0 {
			b.WriteByte("\a\b\x1b\f\n\r\t\v\\'\"?\x1b"[at])
			continue
		}
		base, most, from := 8, 3, i
		if s[i] == 'x' {
			base, most, from = 16, 2, i+1
		}
		n, v := 0, 0
		for n < most && from+n < len(s) && digit(s[from+n]) < base {
			v = v*base + digit(s[from+n])
			n++
		}
		if n == 0 || v == 0 || v > 0x7f {
			return b.String(), false
		}
		b.WriteByte(byte(v))
		i = from + n - 1
	}
	return b.String(), true
}

// digit is the value of a hexadecimal digit, 16 for anything else.
func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return 16
}

// spell writes words so that a shell reads them as they are.
func spell(words []word) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.spelled())
	}
	return b.String()
}

func (w word) spelled() string {
	if !w.lit {
		return w.text
	}
	name, value, assigned := strings.Cut(w.text, "=")
	if assigned && syntax.ValidName(name) {
		return name + "=" + quote(value)
	}
	return quote(w.text)
}

func quote(s string) string {
	q, err := syntax.Quote(s, syntax.LangBash)
	if err != nil {
		return "?"
	}
	return q
}
