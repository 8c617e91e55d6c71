package plan

import (
	"io/fs"
	"path"

	"carrel/sandbox/policy"
)

// maxGuards bounds the guards below the top of a tree; more are left to the look after the command.
const maxGuards = 200

// guards finds what must stay as it is inside the writable trees.
func (k *maker) guards() {
	for _, r := range append([]root(nil), k.roots...) {
		switch r.kind {
		case rootCommon:
			k.guardCommon(r.path)
			continue
		case rootGit:
			k.guardGitDir(r.path, r.path)
			continue
		case rootNamed, rootCache:
		}
		for _, g := range k.p.Guards {
			k.guardName(r, g)
		}
		if r.kind == rootNamed {
			k.guardRepo(r.path, true)
			k.guardNested(r)
		}
	}
}

// guardName guards one name of the policy in one root.
func (k *maker) guardName(r root, g policy.Guard) {
	why := "tools outside obey it"
	if !path.IsAbs(g.Name) {
		if r.kind == rootCache {
			return
		}
		k.guard(path.Join(r.path, g.Name), guardAs{dir: g.Dir, hold: g.Hold, why: why})
		return
	}
	for _, name := range k.spellings(g.Name) {
		if inside(name, r.path) {
			k.guard(name, guardAs{dir: g.Dir, why: why})
		}
	}
}

// guardNested guards what the search below a root's top found.
func (k *maker) guardNested(r root) {
	hits, whole := k.scan(r.path, func(dir string) bool {
		return k.rules.hidden(dir) || dir != r.path && k.isRoot(dir)
	})
	if !whole {
		k.unheld("%s has so many folders that nested repositories and settings were not all found; the rest is looked for after each command", r.path)
	}
	if len(hits) > maxGuards {
		k.unheld("%s holds more than %d nested repositories and settings of tools; the rest is looked at after each command", r.path, maxGuards)
		hits = hits[:maxGuards]
	}
	for _, h := range hits {
		switch {
		case h.repo:
			k.guardRepo(h.path, false)
		default:
			k.guard(h.path, guardAs{dir: h.dir, why: "tools outside obey it"})
		}
	}
}

// isRoot reports the top of a writable tree.
func (k *maker) isRoot(name string) bool {
	for _, r := range k.roots {
		if r.path == name {
			return true
		}
	}
	return false
}

// guardAs says how a name is guarded.
type guardAs struct {
	dir, hold bool
	loose     bool // programs outside replace it all the time: losing the guard ends nothing
	why       string
}

// guard keeps one name as it is. Its folder must be given resolved.
func (k *maker) guard(name string, as guardAs) {
	if k.guarded[name] || k.writable(name) == "" || k.rules.hidden(name) {
		return
	}
	k.guarded[name] = true
	e, err := k.look.lstat(name)
	switch {
	case err != nil && as.hold && as.dir && k.tier != TierC && k.look.tree.CanMake(path.Dir(name)):
		k.prepare(Prepare{Path: name, Dir: true, Mode: 0o755, Stand: true})
		k.want(want{rank: rankGuard, watch: !as.loose, Mount: Mount{
			Kind: KindRO, Source: name, Target: name, Dir: true, Why: as.why + "; empty, since it does not exist",
		}})
	case err != nil:
		k.missing(Absent{Path: name, Why: as.why})
	case e.Type&fs.ModeSymlink != 0:
		link, err := k.look.tree.Readlink(name)
		if err == nil {
			k.missing(Absent{Path: name, Link: link, Why: as.why})
		}
		if r := k.look.real(name); r.exists && r.err == nil {
			k.guard(r.path, as)
		}
	case e.IsDir() || e.Type.IsRegular():
		k.want(want{rank: rankGuard, watch: !as.loose, Mount: Mount{
			Kind: KindRO, Source: name, Target: name, Dir: e.IsDir(), Why: as.why,
		}})
	}
}

// missing notes a name for the look after the command.
func (k *maker) missing(a Absent) { k.absent[a.Path] = a }

// guardRepo guards the repository whose working tree is dir, if there is one. top says that dir is a
// root: a repository that does not exist there must not appear.
func (k *maker) guardRepo(dir string, top bool) {
	dot := path.Join(dir, ".git")
	e, err := k.look.lstat(dot)
	switch {
	case err != nil && k.isGitDir(dir):
		k.guardGitDir(dir, dir) // a bare one
	case err != nil && top:
		k.missing(Absent{Path: dot, Why: "a repository brings hooks and configuration"})
	case err != nil:
	case e.IsDir():
		k.guardGitDir(dot, dir)
	case e.Type&fs.ModeSymlink != 0:
		k.guard(dot, guardAs{why: "it leads git to its folder"})
	case e.Type.IsRegular():
		k.guard(dot, guardAs{why: "it leads git to its folder"})
		k.guardNamed(dir)
	}
	if err == nil && e.Type&fs.ModeSymlink != 0 {
		if r := k.look.real(dot); r.exists && k.look.isDir(r.path) && k.writable(r.path) != "" {
			delete(k.wants, r.path) // not all of it: git writes there
			k.guardGitDir(r.path, dir)
		}
	}
}

// guardNamed guards the git folder that a .git file in dir leads to.
func (k *maker) guardNamed(dir string) {
	gitDir := k.namedBy(dir)
	w := k.writable(gitDir)
	if gitDir == "" || w == "" {
		return
	}
	if common, why := k.owner(gitDir, dir); why == "" && common != gitDir {
		k.keptIDs[gitDir] = true
		if k.writable(common) != "" {
			k.guardWorktreeDir(gitDir)
		}
		return
	}
	k.guardGitDir(gitDir, dir)
}
