package plan

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// What git obeys inside a repository's folder. hooks and the attributes in info choose programs, config
// names them, commondir and gitdir lead to other configurations.
const (
	whyConfig = "git obeys it"
	whyLeads  = "it leads git to another configuration"
)

// maxModules bounds the submodules of one repository.
const maxModules = 200

// guardGitDir guards a repository's folder inside a writable tree; work is its working tree.
func (k *maker) guardGitDir(dir, work string) {
	if k.gitDirs[dir] || k.writable(dir) == "" {
		return
	}
	k.gitDirs[dir] = true
	for _, name := range []string{"hooks", "info"} {
		k.guard(path.Join(dir, name), guardAs{dir: true, hold: true, why: whyConfig})
	}
	// git removes this one with the last worktree: losing it ends nothing.
	k.guard(path.Join(dir, "worktrees"), guardAs{dir: true, hold: true, loose: true, why: whyConfig})
	for _, name := range []string{"config", "config.worktree"} {
		k.guard(path.Join(dir, name), guardAs{why: whyConfig})
	}
	for _, name := range []string{"branches", "remotes"} { // old forms of configuration
		if k.look.present(path.Join(dir, name)) {
			k.guard(path.Join(dir, name), guardAs{dir: true, why: whyConfig})
		}
	}
	for _, name := range []string{"commondir", "gitdir"} {
		k.guard(path.Join(dir, name), guardAs{why: whyLeads})
	}
	k.keptWorktrees(dir)
	k.guardConfigured(dir, work)
	if !k.guardModules(path.Join(dir, "modules"), 0) {
		k.guard(path.Join(dir, "modules"), guardAs{dir: true, hold: true, loose: true, why: whyConfig})
	}
}

// guardWorktreeDir guards the admin folder of a linked worktree, which stays writable.
func (k *maker) guardWorktreeDir(dir string) {
	if k.gitDirs[dir] {
		return
	}
	k.gitDirs[dir] = true
	k.want(want{rank: rankRoot, Mount: Mount{
		Kind: KindRW, Source: dir, Target: dir, Dir: true, Why: "git's state of this worktree",
	}})
	for _, name := range []string{"commondir", "gitdir", "config.worktree"} {
		k.guard(path.Join(dir, name), guardAs{why: whyLeads})
	}
	k.guardModules(path.Join(dir, "modules"), 0)
}

// keptWorktrees keeps the worktrees of a repository writable whose working trees are writable too.
func (k *maker) keptWorktrees(dir string) {
	entries, err := k.look.list(path.Join(dir, "worktrees"))
	if err != nil {
		return
	}
	for i, e := range entries {
		id := path.Join(dir, "worktrees", e.Name)
		if i >= maxModules || !e.IsDir() {
			continue
		}
		if work := k.worktreeOf(id); work != "" && k.writable(work) != "" && k.namedBy(work) == id && k.linked(id, dir, work) {
			k.guardWorktreeDir(id)
		}
	}
}

// worktreeOf is the working tree that an admin folder names, or "".
func (k *maker) worktreeOf(id string) string {
	text, err := k.look.read(path.Join(id, "gitdir"))
	if err != nil {
		return ""
	}
	name, err := gitPath(text, id)
	if err != nil || path.Base(name) != ".git" {
		return ""
	}
	dir, _ := path.Split(name)
	r := k.look.real(path.Clean(dir))
	if r.err != nil || !r.exists {
		return ""
	}
	return r.path
}

// guardModules guards the submodules' folders below dir, whose names may have slashes; it reports
// whether there is anything.
func (k *maker) guardModules(dir string, level int) bool {
	entries, err := k.look.list(dir)
	if err != nil || level > 5 {
		return false
	}
	found := false
	for i, e := range entries {
		name := path.Join(dir, e.Name)
		if i >= maxModules || !e.IsDir() {
			continue
		}
		found = true
		if k.isGitDir(name) || k.look.present(path.Join(name, "config")) {
			work := name
			if text, err := k.look.read(path.Join(name, "config")); err == nil {
				work = k.look.real(absolute(parseGitConfig(text).worktree, name)).path
			}
			k.guardGitDir(name, work)
			continue
		}
		k.guardModules(name, level+1)
	}
	return found
}

// guardConfigured guards what the configuration leads to, inside the writable trees.
func (k *maker) guardConfigured(dir, work string) {
	for _, file := range []string{"config", "config.worktree"} {
		text, err := k.look.read(path.Join(dir, file))
		if err != nil {
			continue
		}
		c := parseGitConfig(text)
		for _, name := range c.hooks {
			k.guardLed(name, work, true)
		}
		for _, name := range c.includes {
			k.guardLed(name, dir, false)
		}
	}
}

// guardLed guards a path that a configuration names, relative to a folder.
func (k *maker) guardLed(name, from string, dir bool) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = path.Join(k.home, rest)
	}
	name = absolute(name, from)
	parent := k.look.real(path.Dir(name))
	at := path.Join(parent.path, path.Base(name))
	if w := k.writable(at); parent.err == nil && w != "" && w != at {
		k.guard(at, guardAs{dir: dir, why: "the repository's configuration names it"})
	}
}

// absolute joins a name to a folder unless it is absolute.
func absolute(name, dir string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}

// written reports a name in a common folder that the git of a linked worktree writes.
func written(name string) bool {
	return strings.HasSuffix(name, ".lock") || slices.Contains([]string{
		"objects", "refs", "logs", "packed-refs", "packed-refs.new", "reftable", "rr-cache", "lfs", "shallow", "gc.pid", "gc.log",
	}, name)
}

// obeyed reports one that chooses programs or configurations: losing its guard ends the command. The
// rest is the state of the main worktree, which git replaces there all the time.
func obeyed(name string) bool {
	return slices.Contains([]string{
		"config", "config.worktree", "commondir", "gitdir", "hooks", "info", "branches", "remotes",
	}, name)
}

// guardCommon guards the common folder of a linked worktree: all but what its git writes.
func (k *maker) guardCommon(dir string) {
	if k.gitDirs[dir] {
		return
	}
	k.gitDirs[dir] = true
	entries, err := k.look.list(dir)
	if err != nil {
		k.unheld("the repository %s can't be listed; it is not guarded", dir)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		if written(e.Name) || e.Type&(fs.ModeSocket|fs.ModeNamedPipe) != 0 {
			continue
		}
		k.guard(name, guardAs{dir: e.IsDir(), loose: !obeyed(e.Name), why: "shared with other worktrees"})
	}
	for _, name := range []string{"hooks", "info", "modules"} {
		k.guard(path.Join(dir, name), guardAs{dir: true, hold: true, loose: name == "modules", why: whyConfig})
	}
	for _, name := range []string{"commondir", "config.worktree"} {
		k.guard(path.Join(dir, name), guardAs{why: whyLeads})
	}
	for id := range k.keptIDs {
		if within(id, dir) {
			k.guardWorktreeDir(id)
		}
	}
	k.keptWorktrees(dir)
}
