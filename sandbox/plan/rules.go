package plan

import (
	"path"
	"strings"

	"carrel/sandbox/policy"
)

// rules say which paths can be seen: of those that cover a path the longest decides.
type rules struct {
	deny     map[string]bool
	show     map[string]bool
	patterns map[string][]string // folder -> patterns of names that are shown in it
	split    map[string]bool     // folders that can't be bound whole: something in them is denied, or is to be made
	opened   map[string]bool     // folders that something shown lies in
}

func newRules() *rules {
	return &rules{
		deny: map[string]bool{}, show: map[string]bool{}, patterns: map[string][]string{},
		split: map[string]bool{}, opened: map[string]bool{},
	}
}

// hide denies a path, up to the folder under that is mounted by itself.
func (r *rules) hide(name, under string) {
	r.deny[name] = true
	mark(r.split, name, under)
}

// reveal shows a path.
func (r *rules) reveal(name string) {
	r.show[name] = true
	mark(r.opened, name, "/")
}

// match shows the names in a folder that match a pattern.
func (r *rules) match(dir, pattern string) {
	r.patterns[dir] = append(r.patterns[dir], pattern)
	mark(r.opened, path.Join(dir, "x"), "/")
}

// mark notes all folders between a path and the one under which it counts.
func mark(set map[string]bool, name, under string) {
	for dir := path.Dir(name); !set[dir] && (inside(dir, under) || under == "/"); dir = path.Dir(dir) {
		set[dir] = true
		if dir == "/" {
			return
		}
	}
}

// hidden reports whether a path can't be seen.
func (r *rules) hidden(name string) bool {
	for p := name; ; p = path.Dir(p) {
		switch {
		case r.deny[p]:
			return true
		case r.show[p]:
			return false
		}
		for _, pattern := range r.patterns[path.Dir(p)] {
			if ok, err := path.Match(pattern, path.Base(p)); ok && err == nil && p != "/" {
				return false
			}
		}
		if p == "/" {
			return false
		}
	}
}

// wildcard reports a pattern.
func wildcard(name string) bool { return strings.ContainsAny(name, `*?[\`) }

// within is policy.Within.
func within(name, dir string) bool { return policy.Within(name, dir) }

// inside reports a path strictly inside a folder.
func inside(name, dir string) bool { return name != dir && within(name, dir) }

// depth counts the elements of a clean absolute path.
func depth(name string) int {
	if name == "/" {
		return 0
	}
	return strings.Count(name, "/")
}
