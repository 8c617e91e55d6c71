package scan

import (
	"io/fs"
	"os"
	"path"
	"strings"
)

func gitFile() rule {
	return rule{kind: Redirect, action: Move, why: "git takes its directory from where it leads"}
}

// maxModules is how deep submodules may lie in submodules, counted in folders of their names too.
const maxModules = 16

// gitDir notes what in a git directory makes git run programs. Branches, objects and logs don't.
func (w *walker) gitDir(at *os.Root, rel string, depth int) {
	conf := rule{kind: GitConf, action: Move, why: "git obeys it"}
	away := rule{kind: Redirect, action: Move, why: "git takes its configuration and hooks from where it leads"}
	for name, r := range map[string]rule{"config": conf, "config.worktree": conf, "commondir": away} {
		w.item(at, name, path.Join(rel, name), r)
	}
	w.hooks(at, path.Join(rel, "hooks"))
	w.links(at, rel)
	w.open(at, "modules", path.Join(rel, "modules"), func(m *os.Root) { w.modules(m, path.Join(rel, "modules"), depth+1) })
	w.open(at, "info", path.Join(rel, "info"), func(info *os.Root) {
		w.item(info, "attributes", path.Join(rel, "info", "attributes"),
			rule{kind: Hook, action: Move, why: "it chooses the filters and drivers that git runs"})
	})
	w.open(at, "worktrees", path.Join(rel, "worktrees"), func(all *os.Root) {
		for _, e := range w.linksIn(all, path.Join(rel, "worktrees"), "worktrees") {
			below := path.Join(rel, "worktrees", e.Name())
			w.open(all, e.Name(), below, func(one *os.Root) {
				w.item(one, "commondir", path.Join(below, "commondir"), away)
				w.item(one, "config.worktree", path.Join(below, "config.worktree"), conf)
				w.links(one, below)
			})
		}
	})
}

func (w *walker) hooks(at *os.Root, rel string) {
	hook := rule{kind: Hook, action: Move, why: "git runs it"}
	info, err := at.Lstat("hooks")
	if err != nil {
		return
	}
	if !info.IsDir() {
		w.item(at, "hooks", rel, hook)
		return
	}
	w.open(at, "hooks", rel, func(dir *os.Root) {
		for _, e := range w.names(dir) {
			// Git calls a hook by its bare name, and no hook has a folder's.
			if !strings.HasSuffix(e.Name(), ".sample") && !e.IsDir() {
				w.item(dir, e.Name(), path.Join(rel, e.Name()), hook)
			}
		}
	})
}

// modules notes the git directories of submodules. Their names may hold slashes.
func (w *walker) modules(at *os.Root, rel string, depth int) {
	if depth > maxModules {
		w.cut("submodules deeper than %d folders", maxModules)
		return
	}
	for _, e := range w.names(at) {
		below := path.Join(rel, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			w.item(at, e.Name(), below, gitFile())
			continue
		}
		w.open(at, e.Name(), below, func(sub *os.Root) {
			if _, err := sub.Lstat("HEAD"); err == nil {
				w.gitDir(sub, below, depth)
				return
			}
			w.modules(sub, below, depth+1)
		})
	}
}

// harmlessRedirect reports whether a .git file or a commondir is as git itself writes it: a checkout
// of a submodule or a worktree leads into the git directory of the same root, and the git directory
// of a worktree back up.
func harmlessRedirect(root, rel string, it *item) bool {
	if !it.read || !it.mode.IsRegular() {
		return false
	}
	text := strings.TrimRight(string(it.content), "\r\n")
	dir := path.Dir(rel)
	if path.Base(rel) == "commondir" {
		return text == "../.." && path.Base(path.Dir(dir)) == "worktrees"
	}
	target, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok {
		return true // git refuses it
	}
	if path.IsAbs(target) {
		if target, ok = strings.CutPrefix(path.Clean(target), path.Clean(root)+"/"); !ok {
			return false
		}
	} else {
		target = path.Join(dir, target)
	}
	return strings.HasPrefix(target, ".git/modules/") || strings.HasPrefix(target, ".git/worktrees/") ||
		strings.Contains(target, "/.git/modules/") && !strings.HasPrefix(target, "../")
}
