package scan

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Finding is one thing that a command left and that could later run on the host.
type Finding struct {
	Root string `json:"root"`
	// Path of the file below Root, with slashes. It is as the command named it: quote it to show it.
	Path   string `json:"path"`
	Kind   Kind   `json:"kind"`
	New    bool   `json:"new"` // else it was there and has changed
	Action Action `json:"action"`
	// Reason is a sentence for people.
	Reason string `json:"reason"`

	before *item
	after  *item
}

// compare gives what changed from before to now, in the order of paths.
func compare(before, now *tree, snap *Snapshot) []Finding {
	var list []Finding
	for rel, it := range now.items {
		old := before.items[rel]
		if old != nil && old.same(it) {
			continue
		}
		f := Finding{Root: now.root, Path: rel, Kind: it.rule.kind, New: old == nil, Action: it.rule.action,
			before: old, after: it}
		if !f.judge() {
			continue
		}
		switch holder, replaced := snap.holds(filepath.Join(now.root, filepath.FromSlash(rel))); {
		case holder && !replaced:
			continue
		case holder && !f.New && f.Kind != Hook:
			f.Action = Ask // it was replaced while it was held, which only the host can do
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b Finding) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// judge decides whether a change matters, and says why.
func (f *Finding) judge() bool {
	verb := "changed"
	if f.New {
		verb = "is new"
	}
	detail := f.after.rule.why
	switch f.Kind {
	case GitConf:
		action, keys := newPrograms(f.before, f.after)
		if len(keys) == 0 {
			return false
		}
		f.Action, detail = action, "git obeys it, and it sets "+strings.Join(keys, ", ")
	case Redirect:
		if f.New && harmlessRedirect(f.Root, f.Path, f.after) {
			return false
		}
	case Hidden:
	case Agent, Editor, Hook, Shell, Tool:
		if !f.New && f.after.size == 0 && f.after.mode.IsRegular() {
			return false // emptied: nothing runs
		}
	}
	if f.after.mode&fs.ModeSymlink != 0 {
		detail += "; it is a link to " + short(string(f.after.content))
	}
	f.Reason = fmt.Sprintf("%s %s: %s", short(f.Path), verb, detail)
	return true
}

// holds finds the held file or folder that has path in it, and whether it is another one than before.
func (s *Snapshot) holds(path string) (is, replaced bool) {
	for at := path; ; at = filepath.Dir(at) {
		if s.open[at] {
			return false, false
		}
		if id, ok := s.held[at]; ok {
			now, err := lstatIdent(at)
			return true, err != nil || now.dev != id.dev || now.ino != id.ino
		}
		if at == filepath.Dir(at) {
			return false, false
		}
	}
}
