package search

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"carrel/agent/transcript"
	"carrel/store"
)

// Bounds of one batch, which is one transaction of some ten milliseconds.
const (
	batchText = 1 << 20 // bytes of text
	batchRead = 8 << 20 // bytes of a log
	batchGone = 500     // texts that are removed
)

// found is a text that goes into the index: all of one role in one record.
type found struct {
	seq   uint64
	role  Role
	place transcript.Place
	at    time.Time
	words string
}

// left is a range of records that an edit left: from, up to and not including, to.
type left struct{ from, to uint64 }

// batch is what was read of one log.
type batch struct {
	session   Session
	from, to  int64 // bytes of the log
	restarted bool  // the log is another one than was indexed
	texts     []found
	left      []left
	size      int
}

// read reads on in a log from a byte.
func (x *Index) read(s Session, from int64) (*batch, error) {
	b := &batch{session: s, from: from}
	next, err := transcript.Scan(x.o.Root.Path("sessions", s.Workspace), from, batchRead,
		func() { b.restarted = true }, func(at transcript.Place, r *transcript.Record) bool {
			b.add(at, r)
			return b.size < batchText
		})
	b.to = next
	return b, err
}

func (b *batch) add(at transcript.Place, r *transcript.Record) {
	if r.From > 0 && r.From < r.Seq { // an edit, or a message that takes the place of others
		b.left = append(b.left, left{r.From, r.Seq})
	}
	var words [3]strings.Builder
	for _, s := range textsOf(r) {
		w := &words[slices.Index(roles, s.role)]
		eachWord(s.text, func(word word) bool {
			w.WriteString(word.text)
			w.WriteByte(' ')
			return true
		})
	}
	for i := range words {
		if words[i].Len() > 0 {
			b.texts = append(b.texts, found{r.Seq, roles[i], at, r.Time, words[i].String()})
			b.size += words[i].Len()
		}
	}
}

// store puts a batch into the index, unless another process was faster.
func (b *batch) store(ctx context.Context, c *store.Cache) (err error) {
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("index %q: %w", b.session.Workspace, err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if err := b.enter(ctx, tx); err != nil {
		return fmt.Errorf("index %q: %w", b.session.Workspace, err)
	}
	return nil
}

func (b *batch) enter(ctx context.Context, tx *sql.Tx) error {
	var id, pos int64
	err := tx.QueryRowContext(ctx, `INSERT INTO sessions (workspace, project) VALUES (?, ?)
		ON CONFLICT (workspace) DO UPDATE SET project = excluded.project RETURNING id, pos`,
		b.session.Workspace, b.session.Project).Scan(&id, &pos)
	if err != nil {
		return err
	}
	if pos != b.from {
		return nil
	}
	if b.restarted { // the texts of the old log go first
		if _, err := tx.ExecContext(ctx, `DELETE FROM words WHERE rowid IN (SELECT id FROM texts WHERE session = ?)`, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM texts WHERE session = ?`, id); err != nil {
			return err
		}
	}
	if err := b.insert(ctx, tx, id); err != nil {
		return err
	}
	for _, l := range b.left {
		_, err := tx.ExecContext(ctx, `UPDATE texts SET left = 1 WHERE session = ? AND seq >= ? AND seq < ?`,
			id, int64(l.from), int64(l.to))
		if err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE sessions SET pos = ? WHERE id = ?`, b.to, id); err != nil {
		return err
	}
	return tx.Commit()
}

func (b *batch) insert(ctx context.Context, tx *sql.Tx, session int64) (err error) {
	text, err := tx.PrepareContext(ctx, `INSERT OR IGNORE INTO texts (id, session, seq, role, off, size, at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, text.Close()) }()
	words, err := tx.PrepareContext(ctx, `INSERT INTO words (rowid, text, tags) VALUES (?, ?, ?)`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, words.Close()) }()
	slices.SortStableFunc(b.texts, func(a, b found) int { return cmp.Compare(minute(a.at), minute(b.at)) })
	ids := idMaker{tx: tx, free: map[int64]int64{}}
	for _, t := range b.texts {
		id, err := ids.next(ctx, t.at)
		if err != nil {
			return err
		}
		role := slices.Index(roles, t.role)
		res, err := text.ExecContext(ctx, id, session, int64(t.seq), role, t.place.Off, t.place.Size, t.at.UnixMilli())
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil {
			return err
		} else if n == 0 { // a damaged log has the sequence twice
			continue
		}
		tags := strings.Join([]string{sessionTag(session), projectTag(b.session.Project), roleTag(t.role)}, " ")
		if _, err := words.ExecContext(ctx, id, t.words, tags); err != nil {
			return err
		}
	}
	return nil
}

// Tags are words by which a query is narrowed without reading what it does not want.
func sessionTag(id int64) string { return "w" + strconv.FormatInt(id, 10) }

func roleTag(r Role) string { return string(r) }

func projectTag(id string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // never fails
	return "p" + strconv.FormatUint(h.Sum64(), 16)
}

// perMinute is how many ids a minute has; what is beyond goes into the next one. Close ids make a
// small index.
const perMinute = 1 << 10

// minute counts the minutes since 2020, in which ids begin.
func minute(t time.Time) int64 {
	return min(max((t.Unix()-1577836800)/60, 1), 1<<40)
}

// idMaker gives ids that are free.
type idMaker struct {
	tx   *sql.Tx
	free map[int64]int64 // first free id of a minute, or of one after it
}

func (m *idMaker) next(ctx context.Context, at time.Time) (int64, error) {
	first := minute(at)
	for min := first; ; min++ {
		id, ok := m.free[min]
		if !ok {
			var last sql.NullInt64
			err := m.tx.QueryRowContext(ctx, `SELECT MAX(id) FROM texts WHERE id >= ? AND id < ?`, min*perMinute, (min+1)*perMinute).Scan(&last)
			if err != nil {
				return 0, err
			}
			id = max(min*perMinute, last.Int64+1)
		}
		if id < (min+1)*perMinute {
			m.free[min] = id + 1
			return id, nil
		}
		m.free[min] = id
	}
}
