package tool

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"carrel/workspaces/runtime"
)

// outside words the refusal of a path that leads out of the workspace. The usual mistake is a path
// of the project's main checkout while the agent works in a worktree, so it names the path to use.
func outside(ctx context.Context, env Env, path string) string {
	dir := env.Runtime.Dir()
	base := fmt.Sprintf("%s is outside this workspace, whose folder is %s.", path, dir)
	if !filepath.IsAbs(path) {
		return base + " Only files below that folder can be reached; a link that leads out of it is not followed."
	}
	if main := mainCheckout(ctx, env); main != "" {
		if rel, err := filepath.Rel(main, filepath.Clean(path)); err == nil && filepath.IsLocal(rel) {
			return fmt.Sprintf("%s is in the main checkout of the project; you work in the worktree %s. The path there is %s", path, dir, filepath.Join(dir, rel))
		}
	}
	parts := strings.Split(strings.Trim(filepath.Clean(path), string(filepath.Separator)), string(filepath.Separator))
	for i := range parts {
		rel := filepath.Join(parts[i:]...)
		if _, err := env.Runtime.Files().Stat(ctx, rel); err == nil && rel != "." {
			return fmt.Sprintf("%s The workspace has %s, in case that is meant.", base, filepath.Join(dir, rel))
		}
	}
	return base
}

// mainCheckout gives the folder of the main checkout when the workspace is a linked worktree: its
// .git file names the repository.
func mainCheckout(ctx context.Context, env Env) string {
	file, _, err := env.Runtime.Files().Open(ctx, ".git")
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, 8<<10))
	if err != nil {
		return ""
	}
	gitDir, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	if !ok {
		return ""
	}
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(env.Runtime.Dir(), gitDir)
	}
	main, _, ok := strings.Cut(filepath.ToSlash(gitDir), "/.git/worktrees/")
	if !ok {
		return ""
	}
	return filepath.FromSlash(main)
}

// Judged gives the context of a call that may use the files in these places alone, as it was decided.
func Judged(ctx context.Context, places []string) context.Context {
	return runtime.Judged(ctx, places...)
}
