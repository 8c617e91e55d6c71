package plan

import (
	"io/fs"
	"path"
	"strings"
)

// repositories finds the git folders outside of the roots that the roots themselves belong to, and makes
// them writable: those of linked worktrees and of submodules that are opened by themselves. A .git file
// is no proof, since a command or a download may have written it: the repository that it names must name
// the folder back, and only git itself, or its owner, can have made it do so.
func (k *maker) repositories() error {
	for _, r := range append([]root(nil), k.roots...) {
		gitDir := k.namedBy(r.path)
		if gitDir == "" {
			k.repositoryAbove(r.path)
			continue
		}
		if k.writable(gitDir) != "" {
			continue
		}
		switch common, why := k.owner(gitDir, r.path); {
		case why != "":
			k.note("the .git file of %s names %s, %s; git can't write there", r.path, gitDir, why)
		default:
			kind := rootGit
			if common != gitDir {
				kind = rootCommon
				k.keptIDs[gitDir] = true
			}
			k.roots = append(k.roots, root{path: common, why: "the repository of " + r.path, kind: kind})
		}
	}
	return nil
}

// repositoryAbove tells when a root is a part of a repository whose folder commands can't write.
func (k *maker) repositoryAbove(dir string) {
	if k.look.present(path.Join(dir, ".git")) {
		return
	}
	for up := path.Dir(dir); up != "/" && up != k.home; up = path.Dir(up) {
		if k.look.present(path.Join(up, ".git")) && k.writable(up) == "" {
			k.note("%s is a part of the repository %s, which is not writable: git can't commit there", dir, up)
			return
		}
	}
}

// namedBy is the folder that a .git file in dir leads to, resolved, or "" if there is none.
func (k *maker) namedBy(dir string) string {
	text, err := k.look.read(path.Join(dir, ".git"))
	if err != nil {
		return ""
	}
	name, err := gitFile(text, dir)
	if err != nil {
		return ""
	}
	r := k.look.real(name)
	if r.err != nil || !r.exists || !k.look.isDir(r.path) {
		return ""
	}
	return r.path
}

// owner checks that a git folder belongs to a working tree, and returns the folder that the tree's git
// writes: the common one of a linked worktree, gitDir itself of a submodule. Else why says what is wrong.
func (k *maker) owner(gitDir, work string) (common, why string) {
	if path.Base(path.Dir(gitDir)) == "worktrees" {
		common = path.Dir(path.Dir(gitDir))
		if !k.linked(gitDir, common, work) {
			return "", "which does not name this folder back"
		}
	} else {
		common = gitDir
		if !k.submodule(gitDir, work) {
			return "", "which does not name this folder back"
		}
	}
	for _, kept := range []string{k.home, k.look.real(k.p.Root).path, k.private} {
		if within(kept, common) {
			return "", "which holds more than a repository"
		}
	}
	if !k.isGitDir(common) {
		return "", "which is no repository"
	}
	return common, ""
}

// linked reports whether COMMON/worktrees/ID is the folder of a worktree.
func (k *maker) linked(gitDir, common, work string) bool {
	text, err := k.look.read(path.Join(gitDir, "commondir"))
	if err != nil {
		return false
	}
	name, err := gitPath(text, gitDir)
	if err != nil || k.look.real(name).path != common {
		return false
	}
	text, err = k.look.read(path.Join(gitDir, "gitdir"))
	if err != nil {
		return false
	}
	back, err := gitPath(text, gitDir)
	if err != nil {
		return false
	}
	dir, file := path.Split(back)
	return file == ".git" && k.look.real(path.Clean(dir)).path == work
}

// submodule reports whether a git folder names work as its working tree.
func (k *maker) submodule(gitDir, work string) bool {
	if !strings.Contains(gitDir, "/modules/") {
		return false
	}
	text, err := k.look.read(path.Join(gitDir, "config"))
	if err != nil {
		return false
	}
	back := parseGitConfig(text).worktree
	if back == "" {
		return false
	}
	if !path.IsAbs(back) {
		back = gitDir + "/" + back
	}
	return k.look.real(back).path == work
}

// isGitDir reports what git takes for a repository.
func (k *maker) isGitDir(dir string) bool {
	if !k.present(dir, "HEAD", 0) {
		return false
	}
	return k.present(dir, "objects", fs.ModeDir) && k.present(dir, "refs", fs.ModeDir)
}

// present reports a name of a type in a folder; HEAD may be a link.
func (k *maker) present(dir, name string, kind fs.FileMode) bool {
	r := k.look.real(path.Join(dir, name))
	if !r.exists || r.err != nil {
		return false
	}
	e, err := k.look.lstat(r.path)
	return err == nil && e.Type == kind
}
