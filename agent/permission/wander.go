package permission

import (
	"slices"
	"strings"
)

// wanders reports whether a program that only reads could read what its words don't name: files that a file
// lists, those that links in a folder lead to, the environment of processes. Where nothing confines it, that
// is a question.
func wanders(name string, words []word) bool {
	switch name {
	case "wc", "du", "sort":
		return anyOption(words, "", "files0-from")
	case "file":
		return anyOption(words, "f", "files-from")
	case "grep", "egrep", "fgrep":
		return anyOption(words, "R", "dereference-recursive")
	case "rg", "fd", "fdfind":
		return anyOption(words, "L", "follow")
	case "diff":
		return anyOption(words, "r", "recursive")
	case "strings":
		return slices.ContainsFunc(words, func(w word) bool { return strings.HasPrefix(w.text, "@") })
	case "ps":
		return showsEnvironment(words)
	case "jq":
		return anyOption(words, "fL", "from-file", "library-path") ||
			slices.ContainsFunc(words, func(w word) bool { return !w.lit || jqWanders(w.text) })
	}
	return false
}

// anyOption reports whether a word could be one of the options: letters, and names that may be cut short.
func anyOption(words []word, letters string, names ...string) bool {
	return slices.ContainsFunc(words, func(w word) bool {
		long, ok := strings.CutPrefix(w.text, "--")
		if long, _, _ = strings.Cut(long, "="); ok {
			return long != "" && slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, long) })
		}
		return w.option() && strings.ContainsAny(w.text, letters)
	})
}

// showsEnvironment reports whether ps shows it: e among options without a dash, -E elsewhere.
func showsEnvironment(words []word) bool {
	value := false // the word belongs to the option before
	return slices.ContainsFunc(words, func(w word) bool {
		if value {
			value = false
			return false
		}
		if w.option() {
			value = !strings.HasPrefix(w.text, "--") && strings.ContainsAny(w.text[len(w.text)-1:], "CoOpuUgGtsqk")
			return !strings.HasPrefix(w.text, "--") && strings.Contains(w.text, "E")
		}
		return !w.lit || strings.Contains(w.text, "e")
	})
}

// jqWanders reports whether a program of jq could load modules and data from elsewhere, or show the
// environment. A key of that name, as in .env, does not count.
func jqWanders(program string) bool {
	for _, name := range []string{"import", "include", "env", "ENV"} {
		for from := 0; ; {
			i := strings.Index(program[from:], name)
			if i < 0 {
				break
			}
			at := from + i
			from = at + len(name)
			if (at == 0 || program[at-1] != '.' && !letter(program[at-1])) && (from == len(program) || !letter(program[from])) {
				return true
			}
		}
	}
	return false
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' || b == '_' }
