package costs

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"carrel/agent/model"
)

// By says what a Summary has a line for.
type By string

// What a Summary can have lines for.
const (
	ByWorkspace By = "workspace" // sub-agents count for the workspace that started the first of them
	ByProject   By = "project"   // "" holds what belongs to none
	ByModel     By = "model"     // provider:id
	ByDay       By = "day"       // in Filter.Zone, 2006-01-02, the newest first
	ByMessage   By = "message"   // each request, the newest first; Key is the record's Seq, "0" for none
)

// Lines of one Summary.
const (
	DefaultLines = 100
	MaxLines     = 1000
)

// Filter chooses what a Summary is about. A zero field does not limit.
type Filter struct {
	By        By        // ByWorkspace when empty
	From      time.Time // inclusive
	To        time.Time // exclusive
	Workspace string    // id; with its sub-agents
	Project   string    // id
	Model     string    // provider:id
	// Zone is where days begin; nil means UTC.
	Zone  *time.Location
	Limit int // lines; DefaultLines when not positive, at most MaxLines
}

// Line sums up some requests.
type Line struct {
	Key      string // a workspace's or project's id, a model, a day or a Seq; "" in a Total
	Name     string // of the workspace or project when it last spent something; of ByMessage the model
	Requests int64
	Unpriced int64 // requests without a known price: Cost does not hold them
	Usage    model.Usage
	Cost     Micro
	Last     time.Time
}

// Summary is what was spent, the most expensive line first unless By says otherwise.
type Summary struct {
	Lines []Line
	More  int // lines that were left out
	Total Line
}

// sums are the columns of a Line, after its key and name.
const sums = `COUNT(*), COUNT(*) - COUNT(cost_micro), SUM(input), SUM(output), SUM(reasoning), SUM(cache_read),
	SUM(cache_write), SUM(cache_write_hour), SUM(searches), COALESCE(SUM(cost_micro), 0), MAX(at)`

// Names are bare columns: SQLite takes them from the row that has MAX(at).
var groups = map[By]struct{ key, name, group string }{
	ByWorkspace: {"workspace_id", "workspace_name", "workspace_id"},
	ByProject:   {"project_id", "project_name", "project_id"},
	ByModel:     {"model", "''", "model"},
	// A quarter of an hour, which no time zone divides.
	ByDay:     {"CAST(at / 900000 * 900000 AS TEXT)", "''", "at / 900000"},
	ByMessage: {"CAST(seq AS TEXT)", "model", "rowid"},
}

// Summary sums up what f chooses.
func (b *Book) Summary(ctx context.Context, f Filter) (Summary, error) {
	f.By = cmp.Or(f.By, ByWorkspace)
	g, ok := groups[f.By]
	if !ok {
		return Summary{}, fmt.Errorf("sum up costs by %q: there is no such grouping", f.By)
	}
	if f.Limit <= 0 {
		f.Limit = DefaultLines
	}
	f.Limit = min(f.Limit, MaxLines)
	where, args := f.where()
	query := familyOf + `SELECT ` + g.key + `, ` + g.name + `, ` + sums + ` FROM usage ` + where + ` GROUP BY ` + g.group
	if f.By == ByMessage {
		query += fmt.Sprintf(` ORDER BY at DESC, rowid DESC LIMIT %d`, f.Limit)
	}
	lines, err := b.lines(ctx, query, args)
	if err == nil {
		lines, err = b.fold(ctx, f, lines)
	}
	if err != nil {
		return Summary{}, fmt.Errorf("sum up costs by %s: %w", f.By, err)
	}
	s := Summary{Lines: lines}
	if f.By == ByMessage {
		return s, b.totalOf(ctx, &s, familyOf+`SELECT '', '', `+sums+` FROM usage `+where+` HAVING COUNT(*) > 0`, args)
	}
	for _, l := range lines {
		s.Total.add(l)
	}
	slices.SortFunc(s.Lines, f.By.order)
	if n := len(s.Lines); n > f.Limit {
		s.Lines, s.More = slices.Clone(s.Lines[:f.Limit]), n-f.Limit
	}
	return s, nil
}

// where gives the conditions; ?1 is the workspace, also when it does not limit.
func (f Filter) where() (string, []any) {
	cond, args := `WHERE 1`, []any{f.Workspace}
	add := func(c string, v any) {
		args = append(args, v)
		cond += ` AND ` + c + `?` + strconv.Itoa(len(args))
	}
	if f.Workspace != "" {
		cond += ` AND workspace_id IN (SELECT id FROM family)`
	}
	if !f.From.IsZero() {
		add(`at >= `, f.From.UnixMilli())
	}
	if !f.To.IsZero() {
		add(`at < `, f.To.UnixMilli())
	}
	if f.Project != "" {
		add(`project_id = `, f.Project)
	}
	if f.Model != "" {
		add(`model = `, f.Model)
	}
	return cond, args
}

// order compares two lines as a Summary shows them.
func (b By) order(x, y Line) int {
	if b == ByDay {
		return cmp.Compare(y.Key, x.Key)
	}
	return cmp.Or(cmp.Compare(y.Cost, x.Cost), cmp.Compare(y.tokens(), x.tokens()), cmp.Compare(x.Key, y.Key))
}

func (l Line) tokens() int64 {
	return l.Usage.Input + l.Usage.Output + l.Usage.CacheRead + l.Usage.CacheWrite
}

// add adds another line's numbers.
func (l *Line) add(o Line) {
	l.Requests += o.Requests
	l.Unpriced += o.Unpriced
	l.Usage = l.Usage.Plus(o.Usage)
	l.Cost += o.Cost
	if o.Last.After(l.Last) {
		l.Last = o.Last
	}
}

func (b *Book) totalOf(ctx context.Context, s *Summary, query string, args []any) error {
	total, err := b.lines(ctx, query, args)
	if err != nil {
		return fmt.Errorf("sum up costs: %w", err)
	}
	for _, l := range total {
		s.Total = l
	}
	s.More = max(0, int(s.Total.Requests)-len(s.Lines))
	return nil
}

func (b *Book) lines(ctx context.Context, query string, args []any) (_ []Line, err error) {
	rows, err := b.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var out []Line
	for rows.Next() {
		l, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, rows.Err()
}

func scan(rows *sql.Rows) (Line, error) {
	var l Line
	var last int64
	u := &l.Usage
	err := rows.Scan(&l.Key, &l.Name, &l.Requests, &l.Unpriced, &u.Input, &u.Output, &u.Reasoning, &u.CacheRead,
		&u.CacheWrite, &u.CacheWriteHour, &u.Searches, &l.Cost, &last)
	l.Last = time.UnixMilli(last).UTC()
	return l, err
}

// fold brings lines that belong together into one.
func (b *Book) fold(ctx context.Context, f Filter, lines []Line) ([]Line, error) {
	var key func(Line) string
	switch f.By {
	case ByDay:
		zone := f.Zone
		if zone == nil {
			zone = time.UTC
		}
		key = func(l Line) string {
			ms, err := strconv.ParseInt(l.Key, 10, 64)
			if err != nil {
				return l.Key
			}
			return time.UnixMilli(ms).In(zone).Format(time.DateOnly)
		}
	case ByWorkspace:
		parents, err := b.parents(ctx)
		if err != nil {
			return nil, err
		}
		key = func(l Line) string { return top(parents, l.Key, f.Workspace) }
	case ByProject, ByModel, ByMessage:
		return lines, nil
	}
	at := map[string]int{}
	var out []Line
	for _, l := range lines {
		k := key(l)
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, Line{Key: k})
		}
		if l.Key == k {
			out[i].Name = l.Name
		}
		out[i].add(l)
	}
	return out, nil
}

// parents gives the parent of each workspace that has one.
func (b *Book) parents(ctx context.Context) (_ map[string]string, err error) {
	rows, err := b.db.QueryContext(ctx, `SELECT DISTINCT workspace_id, parent_id FROM usage WHERE parent_id > ''`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	out := map[string]string{}
	for rows.Next() {
		var id, parent string
		if err := rows.Scan(&id, &parent); err != nil {
			return nil, err
		}
		out[id] = parent
	}
	return out, rows.Err()
}

// maxDepth is how many generations of sub-agents are followed.
const maxDepth = 100

// top gives the workspace that id's spending counts for: its first ancestor, or stop on the way.
func top(parents map[string]string, id, stop string) string {
	for range maxDepth {
		parent := parents[id]
		if parent == "" || id == stop {
			return id
		}
		id = parent
	}
	return id
}
