package workspaces

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"carrel/store"
	"carrel/workspaces/git"
)

// registered finds a project's worktree by the folder under which git knows it, there or not.
func (d *Desks) registered(ctx context.Context, p Project, dir string) (git.Tree, bool, error) {
	trees, err := d.git.Worktrees(ctx, p.Path)
	for _, t := range trees {
		if t.Dir == dir {
			return t, true, err
		}
	}
	return git.Tree{}, false, err
}

// noteMove notes from where a worktree is being moved, until moved is called: a worktree without a branch
// has nothing else to be known by.
func (d *Desks) noteMove(w Workspace) (moved func(), err error) {
	if _, err := d.root.SessionDir(w.ID); err != nil {
		return nil, err
	}
	note := d.movePath(w.ID)
	if err := store.WriteFile(note, []byte(w.Dir+"\n"), 0o600); err != nil {
		return nil, err
	}
	return func() { _ = os.Remove(note) }, nil // an old note names a folder that is no longer there
}

// movedFrom is the folder from which a worktree was being moved when the process died; "" when none was.
func (d *Desks) movedFrom(id string) string {
	from, err := pointerText(d.movePath(id))
	if err != nil {
		return ""
	}
	return from
}

func (d *Desks) movePath(id string) string { return d.root.Path("sessions", id, "moved-from") }

// lostTree finds the worktree that is w's although w's row places it elsewhere: below the project's
// own source folder, there, no other workspace's, and either in the folder from which w was being moved
// or on w's branch.
func lostTree(trees []git.Tree, others []Workspace, source, from string, w Workspace) (git.Tree, bool) {
	for _, t := range trees {
		mine := t.Dir == from || w.Branch != "" && t.Branch == w.Branch
		if !mine || filepath.Dir(t.Dir) != source || !isFolder(t.Dir) {
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
