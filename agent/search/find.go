package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"carrel/agent/transcript"
	"carrel/store"
)

// Hits of one answer.
const (
	DefaultHits = 20
	MaxHits     = 100
)

// Query says what to find. Empty fields don't limit.
type Query struct {
	// Text is words and "phrases" that must all be there; -word must not be; word* is the beginning
	// of one. Case and accents don't count.
	Text      string
	Workspace string // id
	Project   string // id
	Role      Role
	Before    int64 // only hits older than the one with this ID
	Limit     int   // DefaultHits when not positive, at most MaxHits
}

// Hit is a record in which everything was found.
type Hit struct {
	ID        int64 // of the hit, while the index lives; greater is newer, to the minute
	Workspace string
	Seq       uint64 // of the record
	StepSeq   uint64 // of its step's StepStart; 0 for a message of a person
	Part      int    // of the record's message; -1 in a tool's output
	CallID    string // of a tool's output, or of the call that Part is
	Time      time.Time
	Role      Role
	Left      bool // an edit left it behind
	Snippet   []Piece
}

// Answer is what was found, the newest first to the minute, by descending ID.
type Answer struct {
	Hits []Hit
	More bool // there are older ones
}

// Find looks for what q says in what is indexed by now. A query without a word is ErrNothing.
func (x *Index) Find(ctx context.Context, q Query) (Answer, error) {
	terms, err := parse(q.Text)
	if err != nil {
		return Answer{}, err
	}
	if q.Limit <= 0 {
		q.Limit = DefaultHits
	}
	q.Limit = min(q.Limit, MaxHits)
	var a Answer
	err = x.with(ctx, func(c *store.Cache) error {
		a, err = x.find(ctx, c, q, terms)
		return err
	})
	if err != nil {
		return Answer{}, fmt.Errorf("search: %w", err)
	}
	return a, nil
}

func (x *Index) find(ctx context.Context, c *store.Cache, q Query, terms []term) (a Answer, err error) {
	where, args, err := x.narrow(ctx, c, q, terms)
	if err != nil || where == "" {
		return Answer{}, err
	}
	// CROSS JOIN keeps this order: words from the newest on, and no more than are read.
	rows, err := c.QueryContext(ctx, `SELECT t.id, s.workspace, t.seq, t.role, t.off, t.size, t.at, t.left
		FROM words w CROSS JOIN texts t ON t.id = w.rowid CROSS JOIN sessions s ON s.id = t.session
		WHERE `+where+` ORDER BY w.rowid DESC`, args...)
	if err != nil {
		return Answer{}, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var h Hit
		var at int64
		var role int
		var place transcript.Place
		if err := rows.Scan(&h.ID, &h.Workspace, &h.Seq, &role, &place.Off, &place.Size, &at, &h.Left); err != nil {
			return Answer{}, err
		}
		if len(a.Hits) == q.Limit {
			a.More = true
			break
		}
		h.Time, h.Role = time.UnixMilli(at).UTC(), roles[min(max(role, 0), len(roles)-1)]
		if x.fill(&h, place, terms) {
			a.Hits = append(a.Hits, h)
		}
	}
	if err := rows.Err(); err != nil {
		return Answer{}, err
	}
	return a, nil
}

// narrow gives the conditions, "" when nothing can fulfil them.
func (x *Index) narrow(ctx context.Context, c *store.Cache, q Query, terms []term) (string, []any, error) {
	expr := []string{"text : " + match(terms)}
	cond, args := "", []any{}
	if q.Workspace != "" {
		var id int64
		rows, err := readSessions(ctx, c)
		if err != nil {
			return "", nil, err
		}
		if id = rows[q.Workspace].id; id == 0 {
			return "", nil, nil
		}
		expr = append(expr, `tags : "`+sessionTag(id)+`"`)
	}
	if q.Project != "" {
		expr = append(expr, `tags : "`+projectTag(q.Project)+`"`)
		cond += ` AND s.project = ?`
		args = append(args, q.Project)
	}
	if slices.Contains(roles, q.Role) {
		expr = append(expr, `tags : "`+roleTag(q.Role)+`"`)
	}
	if q.Before > 0 {
		cond += ` AND w.rowid < ?`
		args = append(args, q.Before)
	}
	return `words MATCH ?` + cond, append([]any{strings.Join(expr, " AND ")}, args...), nil
}

// fill reads the record and cuts the snippet. It gives false when the record is not there.
func (x *Index) fill(h *Hit, at transcript.Place, terms []term) bool {
	r, err := transcript.ReadAt(x.o.Root.Path("sessions", h.Workspace), at, h.Seq)
	if err != nil {
		return false // its log was deleted, or will be read anew
	}
	h.StepSeq, h.Part, h.CallID = r.StepSeq, -1, r.CallID
	if r.Kind == transcript.User {
		h.StepSeq = 0
	}
	// The part with the most of it; parts of one record are one text of the index.
	most := -1
	for _, s := range textsOf(&r) {
		if s.role != h.Role {
			continue
		}
		pieces, n := snippet(s.text, terms)
		if n > most {
			most, h.Snippet, h.Part = n, pieces, s.part
		}
	}
	if h.Part >= 0 && r.Message != nil {
		h.CallID = r.Message.Parts[h.Part].CallID
	}
	return true
}
