package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// RepairTree links a folder and its registration again when one of them lost the other: the folder's
// .git file is gone or names another place, or the folder was moved by hand. No other file is touched.
// It fails with ErrNotRegistered when no registration is left (see AdoptTree), and with ErrInUse when
// the registration belongs to another folder, as after copying a worktree.
func (g *Git) RepairTree(ctx context.Context, repo, dir string) error {
	common, err := g.commonOf(ctx, repo)
	if err != nil {
		return fmt.Errorf("repair worktree %q: %w", dir, err)
	}
	release, err := g.holdRepo(ctx, common)
	if err != nil {
		return err
	}
	defer release()
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("repair worktree %q: %w", dir, err)
	}
	if dot, err := os.Lstat(filepath.Join(dir, ".git")); !info.IsDir() || err == nil && dot.IsDir() {
		return fmt.Errorf("repair worktree %q: it is no linked worktree: %w", dir, ErrNotRegistered)
	}
	if a, err := adminOf(common, dir); err == nil {
		if a.linkedFrom(dir) {
			return nil
		}
		return a.writeLink(dir)
	}
	// Moved by hand: the folder still knows its registration.
	gitDir, err := gitDirAt(dir)
	if err != nil {
		return fmt.Errorf("repair worktree %q: %w", dir, ErrNotRegistered)
	}
	list, err := admins(common)
	if err != nil {
		return err
	}
	for _, a := range list {
		if a.path != canonical(gitDir) {
			continue
		}
		if a.linkedFrom(a.dir) {
			return fmt.Errorf("repair worktree %q: %q is the same worktree: %w", dir, a.dir, ErrInUse)
		}
		return a.pointTo(canonical(dir))
	}
	return fmt.Errorf("repair worktree %q: %w", dir, ErrNotRegistered)
}

// AdoptTree registers a folder of files, whose registration is gone, as a worktree on an existing
// branch or, when branch is "", detached at base. The files stay as they are: what differs shows as
// changes. It fails with *HeldError, *NoSuchRefError or ErrExists when the folder is registered or has a
// .git folder.
func (g *Git) AdoptTree(ctx context.Context, repo, dir, branch, base string) error {
	common, err := g.commonOf(ctx, repo)
	if err != nil {
		return fmt.Errorf("adopt %q: %w", dir, err)
	}
	dir = canonical(dir)
	if _, err := adminOf(common, dir); err == nil {
		return fmt.Errorf("adopt %q: it is registered: %w", dir, ErrExists)
	}
	if dot, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && dot.IsDir() {
		return fmt.Errorf("adopt %q: it is a repository: %w", dir, ErrExists)
	}
	// A worktree without files beside it, whose registration then moves over.
	beside, err := os.MkdirTemp(filepath.Dir(dir), ".adopt-")
	if err != nil {
		return fmt.Errorf("adopt %q: %w", dir, err)
	}
	defer func() { _ = os.RemoveAll(beside) }()
	p, err := g.planTree(ctx, NewTree{Repo: repo, Dir: beside, Branch: branch, Base: base, Progress: func(string) {}})
	if err == nil {
		err = g.link(ctx, p)
	}
	if err != nil {
		return fmt.Errorf("adopt %q: %w", dir, err)
	}
	a, err := adminOf(common, beside)
	if err == nil {
		err = a.pointTo(dir)
	}
	if err == nil {
		err = a.writeLink(dir)
	}
	if err != nil {
		g.undoTree(p)
		return fmt.Errorf("adopt %q: %w", dir, err)
	}
	// The index gets what the branch holds; the files are not touched.
	if _, err := g.runLocal(ctx, dir, "read-tree", "--reset", "HEAD"); err != nil {
		return fmt.Errorf("adopt %q: %w", dir, err)
	}
	return g.refresh(ctx, dir)
}
