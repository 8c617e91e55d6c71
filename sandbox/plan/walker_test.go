package plan

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"carrel/sandbox/policy"
)

// A walker says from the policy and the tree alone what a command may do with each path. It shares no
// code with the plan and takes the long way: every question is asked of every path.
type walker struct {
	p    policy.Policy
	host memory
	led  map[string]bool // what a guard that is a link leads to

	denied, write, layers []string // resolved once
	allowed               [][2]string
	absolute              map[string]bool // guards with a place of their own
}

func newWalker(p policy.Policy, host memory) walker {
	w := walker{p: p, host: host, led: map[string]bool{}, absolute: map[string]bool{}}
	for _, d := range append(slices.Clone(p.DenyRead), p.Private) {
		w.denied = append(w.denied, w.placed(d)...)
	}
	for _, a := range p.AllowRead {
		for _, dir := range w.placed(path.Dir(a)) {
			w.allowed = append(w.allowed, [2]string{dir, path.Base(a)})
		}
	}
	for _, g := range p.Guards {
		if path.IsAbs(g.Name) {
			for _, at := range w.placed(g.Name) {
				w.absolute[at] = true
			}
		}
	}
	w.write = w.writeRoots()
	w.layers = w.cacheRoots()
	for name, n := range host {
		for _, r := range w.roots() {
			if n.kind == fs.ModeSymlink && strings.HasPrefix(name, r+"/") && w.guardAt(name, r) {
				w.led[w.lead(name)] = true
			}
		}
	}
	return w
}

// lead follows all links; "" if it leads nowhere.
func (w walker) lead(name string) string {
	at := name
	for range 50 {
		parent, n, err := w.host.find(at)
		if err != nil {
			return ""
		}
		if n.kind != fs.ModeSymlink {
			return parent
		}
		if path.IsAbs(n.link) {
			at = n.link
		} else {
			at = path.Dir(parent) + "/" + n.link
		}
	}
	return ""
}

// placed resolves the folder of a name, which itself may be missing or a link.
func (w walker) placed(name string) []string {
	list := []string{name}
	if at, _, err := w.host.find(name); at != "" {
		list = append(list, at)
		if err == nil {
			if to := w.lead(name); to != "" {
				list = append(list, to)
			}
		}
	}
	return list
}

func (w walker) roots() []string { return w.write }

func (w walker) writeRoots() []string {
	if w.p.ReadOnly {
		return nil
	}
	var list []string
	for _, r := range append([]string{w.p.Project}, w.p.Write...) {
		if to := w.lead(r); to != "" {
			list = append(list, to)
		}
	}
	return list
}

// hidden: of everything that covers the path the longest decides.
func (w walker) hidden(name string) bool {
	best, verdict := -1, false
	consider := func(p string, hides bool) {
		if (name == p || strings.HasPrefix(name, p+"/")) && (len(p) > best || len(p) == best && hides) {
			best, verdict = len(p), hides
		}
	}
	for _, p := range w.denied {
		consider(p, true)
	}
	for _, r := range append(w.roots(), w.lead(w.p.Project)) {
		consider(r, false)
	}
	for _, c := range w.caches() {
		consider(c, false)
	}
	for _, a := range w.allowed {
		at := name
		for path.Dir(at) != a[0] && at != "/" {
			at = path.Dir(at)
		}
		if ok, err := path.Match(a[1], path.Base(at)); ok && err == nil && at != "/" {
			consider(at, false)
		}
	}
	return verdict
}

// caches that exist and are folders, at their places.
func (w walker) caches() []string { return w.layers }

func (w walker) cacheRoots() []string {
	var list []string
	for _, c := range w.p.Caches {
		at, n, err := w.host.find(c.Path)
		if err == nil && n.kind.IsDir() && c.Mode != policy.CacheOff && !w.under(at, w.roots()) && !w.denialBelow(at) {
			list = append(list, at)
		}
	}
	return list
}

func (w walker) denialBelow(dir string) bool {
	return slices.ContainsFunc(w.denied, func(d string) bool { return strings.HasPrefix(d, dir+"/") })
}

func (w walker) under(name string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return name == d || strings.HasPrefix(name, d+"/") })
}

// guarded: a name of the policy, or of git, between a root and the path.
func (w walker) guarded(name string) bool {
	roots := w.roots()
	for _, r := range roots {
		if !w.under(name, []string{r}) {
			continue
		}
		for at := name; at != r && at != "/"; at = path.Dir(at) {
			if slices.Contains(roots, at) {
				break // named by the person: opened again
			}
			if w.led[at] || w.guardAt(at, r) {
				return true
			}
		}
	}
	return false
}

// guardAt: this very name is one that must stay as it is.
func (w walker) guardAt(at, root string) bool {
	rel := strings.TrimPrefix(at, root+"/")
	n := w.host[at]
	if n == nil || n.kind == fs.ModeSocket {
		return false
	}
	for _, g := range w.p.Guards {
		switch {
		case path.IsAbs(g.Name):
			if w.absolute[at] {
				return true
			}
		case g.Name == rel, g.Deep && path.Base(at) == g.Name && !strings.Contains(at, "/node_modules/") && (g.Dir == n.kind.IsDir() || n.kind == fs.ModeSymlink):
			return true
		}
	}
	if path.Base(at) == ".git" && !n.kind.IsDir() {
		return true
	}
	return w.inGitDir(at)
}

// inGitDir: a name that git obeys, directly in a repository's folder.
func (w walker) inGitDir(at string) bool {
	dir := path.Dir(at)
	isRepo := w.host[dir+"/HEAD"] != nil && w.host[dir+"/objects"] != nil && w.host[dir+"/refs"] != nil
	names := []string{"config", "config.worktree", "hooks", "info", "commondir", "gitdir"}
	return (isRepo || path.Base(dir) == ".git") && slices.Contains(names, path.Base(at))
}

// expect is what the policy says of a path of the host that leads through no link.
func (w walker) expect(name string) seen {
	switch {
	case w.hidden(name), w.socketOutside(name):
		return gone
	case w.guarded(name):
		return readable
	case w.under(name, w.roots()):
		return changed
	case w.under(name, w.caches()):
		return layered
	case w.ownPlace(name):
		return own
	}
	return readable
}

// socketOutside: sockets of home are left out.
func (w walker) socketOutside(name string) bool {
	n := w.host[name]
	return n != nil && n.kind == fs.ModeSocket && !w.under(name, w.roots())
}

// ownPlace: temporary folders and the like are the sandbox's own.
func (w walker) ownPlace(name string) bool {
	home := w.lead(w.p.Home)
	return w.under(name, []string{"/tmp", "/var/tmp", "/run", "/proc", "/dev", "/etc/resolv.conf"}) &&
		!(home != "" && w.under(name, []string{home})) && !w.under(name, []string{w.lead(w.p.Project)})
}

// paths are the host's paths that lead through no link.
func (w walker) paths() []string {
	return slices.Sorted(maps.Keys(w.host))
}
