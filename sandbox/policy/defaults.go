package policy

import (
	"path"
	"slices"
)

// Defaults is the policy of a person at home with Carrel's data in root. Project and Private are
// still to be set; Validate refuses it until then. The lists name places of every system: those that
// a system does not have cost nothing.
func Defaults(home, root string) Policy {
	p := Policy{
		DenyRead:  append(deniedReads(home), root),
		AllowRead: allowedReads(home),
		Guards:    append(treeGuards(), homeGuards(home)...),
		Caches:    caches(home),
		Network:   NetworkAllow,
		Env:       slices.Concat(plainNames(), families()),
		Limits:    Limits{Processes: 8192, OpenFiles: 65536},
		Home:      home,
		Root:      root,
	}
	return p
}

// Expand makes a path that a person wrote absolute: "~" and "~/x" are home's, a relative one lies in
// dir. It does not look at the disk.
func Expand(name, home, dir string) string {
	switch {
	case name == "~":
		return path.Clean(home)
	case len(name) > 1 && name[:2] == "~/":
		return path.Join(home, name[2:])
	case path.IsAbs(name):
		return path.Clean(name)
	}
	return path.Join(dir, name)
}

// below joins each name to dir.
func below(dir string, names ...string) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = path.Join(dir, name)
	}
	return list
}
