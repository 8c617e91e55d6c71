package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"carrel/store"
)

// Sync brings the index up to date, in batches, and returns when it is or when ctx ends. What was
// indexed until then stays. only limits it to some workspaces; none means all, and then the index
// also forgets the conversations that are gone.
func (x *Index) Sync(ctx context.Context, only ...string) error {
	select {
	case x.syncing <- struct{}{}:
		defer func() { <-x.syncing }()
	case <-ctx.Done():
		return fmt.Errorf("index the history: %w", ctx.Err())
	}
	if err := x.sync(ctx, only); err != nil {
		return fmt.Errorf("index the history: %w", err)
	}
	return nil
}

// work is a log that has more than the index.
type work struct {
	session Session
	pos     int64
	size    int64
	changed time.Time
}

func (x *Index) sync(ctx context.Context, only []string) error {
	listed, err := x.o.Sessions(ctx)
	if err != nil {
		return err
	}
	var known map[string]indexed
	err = x.with(ctx, func(c *store.Cache) error {
		known, err = readSessions(ctx, c)
		return err
	})
	if err != nil {
		return err
	}
	if len(only) == 0 {
		if err := x.forget(ctx, listed, known); err != nil {
			return err
		}
	} else {
		listed = slices.DeleteFunc(slices.Clone(listed), func(s Session) bool { return !slices.Contains(only, s.Workspace) })
	}
	todo := x.todo(listed, known)
	x.behind.Store(0)
	for _, w := range todo {
		x.behind.Add(w.size - w.pos)
	}
	if len(only) == 0 {
		x.caught.Store(true)
	}
	for _, w := range todo {
		if err := x.readOn(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// todo gives the logs that have more than the index, the one that was written last at the end.
func (x *Index) todo(listed []Session, known map[string]indexed) []work {
	var out []work
	for _, s := range listed {
		info, err := os.Stat(x.o.Root.Path("sessions", s.Workspace, "transcript.jsonl"))
		pos := known[s.Workspace].pos
		if err != nil || info.Size() == pos {
			continue
		}
		out = append(out, work{s, pos, info.Size(), info.ModTime()})
	}
	slices.SortFunc(out, func(a, b work) int {
		return cmp.Or(a.changed.Compare(b.changed), cmp.Compare(a.session.Workspace, b.session.Workspace))
	})
	return out
}

// readOn indexes the rest of a log. What it did not come to stays counted as behind.
func (x *Index) readOn(ctx context.Context, w work) (err error) {
	owed := w.size - w.pos
	defer func() {
		if err == nil {
			x.behind.Add(-owed)
		}
	}()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		began := time.Now()
		b, err := x.read(w.session, w.pos)
		if errors.Is(err, os.ErrNotExist) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		if b.to == w.pos && !b.restarted {
			return nil // the end, or a line that is still being written
		}
		if err := x.with(ctx, func(c *store.Cache) error { return b.store(ctx, c) }); err != nil {
			return err
		}
		done := min(max(b.to-w.pos, 0), owed)
		owed -= done
		x.behind.Add(-done)
		w.pos = b.to
		x.pause(ctx, time.Since(began))
	}
}

func (x *Index) pause(ctx context.Context, took time.Duration) {
	if x.o.Pause != nil {
		x.o.Pause(ctx, took)
	}
}

// indexed is what the index has of a session.
type indexed struct{ id, pos int64 }

func readSessions(ctx context.Context, c *store.Cache) (_ map[string]indexed, err error) {
	rows, err := c.QueryContext(ctx, `SELECT workspace, id, pos FROM sessions`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	out := map[string]indexed{}
	for rows.Next() {
		var workspace string
		var i indexed
		if err := rows.Scan(&workspace, &i.id, &i.pos); err != nil {
			return nil, err
		}
		out[workspace] = i
	}
	return out, rows.Err()
}

// forget removes the sessions that are not listed any more.
func (x *Index) forget(ctx context.Context, listed []Session, known map[string]indexed) error {
	here := map[string]bool{}
	for _, s := range listed {
		here[s.Workspace] = true
	}
	for workspace, i := range known {
		for done := here[workspace]; !done; {
			if err := ctx.Err(); err != nil {
				return err
			}
			began := time.Now()
			err := x.with(ctx, func(c *store.Cache) (err error) {
				done, err = removeSome(ctx, c, i.id)
				return err
			})
			if err != nil {
				return fmt.Errorf("forget %q: %w", workspace, err)
			}
			x.pause(ctx, time.Since(began))
		}
	}
	return nil
}

// removeSome removes some texts of a session, and the session itself when none is left.
func removeSome(ctx context.Context, c *store.Cache, id int64) (done bool, err error) {
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	const some = `(SELECT id FROM texts WHERE session = ? ORDER BY seq LIMIT ?)`
	if _, err := tx.ExecContext(ctx, `DELETE FROM words WHERE rowid IN `+some, id, batchGone); err != nil {
		return false, err
	}
	res, err := tx.ExecContext(ctx, `DELETE FROM texts WHERE id IN `+some, id, batchGone)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return false, err
	}
	if done = n < batchGone; done {
		if _, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE id = ?`, id); err != nil {
			return false, err
		}
	} else if _, err := tx.ExecContext(ctx, `UPDATE sessions SET pos = 0 WHERE id = ?`, id); err != nil {
		return false, err // should it come back, it is read from its start
	}
	return done, tx.Commit()
}
