package git

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Submodules in submodules are followed this deep.
const maxNesting = 5

// submodule is one entry of a checkout's .gitmodules.
type submodule struct {
	name, path string
	commit     string // what the index wants there; "" when the index has no such entry
}

// submodules lists those of the checkout at dir. Entries that could lead out of it are left out.
func (g *Git) submodules(ctx context.Context, dir string) ([]submodule, error) {
	file := filepath.Join(dir, ".gitmodules")
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	out, err := g.Read(ctx, dir, "config", "--no-includes", "--file", file, "--list", "-z")
	if err != nil {
		return nil, err
	}
	var list []submodule
	for _, entry := range strings.Split(string(out.Stdout), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		rest, ok := strings.CutPrefix(key, "submodule.")
		name, isPath := strings.CutSuffix(rest, ".path")
		if ok && isPath && safeRelative(name) && safeRelative(value) {
			list = append(list, submodule{name: name, path: value})
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	args := []string{"--literal-pathspecs", "ls-files", "-s", "-z", "--"}
	for _, s := range list {
		args = append(args, s.path)
	}
	if out, err = g.Read(ctx, dir, args...); err != nil {
		return nil, err
	}
	for _, entry := range strings.Split(string(out.Stdout), "\x00") {
		info, file, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(info)
		for i := range list {
			if list[i].path == file && len(fields) == 3 && fields[0] == "160000" {
				list[i].commit = fields[1]
			}
		}
	}
	return list, nil
}

// safeRelative accepts a path that stays inside its folder and out of any .git.
func safeRelative(p string) bool {
	if p == "" || path.IsAbs(p) || strings.ContainsAny(p, "\x00\n\\") || strings.HasPrefix(p, "-") {
		return false
	}
	for _, elem := range strings.Split(p, "/") {
		if elem == ".." || elem == "." || elem == "" || strings.EqualFold(elem, ".git") {
			return false
		}
	}
	return true
}

// addSubmodules fills the submodules of a fresh worktree from what is on this machine. One that is not
// here becomes a warning.
func (g *Git) addSubmodules(ctx context.Context, p *treePlan) {
	source := ""
	if _, err := gitDirAt(p.Repo); err == nil {
		source = p.Repo
	}
	admin, err := gitDirAt(p.Dir)
	if err != nil {
		return
	}
	g.fillSubmodules(ctx, p, filling{dir: p.Dir, admin: admin, modules: []string{p.common}, checkout: source}, 0)
}

// filling is one level of submodules to fill.
type filling struct {
	dir      string   // the checkout that has them
	admin    string   // its git folder: the new modules go below it
	modules  []string // git folders whose modules folder may have them
	checkout string   // another checkout of the same repository that may have them; "" for none
	prefix   string   // shown before the path in warnings
}

func (g *Git) fillSubmodules(ctx context.Context, p *treePlan, f filling, depth int) {
	list, err := g.submodules(ctx, f.dir)
	if err != nil && ctx.Err() == nil {
		p.warn("The submodules of %q could not be read.", f.dir)
	}
	for _, s := range list {
		if s.commit == "" || ctx.Err() != nil {
			continue
		}
		source, err := g.fillSubmodule(ctx, p, f, s)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			p.warn("Submodule %q is empty: %s. Fetch it with: git submodule update --init", f.prefix+s.path, plainReason(err))
			continue
		}
		if depth+1 < maxNesting {
			g.fillSubmodules(ctx, p, filling{
				dir: filepath.Join(f.dir, s.path), admin: filepath.Join(f.admin, "modules", s.name),
				modules: []string{source}, checkout: joinIf(f.checkout, s.path), prefix: f.prefix + s.path + "/",
			}, depth+1)
		}
	}
}

func joinIf(dir, elem string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, elem)
}

var errNotLocal = errors.New("its commit is not on this machine")

func plainReason(err error) string {
	if errors.Is(err, errNotLocal) {
		return errNotLocal.Error()
	}
	return lastLine(err.Error())
}

// fillSubmodule clones one submodule from a repository on this machine and checks its commit out. It
// gives the git folder that it was cloned from.
func (g *Git) fillSubmodule(ctx context.Context, p *treePlan, f filling, s submodule) (string, error) {
	target := filepath.Join(f.dir, s.path)
	if canonical(target) != filepath.Join(canonical(f.dir), s.path) {
		return "", errors.New("its folder is behind a symbolic link")
	}
	gitDir := filepath.Join(f.admin, "modules", s.name)
	filled := false // by a spare's preparation; its checkout was found clean
	if have, err := gitDirAt(target); err == nil {
		if head, err := g.commit(ctx, target, "HEAD"); err == nil && head == s.commit {
			return have, nil
		}
		if filled = canonical(have) == canonical(gitDir); !filled {
			return "", errors.New("it holds a repository of its own")
		}
	}
	source, err := g.localModule(ctx, f, s)
	if err != nil {
		return "", err
	}
	if filled {
		// Clones on one disk cost little, and so the old one needs no way to get the commit.
		if err := errors.Join(removeTree(gitDir), removeTree(target), os.Mkdir(target, 0o755)); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(filepath.Dir(gitDir), 0o755); err != nil {
		return "", err
	}
	p.Progress("Adding submodule " + f.prefix + s.path)
	_, err = g.run(ctx, call{
		dir: f.dir, plain: true, offline: true, transports: "file",
		args: []string{"clone", "-q", "--no-checkout", "--local", "--no-tags", "--template=", "--separate-git-dir", gitDir, "--", source, target},
	})
	if err == nil {
		g.copyRemote(ctx, source, gitDir)
		err = g.checkoutSubmodule(ctx, p, target, s.commit)
	}
	if err != nil {
		// As git leaves a submodule that was never filled: an empty folder.
		_ = removeTree(gitDir)
		_ = removeTree(target)
		_ = os.Mkdir(target, 0o755)
		return "", err
	}
	return source, nil
}

// localModule finds a git folder on this machine that has the submodule's commit.
func (g *Git) localModule(ctx context.Context, f filling, s submodule) (string, error) {
	var candidates []string
	for _, modules := range f.modules {
		candidates = append(candidates, filepath.Join(modules, "modules", s.name))
	}
	if f.checkout != "" {
		if gitDir, err := gitDirAt(filepath.Join(f.checkout, s.path)); err == nil {
			candidates = append(candidates, gitDir)
		}
	}
	for _, dir := range candidates {
		if !looksBare(dir) {
			continue
		}
		if found, err := g.commit(ctx, dir, s.commit); err == nil && found == s.commit {
			return dir, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	return "", errNotLocal
}

// copyRemote makes the clone fetch from where its source fetches, not from the source.
func (g *Git) copyRemote(ctx context.Context, source, gitDir string) {
	url, err := g.ask(ctx, source, "config", "--get", "remote.origin.url")
	if err != nil || url == "" {
		url = source
	}
	_, _ = g.runLocal(ctx, gitDir, "config", "remote.origin.url", url) // the local source serves as well
}

// checkoutSubmodule takes a submodule's checkout to a commit, detached as git does it.
func (g *Git) checkoutSubmodule(ctx context.Context, p *treePlan, dir, commit string) error {
	sub := &treePlan{NewTree: NewTree{Dir: dir, Filters: p.Filters, Progress: p.Progress}, common: p.common, start: commit}
	if _, err := g.runLocal(ctx, dir, "update-ref", "--no-deref", "HEAD", commit); err != nil {
		return err
	}
	err := g.checkout(ctx, sub)
	p.warnings = append(p.warnings, sub.warnings...)
	return err
}

// submoduleLink is a filled submodule of a checkout that is about to move.
type submoduleLink struct{ path, gitDir string }

func (g *Git) submoduleLinks(ctx context.Context, dir string, depth int) []submoduleLink {
	list, err := g.submodules(ctx, dir)
	if err != nil || depth >= maxNesting {
		return nil
	}
	var links []submoduleLink
	for _, s := range list {
		sub := filepath.Join(dir, s.path)
		gitDir, err := gitDirAt(sub)
		if err != nil || gitDir == filepath.Join(sub, ".git") {
			continue
		}
		links = append(links, submoduleLink{s.path, canonical(gitDir)})
		for _, l := range g.submoduleLinks(ctx, sub, depth+1) {
			links = append(links, submoduleLink{filepath.Join(s.path, l.path), l.gitDir})
		}
	}
	return links
}

// relinkSubmodules mends the links between submodules and their git folders, which git writes relative.
func (g *Git) relinkSubmodules(ctx context.Context, dir string, links []submoduleLink) error {
	for _, l := range links {
		sub := filepath.Join(dir, l.path)
		if err := replaceFile(filepath.Join(sub, ".git"), "gitdir: "+l.gitDir+"\n"); err != nil {
			return err
		}
		file := filepath.Join(l.gitDir, "config")
		if was, err := g.ask(ctx, dir, "config", "--file", file, "--get", "core.worktree"); err != nil || was == "" {
			continue
		}
		if _, err := g.runLocal(ctx, dir, "config", "--file", file, "core.worktree", sub); err != nil {
			return err
		}
	}
	return nil
}
