package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Repo says which repository a folder belongs to. Paths are canonical. Two folders are in the same
// repository exactly if their CommonDir is the same.
type Repo struct {
	Top       string // the checkout's top folder; "" in a bare repository or inside a git folder
	GitDir    string // this checkout's own git folder
	CommonDir string // what all checkouts of the repository share
	Main      string // the main checkout's top folder; "" when the main repository is bare
	Bare      bool   // the main repository is bare
	Linked    bool   // Top is a linked worktree
}

// Identify says which repository dir is in. Git walks up: compare Top with dir before using it as a
// checkout. It fails with ErrNotRepo, or ErrNotOwner where git refuses another user's repository.
func (g *Git) Identify(ctx context.Context, dir string) (Repo, error) {
	out, err := g.Read(ctx, dir, "rev-parse", "--is-inside-work-tree", "--absolute-git-dir", "--git-common-dir", "--show-toplevel")
	var failed *Error
	if err != nil && !errors.As(err, &failed) {
		return Repo{}, g.startError(dir, err)
	}
	// Outside of a work tree the last question fails, after the others have been answered.
	lines := strings.Split(strings.TrimSuffix(string(out.Stdout), "\n"), "\n")
	inside := lines[0] == "true"
	if want := 3; len(lines) < want || inside && len(lines) != 4 || !inside && len(lines) != want {
		if err == nil {
			return Repo{}, fmt.Errorf("identify %q: a path of the repository holds a line break", dir)
		}
		return Repo{}, g.explain(dir, err)
	}
	common := lines[2]
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	r := Repo{GitDir: canonical(lines[1]), CommonDir: canonical(common)}
	if inside {
		r.Top = canonical(lines[3])
	}
	r.Linked = r.GitDir != r.CommonDir
	if inside && !r.Linked {
		r.Main = r.Top
		return r, nil
	}
	trees, err := g.Worktrees(ctx, dir)
	if err != nil {
		return Repo{}, err
	}
	if len(trees) > 0 {
		r.Bare = trees[0].Bare
		if !r.Bare {
			r.Main = trees[0].Dir
		}
	}
	return r, nil
}

// startError explains why git could not even start in dir: mostly since dir is gone.
func (g *Git) startError(dir string, err error) error {
	return g.explain(dir, err)
}

// CheckBare reports that a checkout's repository has been turned bare by mistake, which makes git
// refuse every command there. A hook that runs git init with inherited variables does that. The mend
// is: git config core.bare false.
func (g *Git) CheckBare(ctx context.Context, repo string) (broken bool, err error) {
	gitDir, err := gitDirAt(repo)
	if err != nil {
		if looksBare(repo) {
			return false, nil
		}
		return false, fmt.Errorf("open %q: %w", repo, ErrNotRepo)
	}
	common, err := commonDirOf(gitDir)
	if err != nil {
		return false, fmt.Errorf("open %q: %w", repo, err)
	}
	// Only a repository with a main checkout has an index in its common folder.
	if !exists(filepath.Join(common, "index")) || filepath.Base(common) != ".git" {
		return false, nil
	}
	out, err := g.run(ctx, call{dir: common, read: true, plain: true,
		args: []string{"config", "--file", filepath.Join(common, "config"), "--type=bool", "--get", "core.bare"}})
	var failed *Error
	if errors.As(err, &failed) {
		return false, nil // not set
	}
	return err == nil && strings.TrimSpace(string(out.Stdout)) == "true", err
}
