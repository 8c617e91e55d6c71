package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// modulesName is the folder in a git folder that holds the repositories of submodules. That of a linked
// worktree goes with it.
const modulesName = "modules"

// moduleDirs lists the repositories of submodules below a git folder, by their paths below its modules
// folder. One whose submodule is not checked out any more is among them.
func moduleDirs(gitDir string) (names []string, err error) {
	top := filepath.Join(gitDir, modulesName)
	err = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		switch {
		case path == top && errors.Is(err, fs.ErrNotExist):
			return fs.SkipAll
		case err != nil:
			return err
		case !e.IsDir() || !looksBare(path):
			return nil
		}
		name, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		names = append(names, name)
		below, err := moduleDirs(path)
		if err != nil {
			return err
		}
		for _, deeper := range below {
			names = append(names, filepath.Join(name, modulesName, deeper))
		}
		return fs.SkipDir
	})
	if err != nil {
		return nil, fmt.Errorf("list the submodules of %q: %w", gitDir, err)
	}
	return names, nil
}

// lookAtModules adds the commits of submodules that the checkout has no more, such as those of a branch
// that was left.
func (i *inspection) lookAtModules(ctx context.Context, gitDir string) error {
	names, err := moduleDirs(gitDir)
	if err != nil || len(names) == 0 {
		return err
	}
	common, err := commonDirOf(gitDir)
	if err != nil || canonical(common) == canonical(gitDir) { // those of a main checkout stay
		return err
	}
	for _, name := range names {
		module := filepath.Join(gitDir, modulesName, name)
		if i.seen[canonical(module)] {
			continue
		}
		p := place{dir: module, prefix: name + "/", depth: 1}
		// Its HEAD may be where the superproject had it, on no branch; then the main checkout knows it.
		if head, err := i.g.commit(ctx, module, "HEAD"); err == nil && head != "" {
			if known, err := i.g.commit(ctx, filepath.Join(common, modulesName, name), head); err == nil && known == head {
				p.given = head
			}
		}
		if err := i.g.inspectCommits(ctx, p, module, status{}, i.r); err != nil {
			return err
		}
	}
	return nil
}
