package workspaces

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Pin keeps a workspace above all projects, or puts it back under its own. It begins at the top of where
// it comes to.
func (r *Registry) Pin(ctx context.Context, id string, pinned bool) error {
	res, err := r.db.ExecContext(ctx, `UPDATE workspaces SET pinned = ?1, position = CASE WHEN pinned = ?1 THEN position ELSE 0 END
		WHERE id = ?2`, pinned, id)
	return changed(res, err, "pin workspace", id)
}

// Place puts a workspace before another of its siblings, or last where before is "". It returns the
// workspaces whose position is another one now; before must be a sibling, else it is ErrNotFound.
func (r *Registry) Place(ctx context.Context, id, before string) ([]string, error) {
	all, err := r.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	row := Siblings(all, id)
	if row == nil {
		return nil, fmt.Errorf("place workspace %q: %w", id, ErrNotFound)
	}
	have := map[string]int{}
	ids := make([]string, 0, len(row))
	for _, w := range row {
		have[w.ID] = w.Position
		ids = append(ids, w.ID)
	}
	return r.place(ctx, "workspaces", have, ids, id, before)
}

// PlaceProject puts a project before another, or last where before is "". It returns the projects whose
// position is another one now.
func (r *Registry) PlaceProject(ctx context.Context, id, before string) ([]string, error) {
	all, err := r.Projects(ctx)
	if err != nil {
		return nil, err
	}
	have := map[string]int{}
	ids := make([]string, 0, len(all))
	for _, p := range all {
		have[p.ID] = p.Position
		ids = append(ids, p.ID)
	}
	return r.place(ctx, "projects", have, ids, id, before)
}

// place moves id before another one and numbers all anew, from 1.
func (r *Registry) place(ctx context.Context, table string, have map[string]int, ids []string, id, before string) ([]string, error) {
	_, known := have[id]
	at := len(ids) - 1
	ids = slices.DeleteFunc(ids, func(one string) bool { return one == id })
	if before != "" {
		at = slices.Index(ids, before)
	}
	if !known || at < 0 {
		return nil, fmt.Errorf("place %q in %s: %w", id, table, ErrNotFound)
	}
	ids = slices.Insert(ids, at, id)
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("place %q in %s: %w", id, table, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit this does nothing
	var moved []string
	for i, one := range ids {
		if have[one] == i+1 {
			continue
		}
		if _, err := tx.ExecContext(ctx, `UPDATE `+table+` SET position = ? WHERE id = ?`, i+1, one); err != nil {
			return nil, fmt.Errorf("place %q in %s: %w", id, table, err)
		}
		moved = append(moved, one)
	}
	if err := tx.Commit(); err != nil {
		return nil, fmt.Errorf("place %q in %s: %w", id, table, err)
	}
	return moved, nil
}

// Siblings returns the workspaces of all among which the person arranges the one with the id, itself too,
// in the order that the sidebar shows: the pinned ones, or those of its project under the same parent. It
// is nil for one that is archived or not there.
func Siblings(all []Workspace, id string) []Workspace {
	shown := map[string]Workspace{}
	for _, w := range all {
		if w.ArchivedAt == nil {
			shown[w.ID] = w
		}
	}
	self, ok := shown[id]
	if !ok {
		return nil
	}
	// A parent that is pinned shows elsewhere, so its children stand by themselves.
	parent := func(w Workspace) string {
		if up, ok := shown[w.ParentID]; ok && !up.Pinned && up.ProjectID == w.ProjectID {
			return up.ID
		}
		return ""
	}
	var row []Workspace
	for _, w := range shown {
		if w.Pinned != self.Pinned || !w.Pinned && (w.ProjectID != self.ProjectID || parent(w) != parent(self)) {
			continue
		}
		row = append(row, w)
	}
	slices.SortFunc(row, arranged)
	return row
}

// arranged orders workspaces: those that nobody placed by hand are the newest, at the top.
func arranged(a, b Workspace) int {
	return cmp.Or(cmp.Compare(a.Position, b.Position), b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.Name, b.Name))
}
