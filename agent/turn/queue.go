package turn

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"carrel/agent/model"
)

// Queue keeps the messages that wait, over restarts. A message is taken by recording it first and
// removing it then; one that is in both was recorded.
type Queue interface {
	// List gives them in their order.
	List(ctx context.Context) ([]Queued, error)
	// Add puts one last. Adding an id that is there changes nothing.
	Add(ctx context.Context, q Queued) error
	// Change replaces text and dispatch of one; one that is not there is no error.
	Change(ctx context.Context, id, text string, d Dispatch) error
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

func (q dbQueue) Change(ctx context.Context, id, text string, d Dispatch) error {
	_, err := q.db.ExecContext(ctx, `UPDATE queue SET text = ?, dispatch = ? WHERE workspace_id = ? AND id = ?`,
		text, string(d), q.workspace, id)
	if err != nil {
		return fmt.Errorf("change queued message %q: %w", id, err)
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

// queued makes the form in which a message waits. It keeps the message's files, so it may take a
// while: it runs on the sender's goroutine.
func (c *Conversation) queued(m Message) (Queued, error) {
	q := Queued{ID: m.ID, Text: m.Text, At: c.cfg.Now().UTC(), Dispatch: m.Dispatch, Choice: m.Choice}
	if q.ID == "" {
		q.ID = newID()
	}
	if q.Dispatch != AfterTurn {
		q.Dispatch = AfterStep
	}
	for _, f := range m.Files {
		p, err := c.keepFile(f)
		if err != nil {
			return Queued{}, err
		}
		q.parts = append(q.parts, p)
	}
	q.Files = len(q.parts)
	return q, nil
}

// keepFile puts a file of a message into the blobs.
func (c *Conversation) keepFile(f model.Part) (model.Part, error) {
	p := model.Part{Kind: model.File, Mime: f.Mime, Blob: f.Blob, Name: f.Name}
	if f.Data == nil {
		return p, nil
	}
	hash, err := c.log.PutBlob(f.Data, f.Mime)
	if err != nil {
		return model.Part{}, fmt.Errorf("attach %q: %w", f.Name, err)
	}
	p.Blob = hash
	return p, nil
}

// message is the form in which a queued message enters the log.
func (q *Queued) message() *model.Message {
	m := &model.Message{Role: model.User}
	if q.Text != "" || len(q.parts) == 0 {
		m.Parts = append(m.Parts, model.Part{Kind: model.Text, Text: q.Text})
	}
	m.Parts = append(m.Parts, q.parts...)
	return m
}

// RemoveQueued takes a message out of the queue. One that is not there is no error.
func (c *Conversation) RemoveQueued(ctx context.Context, id string) error {
	return c.ask(ctx, func(done func(error)) {
		err := c.withQueue(func(ctx context.Context) error { return c.cfg.Queue.Remove(ctx, id) })
		if err == nil {
			c.dropQueued(id)
			c.tell()
		}
		done(err)
	})
}

// EditQueued changes text or dispatch of a message in the queue; nil leaves as is. ErrNotQueued is
// wrapped when it is not there any more.
func (c *Conversation) EditQueued(ctx context.Context, id string, text *string, d *Dispatch) error {
	return c.ask(ctx, func(done func(error)) { done(c.editQueued(id, text, d)) })
}

func (c *Conversation) editQueued(id string, text *string, d *Dispatch) error {
	i := slices.IndexFunc(c.queue, func(q Queued) bool { return q.ID == id })
	if i < 0 {
		return fmt.Errorf("edit queued message %q: %w", id, ErrNotQueued)
	}
	q := c.queue[i]
	if text != nil {
		q.Text = *text
	}
	if d != nil && *d == AfterTurn {
		q.Dispatch = AfterTurn
	} else if d != nil {
		q.Dispatch = AfterStep
	}
	if err := c.withQueue(func(ctx context.Context) error { return c.cfg.Queue.Change(ctx, id, q.Text, q.Dispatch) }); err != nil {
		return err
	}
	c.queue = slices.Clone(c.queue) // hosts may hold the old one
	c.queue[i] = q
	c.tell()
	return nil
}

// MoveQueued puts a message before another one of the queue, or last when before is "". ErrNotQueued
// is wrapped when either is not there any more.
func (c *Conversation) MoveQueued(ctx context.Context, id, before string) error {
	return c.ask(ctx, func(done func(error)) { done(c.moveQueued(id, before)) })
}

func (c *Conversation) moveQueued(id, before string) error {
	if id == before {
		return nil
	}
	at := func(queue []Queued, id string) int {
		return slices.IndexFunc(queue, func(q Queued) bool { return q.ID == id })
	}
	from := at(c.queue, id)
	if from < 0 {
		return fmt.Errorf("move queued message %q: %w", id, ErrNotQueued)
	}
	q := c.queue[from]
	queue := slices.Delete(slices.Clone(c.queue), from, from+1)
	to := len(queue)
	if before != "" {
		if to = at(queue, before); to < 0 {
			return fmt.Errorf("move before queued message %q: %w", before, ErrNotQueued)
		}
	}
	queue = slices.Insert(queue, to, q)
	ids := make([]string, len(queue))
	for i := range queue {
		ids[i] = queue[i].ID
	}
	if err := c.withQueue(func(ctx context.Context) error { return c.cfg.Queue.Order(ctx, ids) }); err != nil {
		return err
	}
	c.queue = queue
	c.tell()
	return nil
}
