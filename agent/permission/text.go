package permission

import "strings"

// sed looks at sed: its scripts write files and run commands, too.
func (s *script) sed(c *step) {
	c.reads = true
	var scripts []word
	var operands []word
	inPlace, suffix := false, ""
	for i := 1; i < len(c.words); i++ {
		w := c.words[i]
		switch {
		case !w.lit:
			if w.option() || w.split && !w.glob {
				c.doubt("an option of sed may hide in what is known only when it runs")
			}
			operands = append(operands, w)
		case strings.HasPrefix(w.text, "--"):
			name, value, has := strings.Cut(w.text[2:], "=")
			switch {
			case begins("in-place", name):
				inPlace = true
				suffix = value
			case begins("expression", name) && has:
				scripts = append(scripts, literal(value))
			case begins("expression file", name):
				c.doubt("the script of sed is elsewhere")
			case begins("line-length", name) && !has:
				i++
			}
		case w.option():
			rest := strings.TrimLeft(w.text[1:], "nErsuz")
			switch {
			case rest == "":
			case rest == "e" && i+1 < len(c.words):
				i++
				scripts = append(scripts, c.words[i])
			case rest[0] == 'e':
				scripts = append(scripts, literal(rest[1:]))
			case rest[0] == 'i':
				inPlace = true
				suffix = rest[1:]
			default:
				c.doubt("-%s of sed is not followed", shown(rest))
			}
		default:
			operands = append(operands, w)
		}
	}
	if len(scripts) == 0 && len(operands) > 0 {
		scripts, operands = operands[:1], operands[1:]
	}
	for _, w := range scripts {
		if !w.lit || !quietSed(w.text) {
			c.doubt("the script of sed may write or run something")
		}
	}
	if inPlace {
		c.through = true // it is its writes, and nothing else
		c.writes = append(c.writes, operands...)
		s.backups(c, operands, suffix)
	}
}

// backups notes the copies that sed keeps of what it changes.
func (s *script) backups(c *step, operands []word, suffix string) {
	if strings.ContainsAny(suffix, "/*") {
		c.doubt("sed keeps copies under names that it makes up")
		return
	}
	for _, w := range operands {
		if suffix != "" && w.lit {
			c.writes = append(c.writes, literal(w.text+suffix))
		}
	}
}

// quietSed reports whether a sed script certainly prints and edits alone.
func quietSed(text string) bool {
	for rest := text; ; {
		rest = strings.TrimLeft(rest, " \t\n;")
		if rest == "" {
			return true
		}
		var ok bool
		if rest, ok = sedCommand(rest); !ok {
			return false
		}
	}
}

// sedCommand takes one command off a sed script.
func sedCommand(s string) (rest string, ok bool) {
	for range 2 {
		if s, ok = sedAddress(s); !ok {
			return s, false
		}
		s = strings.TrimLeft(s, " \t")
		if !strings.HasPrefix(s, ",") {
			break
		}
		s = strings.TrimLeft(s[1:], " \t")
	}
	s = strings.TrimLeft(s, " \t!")
	if s == "" {
		return s, false
	}
	c := s[0]
	s = s[1:]
	switch c {
	case 'p', 'd', '=', 'n', 'N', 'D', 'P', 'h', 'H', 'g', 'G', 'x', 'l', 'q', 'Q':
		s = strings.TrimLeft(s, " \t0123456789")
	case 's', 'y':
		if s == "" {
			return s, false
		}
		sep := s[0]
		s = s[1:]
		for range 2 {
			if s, ok = until(s, sep); !ok {
				return s, false
			}
		}
		if c == 's' {
			s = strings.TrimLeft(s, "gpiI0123456789mM")
		}
	default:
		return s, false
	}
	if s != "" && strings.IndexByte(" \t\n;", s[0]) < 0 {
		return s, false
	}
	return s, true
}

func sedAddress(s string) (string, bool) {
	switch {
	case s == "":
		return s, true
	case s[0] == '/':
		rest, ok := until(s[1:], '/')
		return strings.TrimLeft(rest, "IM"), ok
	case s[0] == '$':
		return s[1:], true
	}
	return strings.TrimLeft(s, "0123456789~+"), true
}

// until cuts s after the next separator that no backslash quotes. Brackets are not followed: a
// separator in them ends the part too early, and then what follows is no command.
func until(s string, sep byte) (string, bool) {
	if sep == '\\' || sep == '\n' || sep == '[' {
		return s, false
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			return s, false
		case sep:
			return s[i+1:], true
		}
	}
	return s, false
}

// awk looks at awk: its programs write, run and read.
func (s *script) awk(c *step) {
	c.reads = true
	for i := 1; i < len(c.words); i++ {
		w := c.words[i]
		switch {
		case !w.lit:
			c.doubt("the program of awk is known only when it runs")
			return
		case w.text == "-F" || w.text == "-v":
			i++
		case strings.HasPrefix(w.text, "-F") || strings.HasPrefix(w.text, "-v"):
		case w.option():
			c.doubt("%s of awk is not followed", shown(w.text))
			return
		default:
			if strings.ContainsAny(w.text, ">|@`") || strings.Contains(w.text, "system") || strings.Contains(w.text, "ARG") || strings.Contains(w.text, "getline") {
				c.doubt("the program of awk may write or run something")
			}
			for _, o := range c.words[i+1:] {
				if !o.lit && o.option() {
					c.doubt("an option of awk may hide in what is known only when it runs")
				}
				if o.lit && o.option() {
					c.doubt("%s of awk is not followed", shown(o.text))
				}
			}
			return
		}
	}
}
