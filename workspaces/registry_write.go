package workspaces

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// insertProject adds p unless a project with its path exists; the row that is there is returned.
func (r *Registry) insertProject(ctx context.Context, p Project) (Project, error) {
	_, err := r.db.ExecContext(ctx, `INSERT INTO projects (`+projectColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (path) DO NOTHING`,
		p.ID, p.Name, p.Path, p.Git, p.CommonDir, p.Trusted, p.AddedAt.UnixMilli(), p.Position)
	if err != nil {
		return Project{}, fmt.Errorf("add project %q: %w", p.Path, err)
	}
	return r.ProjectByPath(ctx, p.Path)
}

// updateProject writes the fields of p that can change: name, place and trust.
func (r *Registry) updateProject(ctx context.Context, p Project) error {
	res, err := r.db.ExecContext(ctx,
		`UPDATE projects SET name = ?, path = ?, is_git = ?, common_dir = ?, trusted = ? WHERE id = ?`,
		p.Name, p.Path, p.Git, p.CommonDir, p.Trusted, p.ID)
	return changed(res, err, "change project", p.ID)
}

// relocate writes p's new place and with it the folder of its local workspaces.
func (r *Registry) relocate(ctx context.Context, p Project) error {
	if err := r.updateProject(ctx, p); err != nil {
		return err
	}
	_, err := r.db.ExecContext(ctx, `UPDATE workspaces SET dir = ? WHERE project_id = ? AND runtime = 'local'`, p.Path, p.ID)
	if err != nil {
		return fmt.Errorf("relocate project %q: %w", p.ID, err)
	}
	return nil
}

func (r *Registry) setTrust(ctx context.Context, id string, trusted bool) error {
	res, err := r.db.ExecContext(ctx, `UPDATE projects SET trusted = ? WHERE id = ?`, trusted, id)
	return changed(res, err, "trust project", id)
}

// removeProject removes the row of a project that has no worktree workspaces, and those of its
// other workspaces. It removes nothing and says false when a worktree workspace exists.
func (r *Registry) removeProject(ctx context.Context, id string) (bool, error) {
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return false, fmt.Errorf("remove project %q: %w", id, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit this does nothing
	statements := []string{
		`DELETE FROM queue WHERE workspace_id IN (SELECT id FROM workspaces WHERE project_id = ?1 AND runtime = 'local')`,
		`DELETE FROM drafts WHERE workspace_id IN (SELECT id FROM workspaces WHERE project_id = ?1 AND runtime = 'local')`,
		`DELETE FROM workspaces WHERE project_id = ?1 AND runtime = 'local'`,
	}
	for _, s := range statements {
		if _, err := tx.ExecContext(ctx, s, id); err != nil {
			return false, fmt.Errorf("remove project %q: %w", id, err)
		}
	}
	res, err := tx.ExecContext(ctx,
		`DELETE FROM projects WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM workspaces WHERE project_id = ?1)`, id)
	if err != nil {
		return false, fmt.Errorf("remove project %q: %w", id, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return false, err
	}
	if err := tx.Commit(); err != nil {
		return false, fmt.Errorf("remove project %q: %w", id, err)
	}
	return true, nil
}

// insertWorkspace reserves w.Name in its project. It says false when the name is taken.
func (r *Registry) insertWorkspace(ctx context.Context, w Workspace) (bool, error) {
	res, err := r.db.ExecContext(ctx, `INSERT INTO workspaces (id, project_id, name, title, runtime, branch, made_branch,
		base, dir, model, level, init, creating, created_at, active_at, parent_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (project_id, name) DO NOTHING`,
		w.ID, w.ProjectID, w.Name, w.Title, string(w.Runtime), w.Branch, w.MadeBranch, w.Base, w.Dir, w.Model, w.Level,
		string(w.Init), w.Creating, w.CreatedAt.UnixMilli(), w.ActiveAt.UnixMilli(), w.ParentID)
	if err != nil {
		return false, fmt.Errorf("register workspace %q: %w", w.Name, err)
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// moveWorkspace writes name, folder and branch in one step. It says false when the name is taken.
func (r *Registry) moveWorkspace(ctx context.Context, w Workspace) (bool, error) {
	res, err := r.db.ExecContext(ctx, `UPDATE OR IGNORE workspaces SET name = ?, dir = ?, branch = ? WHERE id = ?`,
		w.Name, w.Dir, w.Branch, w.ID)
	if err != nil {
		return false, fmt.Errorf("rename workspace %q: %w", w.ID, err)
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

func (r *Registry) setTitle(ctx context.Context, id, title string) error {
	res, err := r.db.ExecContext(ctx, `UPDATE workspaces SET title = ? WHERE id = ?`, title, id)
	return changed(res, err, "title workspace", id)
}

func (r *Registry) setBase(ctx context.Context, id, base string) error {
	res, err := r.db.ExecContext(ctx, `UPDATE workspaces SET base = ? WHERE id = ?`, base, id)
	return changed(res, err, "set base of workspace", id)
}

// setInit notes how far the init hook is and, once it has ended by itself, its exit code; else noCode.
func (r *Registry) setInit(ctx context.Context, id string, s InitState, code int) error {
	res, err := r.db.ExecContext(ctx, `UPDATE workspaces SET init = ?, init_code = ? WHERE id = ?`, string(s), code, id)
	return changed(res, err, "note init hook of workspace", id)
}

// settle ends a workspace's creation and says what becomes of its init hook.
func (r *Registry) settle(ctx context.Context, id string, s InitState) error {
	res, err := r.db.ExecContext(ctx, `UPDATE workspaces SET creating = 0, init = ? WHERE id = ?`, string(s), id)
	return changed(res, err, "finish workspace", id)
}

// setArchived archives at a time, or unarchives with nil. It says false when that was so before.
func (r *Registry) setArchived(ctx context.Context, id string, at *time.Time) (bool, error) {
	var ms sql.NullInt64
	if at != nil {
		ms = sql.NullInt64{Int64: at.UnixMilli(), Valid: true}
	}
	res, err := r.db.ExecContext(ctx,
		`UPDATE workspaces SET archived_at = ?1 WHERE id = ?2 AND (archived_at IS NULL) != (?1 IS NULL)`, ms, id)
	if err != nil {
		return false, fmt.Errorf("archive workspace %q: %w", id, err)
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// ModelChoice is a workspace's model, provider:id, and how it is asked.
type ModelChoice struct {
	Model, Level string
	Pro, Cyber   bool
}

// SetModel chooses a workspace's model and how it is asked.
func (r *Registry) SetModel(ctx context.Context, id string, c ModelChoice) error {
	res, err := r.db.ExecContext(ctx, `UPDATE workspaces SET model = ?, level = ?, pro = ?, cyber = ? WHERE id = ?`,
		c.Model, c.Level, c.Pro, c.Cyber, id)
	return changed(res, err, "choose model of workspace", id)
}

// LevelOf is how hard a person last chose that a model thinks; false when nobody chose.
func (r *Registry) LevelOf(ctx context.Context, model string) (level string, chosen bool, err error) {
	err = r.db.QueryRowContext(ctx, `SELECT level FROM model_levels WHERE model = ?`, model).Scan(&level)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read level of model %q: %w", model, err)
	}
	return level, true, nil
}

// SetLevelOf notes how hard a person chose that a model thinks.
func (r *Registry) SetLevelOf(ctx context.Context, model, level string) error {
	_, err := r.db.ExecContext(ctx, `INSERT INTO model_levels (model, level) VALUES (?1, ?2)
		ON CONFLICT (model) DO UPDATE SET level = ?2`, model, level)
	if err != nil {
		return fmt.Errorf("note level of model %q: %w", model, err)
	}
	return nil
}

// SetAutoRetry says whether a workspace's failed requests are tried again by themselves.
func (r *Registry) SetAutoRetry(ctx context.Context, id string, on bool) error {
	res, err := r.db.ExecContext(ctx, `UPDATE workspaces SET auto_retry = ? WHERE id = ?`, on, id)
	return changed(res, err, "choose whether to retry in workspace", id)
}

// SetMode says how much a workspace's agent may do without a question; "" is as the settings say.
func (r *Registry) SetMode(ctx context.Context, id, mode string) error {
	res, err := r.db.ExecContext(ctx, `UPDATE workspaces SET mode = ? WHERE id = ?`, mode, id)
	return changed(res, err, "choose mode of workspace", id)
}

// SetBudget limits what a workspace may cost, in millionths of a dollar; nil takes the limit away.
func (r *Registry) SetBudget(ctx context.Context, id string, micro *int64) error {
	res, err := r.db.ExecContext(ctx, `UPDATE workspaces SET budget_micro = ? WHERE id = ?`, micro, id)
	return changed(res, err, "set budget of workspace", id)
}

// CopyWaiting gives a workspace copies of the messages that wait in another one, and of its draft.
func (r *Registry) CopyWaiting(ctx context.Context, from, to string) error {
	for _, s := range []string{
		`INSERT OR IGNORE INTO queue (workspace_id, id, position, text, dispatch, choice, files, created_at)
			SELECT ?2, id, position, text, dispatch, choice, files, created_at FROM queue WHERE workspace_id = ?1`,
		`INSERT OR REPLACE INTO drafts (workspace_id, text, files, updated_at)
			SELECT ?2, text, files, updated_at FROM drafts WHERE workspace_id = ?1`,
	} {
		if _, err := r.db.ExecContext(ctx, s, from, to); err != nil {
			return fmt.Errorf("copy what waits in workspace %q: %w", from, err)
		}
	}
	return nil
}

// Touch notes that something happened in a workspace.
func (r *Registry) Touch(ctx context.Context, id string, at time.Time) error {
	res, err := r.db.ExecContext(ctx, `UPDATE workspaces SET active_at = ? WHERE id = ?`, at.UnixMilli(), id)
	return changed(res, err, "touch workspace", id)
}

// removeWorkspace removes a workspace, its queued messages and its draft. Its usage stays: it was spent.
func (r *Registry) removeWorkspace(ctx context.Context, id string) error {
	for _, s := range []string{
		`DELETE FROM queue WHERE workspace_id = ?`,
		`DELETE FROM drafts WHERE workspace_id = ?`,
		`DELETE FROM workspaces WHERE id = ?`,
	} {
		if _, err := r.db.ExecContext(ctx, s, id); err != nil {
			return fmt.Errorf("remove workspace %q: %w", id, err)
		}
	}
	return nil
}

// trashed is a folder in the trash.
type trashed struct {
	path string
	at   time.Time
}

func (r *Registry) addTrash(ctx context.Context, t trashed) error {
	_, err := r.db.ExecContext(ctx, `INSERT INTO trash (path, deleted_at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		t.path, t.at.UnixMilli())
	if err != nil {
		return fmt.Errorf("note trash %q: %w", t.path, err)
	}
	return nil
}

func (r *Registry) trash(ctx context.Context) ([]trashed, error) {
	return collect(ctx, r.db, func(row row) (trashed, error) {
		var t trashed
		var at int64
		err := row.Scan(&t.path, &at)
		t.at = time.UnixMilli(at)
		return t, err
	}, `SELECT path, deleted_at FROM trash`)
}

func (r *Registry) removeTrash(ctx context.Context, path string) error {
	if _, err := r.db.ExecContext(ctx, `DELETE FROM trash WHERE path = ?`, path); err != nil {
		return fmt.Errorf("forget trash %q: %w", path, err)
	}
	return nil
}

// changed judges an UPDATE of one row by its id.
func changed(res sql.Result, err error, operation, id string) error {
	if err != nil {
		return fmt.Errorf("%s %q: %w", operation, id, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		if err == nil {
			err = ErrNotFound
		}
		return fmt.Errorf("%s %q: %w", operation, id, err)
	}
	return nil
}
