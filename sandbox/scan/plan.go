package scan

import (
	"path/filepath"
	"slices"
	"strings"

	"carrel/sandbox/plan"
)

// For says where to look after commands that a plan confines.
func For(p plan.Plan) Config {
	held, open := heldPlaces(p)
	return Config{Roots: roots(p), Held: held, Open: open}
}

// roots are the writable trees that no other one holds.
func roots(p plan.Plan) []string {
	var roots []string
	for _, w := range p.Write {
		if !slices.ContainsFunc(p.Write, func(other string) bool { return other != w && within(w, other) }) && !slices.Contains(roots, w) {
			roots = append(roots, w)
		}
	}
	return roots
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// heldPlaces are what mounts keep read-only inside the writable trees, and what they open again in there.
func heldPlaces(p plan.Plan) (held, open []string) {
	for _, m := range p.Mounts {
		if !slices.ContainsFunc(p.Write, func(w string) bool { return within(m.Target, w) }) {
			continue
		}
		if m.Kind == plan.KindRO {
			held = append(held, m.Target)
		} else {
			open = append(open, m.Target)
		}
	}
	return held, open
}
