package permission

import "strings"

// options says which options of a program do more than shape its output. Everything that may be one of
// them counts as one: long options can be cut short, short ones stand in a cluster.
type options struct {
	write, writeLong string // take a file that they write: letters; names separated by spaces
	run, runLong     string // take a command that they run
	bad, badLong     string // do something else that a rule for the program does not say
	value            string // letters of options that take a value
	valueLong        string
}

// found is what a command line says.
type found struct {
	operands []word
	writes   []word
	runs     []word
	bad      []string
	dynamic  bool // an option may hide in a word that is known only when it runs
	set      map[string]bool
}

// scan reads the words of a command after its name.
func (o options) scan(words []word) found {
	f := found{set: map[string]bool{}}
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case !w.lit:
			if w.option() || w.split && !w.glob {
				f.dynamic = true
			}
			f.operands = append(f.operands, w)
		case w.text == "--":
			f.operands = append(f.operands, words[i+1:]...)
			return f
		case strings.HasPrefix(w.text, "--"):
			i += o.long(&f, words, i)
		case w.option():
			i += o.short(&f, words, i)
		default:
			f.operands = append(f.operands, w)
		}
	}
	return f
}

// long reads one long option and gives how many more words it took.
func (o options) long(f *found, words []word, i int) int {
	name, value, has := strings.Cut(words[i].text[2:], "=")
	f.set["--"+name] = true
	arg := func() (word, int) {
		if has {
			return literal(value), 0
		}
		if i+1 < len(words) {
			return words[i+1], 1
		}
		return unknown("?"), 0
	}
	switch {
	case begins(o.writeLong, name):
		w, n := arg()
		f.writes = append(f.writes, w)
		return n
	case begins(o.runLong, name):
		w, n := arg()
		f.runs = append(f.runs, w)
		return n
	case begins(o.badLong, name):
		f.bad = append(f.bad, words[i].text)
	case begins(o.valueLong, name):
		_, n := arg()
		return n
	}
	return 0
}

// begins reports whether one of the names begins with the given one.
func begins(names, given string) bool {
	for n := range strings.FieldsSeq(names) {
		if strings.HasPrefix(n, given) {
			return true
		}
	}
	return false
}

// short reads a cluster of short options and gives how many more words it took.
func (o options) short(f *found, words []word, i int) int {
	letters := words[i].text[1:]
	for at := range len(letters) {
		c := letters[at : at+1]
		f.set["-"+c] = true
		takes := ""
		switch {
		case strings.Contains(o.write, c):
			takes = "write"
		case strings.Contains(o.run, c):
			takes = "run"
		case strings.Contains(o.bad, c):
			f.bad = append(f.bad, "-"+c)
			continue
		case strings.Contains(o.value, c):
			takes = "value"
		default:
			continue
		}
		arg, n := unknown("?"), 0
		if rest := letters[at+1:]; rest != "" {
			arg = literal(strings.TrimPrefix(rest, "="))
		} else if i+1 < len(words) {
			arg, n = words[i+1], 1
		}
		switch takes {
		case "write":
			f.writes = append(f.writes, arg)
		case "run":
			f.runs = append(f.runs, arg)
		}
		return n
	}
	return 0
}

// apply notes what a command line says in its step.
func (s *script) apply(c *step, o options) found {
	f := o.scan(c.words[1:])
	c.writes = append(c.writes, f.writes...)
	for _, r := range f.runs {
		if r.lit {
			s.inside(c, r.text)
		} else {
			c.doubt("%s runs something that can't be told", c.words[0].text)
		}
	}
	for _, b := range f.bad {
		c.doubt("%s of %s does more than a rule for it says", shown(b), c.words[0].text)
	}
	if f.dynamic && o != (options{value: o.value, valueLong: o.valueLong}) {
		c.doubt("an option of %s may hide in what is known only when it runs", c.words[0].text)
	}
	return f
}
