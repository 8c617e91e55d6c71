package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// MoveTree moves a linked worktree's folder, on one file system, and its registration. It fails with
// ErrNotRegistered, ErrLocked or ErrExists, and then has moved nothing.
func (g *Git) MoveTree(ctx context.Context, repo, from, to string) error {
	common, err := g.commonOf(ctx, repo)
	if err != nil {
		return fmt.Errorf("move worktree %q: %w", from, err)
	}
	release, err := g.holdRepo(ctx, common)
	if err != nil {
		return err
	}
	defer release()
	a, err := adminOf(common, from)
	if err != nil {
		return err
	}
	if a.locked() {
		return fmt.Errorf("move worktree %q: %w", from, ErrLocked)
	}
	if !a.linkedFrom(from) {
		return fmt.Errorf("move worktree %q: its folder does not link to the registration: %w", from, ErrNotRegistered)
	}
	subs := g.submoduleLinks(ctx, from, 0)
	if err := a.move(from, canonical(to)); err != nil {
		return fmt.Errorf("move worktree %q to %q: %w", from, to, err)
	}
	return g.relinkSubmodules(ctx, canonical(to), subs)
}

// move renames the folder and tells the registration. An empty folder at to is replaced.
func (a admin) move(from, to string) error {
	if entries, err := os.ReadDir(to); err == nil && len(entries) > 0 {
		return fmt.Errorf("folder %q: %w", to, ErrExists)
	} else if err == nil {
		if err := os.Remove(to); err != nil {
			return err
		}
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if err := a.pointTo(to); err != nil {
		// Back, so that folder and registration agree.
		_ = os.Rename(to, from)
		return err
	}
	// The link back may have been relative.
	if !a.linkedFrom(to) {
		return a.writeLink(to)
	}
	return nil
}

// pointTo makes the registration name dir.
func (a admin) pointTo(dir string) error {
	return replaceFile(filepath.Join(a.path, "gitdir"), filepath.Join(dir, ".git")+"\n")
}

// writeLink makes dir a checkout of the registration, touching nothing else in it.
func (a admin) writeLink(dir string) error {
	return replaceFile(filepath.Join(dir, ".git"), "gitdir: "+a.path+"\n")
}

// replaceFile writes a small file of git's in one step.
func replaceFile(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".carrel-")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
