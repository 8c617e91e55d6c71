package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Tree is one registered checkout of a repository. The main one comes first.
type Tree struct {
	Dir      string // canonical
	Branch   string // "" when detached or bare
	Commit   string // "" when unborn or bare
	Bare     bool   // the main repository, which has no checkout
	Detached bool
	Locked   bool
	Prunable bool // its folder or link is gone
}

// Worktrees lists the checkouts of the repository that dir is in. It fails with ErrNotRepo.
func (g *Git) Worktrees(ctx context.Context, dir string) ([]Tree, error) {
	args := []string{"worktree", "list", "--porcelain"}
	end := "\n"
	if g.atLeast(2, 36) {
		args, end = append(args, "-z"), "\x00"
	}
	out, err := g.Read(ctx, dir, args...)
	for try := 0; err != nil && try < listTries && hasWorktrees(dir); try++ {
		if !pause(ctx, listPause) {
			break
		}
		out, err = g.Read(ctx, dir, args...)
	}
	if err != nil {
		return nil, g.explain(dir, err)
	}
	return parseTrees(string(out.Stdout), end), nil
}

// Git dies of a registration that another process is just making: its files are there before their
// content is. Nothing tells when it is whole, but that takes milliseconds.
const (
	listTries = 5
	listPause = 20 * time.Millisecond
)

func hasWorktrees(dir string) bool {
	gitDir, err := gitDirAt(dir)
	if err != nil {
		return looksBare(dir) && exists(filepath.Join(dir, "worktrees"))
	}
	common, err := commonDirOf(gitDir)
	return err == nil && exists(filepath.Join(common, "worktrees"))
}

// pause waits, and says false when the context ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func parseTrees(text, end string) []Tree {
	var trees []Tree
	for _, record := range strings.Split(text, end+end) {
		var t Tree
		for _, line := range strings.Split(record, end) {
			key, value, _ := strings.Cut(line, " ")
			switch key {
			case "worktree":
				t.Dir = canonical(value)
			case "HEAD":
				if strings.Trim(value, "0") != "" {
					t.Commit = value
				}
			case "branch":
				t.Branch = strings.TrimPrefix(value, "refs/heads/")
			case "bare":
				t.Bare = true
			case "detached":
				t.Detached = true
			case "locked":
				t.Locked = true
			case "prunable":
				t.Prunable = true
			}
		}
		if t.Dir != "" {
			trees = append(trees, t)
		}
	}
	return trees
}

// holders lists which checkout holds each branch: checked out, or to be returned to by a rebase or
// bisect that is under way there.
func (g *Git) holders(ctx context.Context, dir string) (map[string]string, []Tree, error) {
	trees, err := g.Worktrees(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	held := map[string]string{}
	for i := len(trees) - 1; i >= 0; i-- {
		t := trees[i]
		if t.Bare {
			continue
		}
		if t.Branch != "" {
			held[t.Branch] = t.Dir
		}
		if gitDir, err := gitDirAt(t.Dir); err == nil {
			if branch := returnsTo(gitDir); branch != "" {
				held[branch] = t.Dir
			}
		}
	}
	return held, trees, nil
}

// returnsTo is the branch that a rebase or bisect in a checkout comes back to.
func returnsTo(gitDir string) string {
	for _, name := range []string{"rebase-merge/head-name", "rebase-apply/head-name"} {
		if text, err := readFile(filepath.Join(gitDir, name)); err == nil {
			if branch, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "refs/heads/"); ok {
				return branch
			}
		}
	}
	text, err := readFile(filepath.Join(gitDir, "BISECT_START"))
	if err != nil {
		return ""
	}
	start := strings.TrimSpace(string(text))
	if len(start) >= 40 && strings.Trim(start, "0123456789abcdef") == "" {
		return ""
	}
	return strings.TrimPrefix(start, "refs/heads/")
}

// admin is the registration of a linked worktree: a folder below worktrees in the common folder.
type admin struct {
	path string // canonical
	dir  string // where it says that the worktree is, canonical
}

func (a admin) locked() bool { return exists(filepath.Join(a.path, "locked")) }

// admins reads all registrations. Damaged ones are left out.
func admins(common string) ([]admin, error) {
	entries, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list worktrees of %q: %w", common, err)
	}
	var list []admin
	for _, e := range entries {
		path := filepath.Join(common, "worktrees", e.Name())
		text, err := readFile(filepath.Join(path, "gitdir"))
		if err != nil {
			continue
		}
		list = append(list, admin{path: path, dir: canonical(filepath.Dir(resolve(path, string(text))))})
	}
	return list, nil
}

// adminOf finds the registration for dir, which need not exist. It fails with ErrNotRegistered.
func adminOf(common, dir string) (admin, error) {
	list, err := admins(common)
	if err != nil {
		return admin{}, err
	}
	want := canonical(dir)
	for _, a := range list {
		if a.dir == want {
			return a, nil
		}
	}
	return admin{}, fmt.Errorf("worktree %q: %w", dir, ErrNotRegistered)
}

// linkedFrom reports whether dir holds a link to that registration.
func (a admin) linkedFrom(dir string) bool {
	gitDir, err := gitDirAt(dir)
	return err == nil && canonical(gitDir) == a.path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
