package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// NewTree describes a worktree to make.
type NewTree struct {
	Repo   string // top of the main checkout (or of any other), or a bare repository
	Dir    string // absent, or an empty folder
	Branch string // "" leaves the worktree detached at Base
	// Base is where a new branch starts: a branch, "origin/x", a tag or a commit; "" is Repo's HEAD. A
	// branch wins over a tag of the same name. The new branch tracks nothing.
	Base   string
	Create bool // Branch is new and starts at Base; else it exists and Base does not matter
	// Spare is the folder of a spare from PrepareSpare to use; "" for none. One that does not fit is
	// left alone, and the worktree is made without it.
	Spare   string
	Filters Filters
	// Hooks runs the repository's post-checkout hook at the end. Only for a trusted repository.
	Hooks bool
	// Progress gets short lines for people; it must not block.
	Progress func(string)
}

// MadeTree says how it went. Warnings are sentences for people; none of them made the tree unusable.
type MadeTree struct {
	Warnings  []string
	Commit    string
	FromSpare bool
}

// treePlan is a NewTree with everything resolved, before anything is written.
type treePlan struct {
	NewTree
	common   string
	start    string // commit
	stale    admin  // a registration of Dir whose folder is gone
	hadDir   bool   // Dir was there, empty
	madeDirs string // topmost parent folder that had to be made
	branched bool   // we made the branch
	linked   bool   // what is registered at Dir is ours
	warnings []string
}

// AddTree makes a linked worktree without network, hooks or force. It fails with ErrExists (folder or
// branch), *HeldError (branch checked out elsewhere), ErrUnborn, *NoSuchRefError, ErrBadName, ErrLocked
// or ErrNotRepo, and leaves nothing behind when it fails or the context ends. Call Settle afterwards,
// in the background, when the tree was not made from a spare.
func (g *Git) AddTree(ctx context.Context, n NewTree) (MadeTree, error) {
	if n.Progress == nil {
		n.Progress = func(string) {}
	}
	// Two creations of one folder must not undo each other's work.
	release, err := g.hold(ctx, "make "+canonical(n.Dir))
	if err != nil {
		return MadeTree{}, fmt.Errorf("make worktree %q: %w", n.Dir, err)
	}
	defer release()
	p, err := g.planTree(ctx, n)
	if err != nil {
		return MadeTree{}, fmt.Errorf("make worktree %q: %w", n.Dir, err)
	}
	made := MadeTree{Commit: p.start}
	if made.FromSpare, err = g.makeTree(ctx, p); err != nil {
		g.undoTree(p)
		return MadeTree{}, fmt.Errorf("make worktree %q: %w", n.Dir, err)
	}
	g.finishTree(ctx, p)
	if err := ctx.Err(); err != nil {
		g.undoTree(p)
		return MadeTree{}, fmt.Errorf("make worktree %q: %w", n.Dir, err)
	}
	made.Warnings = p.warnings
	return made, nil
}

// planTree asks all questions and writes nothing.
func (g *Git) planTree(ctx context.Context, n NewTree) (*treePlan, error) {
	p := &treePlan{NewTree: n}
	var err error
	if p.Dir, err = filepath.Abs(n.Dir); err != nil {
		return nil, err
	}
	p.Dir = canonical(p.Dir)
	if p.common, err = g.commonOf(ctx, n.Repo); err != nil {
		return nil, err
	}
	if err := p.checkDir(); err != nil {
		return nil, err
	}
	if p.start, err = g.startOf(ctx, n); err != nil {
		return nil, err
	}
	if n.Create {
		return p, plausible(n.Branch) // register finds out the rest by making it
	}
	if n.Branch == "" {
		return p, nil
	}
	held, _, err := g.holders(ctx, n.Repo)
	if err != nil {
		return nil, err
	}
	if dir := held[n.Branch]; dir != "" && dir != p.Dir {
		return nil, &HeldError{Branch: n.Branch, Dir: dir}
	}
	return p, nil
}

// checkDir wants Dir absent or empty, and finds a registration that its folder left behind.
func (p *treePlan) checkDir() error {
	entries, err := os.ReadDir(p.Dir)
	switch {
	case err == nil && len(entries) > 0:
		return fmt.Errorf("folder %q: %w", p.Dir, ErrExists)
	case err == nil:
		p.hadDir = true
	case !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("folder %q: %w", p.Dir, ErrExists)
	}
	stale, err := adminOf(p.common, p.Dir)
	if errors.Is(err, ErrNotRegistered) {
		return nil
	}
	if err != nil {
		return err
	}
	if stale.locked() {
		return fmt.Errorf("worktree %q: %w", p.Dir, ErrLocked)
	}
	p.stale = stale
	return nil
}

// startOf finds the commit to check out.
func (g *Git) startOf(ctx context.Context, n NewTree) (string, error) {
	name, start, err := n.Base, "", error(nil)
	switch {
	case n.Branch != "" && !n.Create:
		name = n.Branch
		start, err = g.commit(ctx, n.Repo, "refs/heads/"+name)
	case name == "":
		name = "HEAD"
		start, err = g.commit(ctx, n.Repo, name)
	default:
		start, err = g.resolveBase(ctx, n.Repo, name)
	}
	if err != nil || start != "" {
		return start, err
	}
	head, err := g.Head(ctx, n.Repo)
	if err != nil {
		return "", err
	}
	if head.Unborn && (name == "HEAD" || name == head.Branch) {
		return "", ErrUnborn
	}
	return "", &NoSuchRefError{Ref: name}
}

// resolveBase resolves a name as people mean it: a branch first, then a remote branch, then whatever
// git makes of it. It gives "" when there is nothing of that name.
func (g *Git) resolveBase(ctx context.Context, dir, base string) (string, error) {
	if base == "" || strings.ContainsAny(base, "\x00\n") {
		return "", nil
	}
	names := []string{"refs/heads/" + base, "refs/remotes/" + base, base}
	out, err := g.run(ctx, call{
		dir: dir, args: []string{"cat-file", "--batch-check=%(objectname)"}, read: true,
		stdin: strings.NewReader(strings.Join(names, "^{commit}\n") + "^{commit}\n"),
	})
	if err != nil {
		return "", g.explain(dir, err)
	}
	for _, line := range strings.Split(string(out.Stdout), "\n") {
		if len(line) >= 40 && strings.Trim(line, "0123456789abcdef") == "" {
			return line, nil
		}
	}
	return "", nil
}

// commonOf finds the folder that all checkouts of a repository share.
func (g *Git) commonOf(ctx context.Context, repo string) (string, error) {
	if gitDir, err := gitDirAt(repo); err == nil {
		if common, err := commonDirOf(gitDir); err == nil && looksBare(common) {
			return canonical(common), nil
		}
	}
	r, err := g.Identify(ctx, repo)
	return r.CommonDir, err
}

// makeTree writes: branch, registration, files. What it made is in the plan, for undoTree.
func (g *Git) makeTree(ctx context.Context, p *treePlan) (fromSpare bool, err error) {
	if err := g.register(ctx, p); err != nil {
		return false, err
	}
	if p.Spare != "" {
		if fromSpare, err = g.claim(ctx, p); fromSpare || err != nil {
			return fromSpare, err
		}
	}
	if err := g.link(ctx, p); err != nil {
		return false, err
	}
	return false, g.checkout(ctx, p)
}

// register drops the stale registration and makes the branch.
func (g *Git) register(ctx context.Context, p *treePlan) error {
	release, err := g.holdRepo(ctx, p.common)
	if err != nil {
		return err
	}
	defer release()
	if p.stale.path != "" {
		if err := p.stale.drop(p.common); err != nil {
			return err
		}
	}
	for parent := filepath.Dir(p.Dir); !exists(parent); parent = filepath.Dir(parent) {
		p.madeDirs = parent
	}
	if err := os.MkdirAll(filepath.Dir(p.Dir), 0o755); err != nil {
		return err
	}
	if !p.Create {
		return nil
	}
	base := p.Base
	if base == "" {
		base = "HEAD"
	}
	// The zero value makes git refuse a branch that came up meanwhile, so what is there is ours.
	_, err = g.runLocal(ctx, p.Repo, "update-ref", "--create-reflog", "-m", "branch: Created from "+base,
		"refs/heads/"+p.Branch, p.start, strings.Repeat("0", len(p.start)))
	if err == nil {
		p.branched = true
		return nil
	}
	if nameErr := g.checkName(ctx, p.Repo, p.Branch); nameErr != nil {
		return nameErr
	}
	if freeErr := g.nameFree(ctx, p.Repo, p.Branch, ""); freeErr != nil {
		return freeErr
	}
	return err
}

// link registers Dir as a worktree without files.
func (g *Git) link(ctx context.Context, p *treePlan) error {
	release, err := g.holdRepo(ctx, p.common)
	if err != nil {
		return err
	}
	defer release()
	if err := p.checkDir(); err != nil {
		return err // someone else came first
	}
	p.linked = true
	p.Progress("Registering the worktree")
	args := []string{"worktree", "add", "--no-checkout"}
	if p.Branch == "" {
		args = append(args, "--detach", "--", p.Dir, p.start)
	} else {
		args = append(args, "--", p.Dir, p.Branch)
	}
	_, err = g.runLocal(ctx, p.Repo, args...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if a, adminErr := adminOf(p.common, p.Dir); adminErr == nil && a.linkedFrom(p.Dir) {
		return nil
	}
	if err == nil {
		return fmt.Errorf("git registered nothing at %q", p.Dir)
	}
	// The branch may have been taken since we looked.
	if held, _, heldErr := g.holders(ctx, p.Repo); heldErr == nil && held[p.Branch] != "" {
		return &HeldError{Branch: p.Branch, Dir: held[p.Branch]}
	}
	return err
}

// runLocal runs a write that may reach no network.
func (g *Git) runLocal(ctx context.Context, dir string, args ...string) (Output, error) {
	return g.run(ctx, call{dir: dir, args: args, offline: true})
}

// undoTree removes what makeTree made, and only that.
func (g *Git) undoTree(p *treePlan) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	// What can't be removed stays visible: as a folder, or as a worktree that git lists.
	if p.linked {
		_ = removeTree(p.Dir)
		if a, err := adminOf(p.common, p.Dir); err == nil {
			_ = a.drop(p.common)
		}
	}
	if p.linked && p.hadDir {
		_ = os.MkdirAll(p.Dir, 0o755)
	}
	if p.branched {
		_, _ = g.runLocal(ctx, p.Repo, "update-ref", "-d", "refs/heads/"+p.Branch, p.start)
	}
	if p.madeDirs != "" {
		for dir := filepath.Dir(p.Dir); len(dir) >= len(p.madeDirs); dir = filepath.Dir(dir) {
			if os.Remove(dir) != nil {
				break
			}
		}
	}
}

// removeTree removes a folder, also one with read-only folders in it.
func removeTree(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// dropTries is how often a registration is removed again when something appeared in it meanwhile.
const dropTries = 100

// drop removes the registration, and the folder of registrations when it was the last, as git does.
func (a admin) drop(common string) error {
	if filepath.Dir(a.path) != filepath.Join(common, "worktrees") {
		return fmt.Errorf("forget worktree %q: its registration %q is not in %q", a.dir, a.path, common)
	}
	err := os.RemoveAll(a.path)
	for range dropTries {
		if !errors.Is(err, fs.ErrExist) { // it is not empty: a git that was at work there wrote its index meanwhile
			break
		}
		err = os.RemoveAll(a.path)
	}
	if err != nil {
		return fmt.Errorf("forget worktree %q: %w", a.dir, err)
	}
	_ = os.Remove(filepath.Join(common, "worktrees")) // only goes when empty
	return nil
}
