package workspaces

import (
	"context"
	"path/filepath"
	"strings"

	"carrel/workspaces/git"
)

// lostTree finds the worktree that is w's although w's row places it elsewhere: below the project's
// own source folder, there, on w's branch, and no other workspace's.
func lostTree(trees []git.Tree, others []Workspace, source string, w Workspace) (git.Tree, bool) {
	for _, t := range trees {
		if t.Branch != w.Branch || filepath.Dir(t.Dir) != source || !isFolder(t.Dir) {
			continue
		}
		taken := false
		for _, o := range others {
			taken = taken || o.Dir == t.Dir
		}
		if !taken {
			return t, true
		}
	}
	return git.Tree{}, false
}

// commit returns the id of the commit that a ref or a base names.
func (d *Desks) commit(ctx context.Context, p Project, ref string) (string, error) {
	out, err := d.git.Read(ctx, p.Path, "rev-parse", "--quiet", "--verify", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out.Stdout)), nil
}
