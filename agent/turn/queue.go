package turn

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Queue keeps the messages that wait for a turn to end, over restarts. A message is taken by
// recording it first and removing it then; one that is in both was recorded.
type Queue interface {
	// List gives them in the order in which they were added.
	List(ctx context.Context) ([]Queued, error)
	// Add puts one last. Adding an id that is there changes nothing.
	Add(ctx context.Context, q Queued) error
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
		`SELECT id, text, created_at FROM queue WHERE workspace_id = ? ORDER BY position, created_at`, q.workspace)
	if err != nil {
		return nil, fmt.Errorf("list queue of %q: %w", q.workspace, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var m Queued
		var at int64
		if err := rows.Scan(&m.ID, &m.Text, &at); err != nil {
			return nil, fmt.Errorf("list queue of %q: %w", q.workspace, err)
		}
		m.At = time.UnixMilli(at).UTC()
		out = append(out, m)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list queue of %q: %w", q.workspace, err)
	}
	return out, nil
}

func (q dbQueue) Add(ctx context.Context, m Queued) error {
	_, err := q.db.ExecContext(ctx, `INSERT INTO queue (id, workspace_id, position, text, created_at)
		SELECT ?1, ?2, COALESCE((SELECT MAX(position) FROM queue WHERE workspace_id = ?2), 0) + 1, ?3, ?4
		WHERE NOT EXISTS (SELECT 1 FROM queue WHERE workspace_id = ?2 AND id = ?1)`,
		m.ID, q.workspace, m.Text, m.At.UnixMilli())
	if err != nil {
		return fmt.Errorf("queue message %q: %w", m.ID, err)
	}
	return nil
}

func (q dbQueue) Remove(ctx context.Context, id string) error {
	if _, err := q.db.ExecContext(ctx, `DELETE FROM queue WHERE workspace_id = ? AND id = ?`, q.workspace, id); err != nil {
		return fmt.Errorf("remove queued message %q: %w", id, err)
	}
	return nil
}
