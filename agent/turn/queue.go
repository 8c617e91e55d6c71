package turn

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Queue keeps the messages that wait, over restarts. A message is taken by recording it first and
// removing it then; one that is in both was recorded.
type Queue interface {
	// List gives them in their order.
	List(ctx context.Context) ([]Queued, error)
	// Add puts one last. Adding an id that is there changes nothing.
	Add(ctx context.Context, q Queued) error
	// Change replaces text, dispatch, choice and files of the one with that id; one that is not there is no error.
	Change(ctx context.Context, q Queued) error
	// Order puts the messages into the order of ids, which are all of them.
	Order(ctx context.Context, ids []string) error
	// Remove removes one; one that is not there is no error.
	Remove(ctx context.Context, id string) error
}

type dbQueue struct {
	db        *sql.DB
	workspace string
}

// NewQueue gives the queue of a workspace in the registry's table queue.
func NewQueue(db *sql.DB, workspace string) Queue { return dbQueue{db, workspace} }

func (q dbQueue) List(ctx context.Context) (out []Queued, err error) {
	rows, err := q.db.QueryContext(ctx,
		`SELECT id, text, dispatch, choice, files, created_at FROM queue WHERE workspace_id = ? ORDER BY position, created_at`, q.workspace)
	if err != nil {
		return nil, fmt.Errorf("list queue of %q: %w", q.workspace, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var m Queued
		var choice, files sql.NullString
		var at int64
		if err := rows.Scan(&m.ID, &m.Text, &m.Dispatch, &choice, &files, &at); err != nil {
			return nil, fmt.Errorf("list queue of %q: %w", q.workspace, err)
		}
		m.At = time.UnixMilli(at).UTC()
		if err := errors.Join(decode(choice, &m.Choice), decode(files, &m.parts)); err != nil {
			return nil, fmt.Errorf("read queued message %q: %w", m.ID, err)
		}
		m.Files = len(m.parts)
		out = append(out, m)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list queue of %q: %w", q.workspace, err)
	}
	return out, nil
}

func (q dbQueue) Add(ctx context.Context, m Queued) error {
	choice, err := encode(m.Choice, m.Choice == nil)
	if err != nil {
		return fmt.Errorf("queue message %q: %w", m.ID, err)
	}
	files, err := encode(m.parts, len(m.parts) == 0)
	if err != nil {
		return fmt.Errorf("queue message %q: %w", m.ID, err)
	}
	_, err = q.db.ExecContext(ctx, `INSERT INTO queue (id, workspace_id, position, text, dispatch, choice, files, created_at)
		SELECT ?1, ?2, COALESCE((SELECT MAX(position) FROM queue WHERE workspace_id = ?2), 0) + 1, ?3, ?4, ?5, ?6, ?7
		WHERE NOT EXISTS (SELECT 1 FROM queue WHERE workspace_id = ?2 AND id = ?1)`,
		m.ID, q.workspace, m.Text, string(m.Dispatch), choice, files, m.At.UnixMilli())
	if err != nil {
		return fmt.Errorf("queue message %q: %w", m.ID, err)
	}
	return nil
}

func (q dbQueue) Change(ctx context.Context, m Queued) error {
	choice, err := encode(m.Choice, m.Choice == nil)
	files, bad := encode(m.parts, len(m.parts) == 0)
	if err = errors.Join(err, bad); err == nil {
		_, err = q.db.ExecContext(ctx, `UPDATE queue SET text = ?, dispatch = ?, choice = ?, files = ? WHERE workspace_id = ? AND id = ?`,
			m.Text, string(m.Dispatch), choice, files, q.workspace, m.ID)
	}
	if err != nil {
		return fmt.Errorf("change queued message %q: %w", m.ID, err)
	}
	return nil
}

func (q dbQueue) Order(ctx context.Context, ids []string) (err error) {
	tx, err := q.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("order queue of %q: %w", q.workspace, err)
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	for i, id := range ids {
		if _, err := tx.ExecContext(ctx, `UPDATE queue SET position = ? WHERE workspace_id = ? AND id = ?`,
			i+1, q.workspace, id); err != nil {
			return fmt.Errorf("order queue of %q: %w", q.workspace, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("order queue of %q: %w", q.workspace, err)
	}
	return nil
}

func (q dbQueue) Remove(ctx context.Context, id string) error {
	if _, err := q.db.ExecContext(ctx, `DELETE FROM queue WHERE workspace_id = ? AND id = ?`, q.workspace, id); err != nil {
		return fmt.Errorf("remove queued message %q: %w", id, err)
	}
	return nil
}

func encode(v any, none bool) (sql.NullString, error) {
	if none {
		return sql.NullString{}, nil
	}
	b, err := json.Marshal(v)
	return sql.NullString{String: string(b), Valid: true}, err
}

func decode[T any](s sql.NullString, v *T) error {
	if !s.Valid || s.String == "" {
		return nil
	}
	return json.Unmarshal([]byte(s.String), v)
}
