package permission

import "slices"

// broader gives the rule for a command and all that begins like it, "" where that would allow more than
// people would think of: for interpreters, shells and wrappers, for what deletes or publishes, and for all
// that we don't know well enough to tell which of its options do something else.
func (j *commandJudge) broader(c *step) string {
	if j.s.nested || len(j.s.writes)+len(j.s.reads) > 0 || !slices.Contains(j.s.steps, c) || c.at > 0 || c.open || c.through || c.guest || len(c.assigns)+len(c.inner)+len(c.writes)+len(c.own)+len(c.doubts) > 0 ||
		len(c.words) == 0 || slices.ContainsFunc(c.words, func(w word) bool { return !w.lit && !w.glob }) {
		return ""
	}
	n := family(c.words)
	if n == 0 || n > len(c.words) || slices.ContainsFunc(c.words[:n], func(w word) bool { return !w.lit || !plainWord(w.text) }) {
		return ""
	}
	rule := "Bash(" + spell(c.words[:n]) + ":*)"
	if r, err := ParseRule(rule); err != nil || !r.grants(c) {
		return ""
	}
	return rule
}

// family gives how many words say what a command is, 0 where that can't be told. The list is short on
// purpose: each program on it is one whose options are looked at.
func family(words []word) int {
	sub := at(words, 1).text
	switch words[0].text {
	case "go":
		if listed("test build vet list", sub) {
			return 2
		}
	case "cargo":
		if listed("test build check clippy", sub) {
			return 2
		}
	case "npm", "pnpm", "yarn":
		switch sub {
		case "test":
			return 2
		case "run":
			return 3
		}
	case "git":
		if listed("add commit fetch", sub) {
			return 2
		}
	case "pytest":
		return 1
	}
	return 0
}

// plainWord reports whether a word is letters, digits and what names of commands and scripts have.
func plainWord(s string) bool {
	return s != "" && s[0] != '-' && !slices.ContainsFunc([]byte(s), func(b byte) bool {
		return (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && (b < '0' || b > '9') && b != '-' && b != '_' && b != ':' && b != '.'
	})
}

// Broad gives rules that would make the same call and those that begin like it run without a question; nil
// where that is not safe to offer, or is no more than Always.
func (v Verdict) Broad() []string {
	if len(v.Always()) == 0 {
		return nil
	}
	var rules []string
	wider := false
	for _, r := range v.Rights {
		switch {
		case r.Kind == RightOutside:
			return nil // what leaves the sandbox is allowed command by command
		case r.Broad != "":
			wider = true
			rules = append(rules, r.Broad)
		default:
			rules = append(rules, r.Rule)
		}
	}
	if !wider {
		return nil
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}

// fixed reports whether the words say all that the command does.
func fixed(c *step) bool {
	plain := func(w word) bool { return w.lit || w.glob }
	return !c.open && !slices.ContainsFunc(c.words, func(w word) bool { return !plain(w) }) &&
		!slices.ContainsFunc(c.assigns, func(w word) bool { return !w.lit })
}
