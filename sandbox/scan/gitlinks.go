package scan

import (
	"io/fs"
	"os"
	"path"
	"strings"
)

// What git keeps acts on the host in two ways. Git appends to its logs and writes its messages, states,
// references and packs through symbolic links, with names and text that a command chooses: a link from
// there to a startup file of a shell, or to git's own configuration, would be written by the next git
// outside. Git itself makes links to references only. And a rebase under way may hold commands.

// states are the folders in which git keeps what it is in the middle of.
func states() []string { return []string{"rebase-merge", "rebase-apply", "sequencer"} }

// maxBranch is how deep references and their logs may lie.
const maxBranch = 32

// links notes links in a git directory, or a worktree's, that lead git elsewhere.
func (w *walker) links(at *os.Root, rel string) {
	w.linksIn(at, rel, "")
	for _, name := range []string{"logs", "refs"} {
		w.open(at, name, path.Join(rel, name), func(dir *os.Root) { w.linksBelow(dir, path.Join(rel, name), name, 0) })
	}
	w.open(at, "objects", path.Join(rel, "objects"), func(objects *os.Root) {
		w.linksIn(objects, path.Join(rel, "objects"), "objects")
		for _, name := range []string{"info", "pack"} {
			within := path.Join("objects", name)
			w.open(objects, name, path.Join(rel, within), func(dir *os.Root) { w.linksBelow(dir, path.Join(rel, within), within, 0) })
		}
	})
	for _, name := range states() {
		w.open(at, name, path.Join(rel, name), func(dir *os.Root) {
			w.linksIn(dir, path.Join(rel, name), name)
			w.todo(dir, path.Join(rel, name, "git-rebase-todo"))
		})
	}
}

// todo notes the list of a rebase under way if it has commands in it: they run when it goes on.
func (w *walker) todo(at *os.Root, rel string) {
	w.item(at, "git-rebase-todo", rel, rule{kind: Hook, action: Ask, why: "git runs its exec lines when the rebase continues"})
	if it := w.tree.items[rel]; it != nil && it.read && it.mode.IsRegular() && !runs(string(it.content)) {
		delete(w.tree.items, rel)
	}
}

// runs reports whether the list of a rebase has commands in it.
func runs(list string) bool {
	for line := range strings.Lines(list) {
		if word := strings.Fields(line); len(word) > 1 && (word[0] == "exec" || word[0] == "x") {
			return true
		}
	}
	return false
}

// linksBelow notes the links in a folder and below.
func (w *walker) linksBelow(at *os.Root, rel, within string, depth int) {
	if depth > maxBranch {
		w.cut("references of git deeper than %d folders", maxBranch)
		return
	}
	for _, e := range w.linksIn(at, rel, within) {
		if e.IsDir() {
			w.open(at, e.Name(), path.Join(rel, e.Name()), func(sub *os.Root) {
				w.linksBelow(sub, path.Join(rel, e.Name()), path.Join(within, e.Name()), depth+1)
			})
		}
	}
}

// linksIn notes the links of one folder, whose path below the git directory is within.
func (w *walker) linksIn(at *os.Root, rel, within string) []fs.DirEntry {
	entries := w.names(at)
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 || e.Name() == "hooks" || e.Name() == "modules" {
			continue // the last two have rules of their own
		}
		if target, err := at.Readlink(e.Name()); err == nil && !toReference(within, target) {
			w.item(at, e.Name(), path.Join(rel, e.Name()), rule{kind: Redirect, action: Move, why: "git writes to where it leads"})
		}
	}
	return entries
}

// toReference reports whether a link in a folder of a git directory leads to a reference or its log, which
// are looked through for links themselves. The target must be spelled without detours: a folder on the way
// may be a link, too.
func toReference(within, target string) bool {
	if leaves(within, target) || path.Clean(target) != target {
		return false
	}
	first, _, _ := strings.Cut(path.Join(within, target), "/")
	return first == "refs" || first == "logs" || first == "HEAD"
}

// leaves reports whether a link in a folder of a git directory leads out of that directory.
func leaves(within, target string) bool {
	if path.IsAbs(target) {
		return true
	}
	depth := 0 // folders below the directory; cleaning a path would hide that it leaves and comes back
	if within != "" {
		depth = strings.Count(within, "/") + 1
	}
	for e := range strings.SplitSeq(target, "/") {
		switch e {
		case "..":
			if depth--; depth < 0 {
				return true
			}
		case "", ".":
		default:
			depth++
		}
	}
	return false
}
