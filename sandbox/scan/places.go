package scan

import (
	"slices"

	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

// Places is where commands under a plan can leave something: the writable trees that no other one holds,
// what mounts keep as it is in there, and what they open again.
func Places(p plan.Plan) Config {
	var c Config
	for _, w := range p.Write {
		if !inAny(p.Write, w, true) && !slices.Contains(c.Roots, w) {
			c.Roots = append(c.Roots, w)
		}
	}
	for _, m := range p.Mounts {
		switch {
		case !inAny(p.Write, m.Target, false):
		case m.Kind == plan.KindRO:
			c.Held = append(c.Held, m.Target)
		default:
			c.Open = append(c.Open, m.Target)
		}
	}
	return c
}

// inAny reports whether one of the folders holds the path; other leaves the path itself out.
func inAny(dirs []string, path string, other bool) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return policy.Within(path, dir) && !(other && dir == path)
	})
}
