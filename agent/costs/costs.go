// Package costs is the book of what model requests used and cost, in the registry's table usage.
//
// It promises: a request entered twice counts once; several processes may enter at the same time;
// what was spent outlives the workspace that spent it; what a sub-agent spends counts for the
// workspace that started it; a request without a known price is counted as such, never as free.
package costs

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"carrel/agent/model"
)

// most bounds every number that is entered, so that a provider's nonsense can't make a sum overflow.
const most = 1 << 40

// Micro is money in millionths of a US dollar.
type Micro = int64

// Row is what one model request used.
type Row struct {
	Workspace string // id
	// Project and Parent are ids, "" for none. Parent is the workspace whose sub-agent this one is.
	Project, Parent string
	// The names of workspace and project now, for when they are gone.
	WorkspaceName, ProjectName string
	At                         time.Time
	// Seq is the sequence of the record in the workspace's log, 0 when the log has none. A row with
	// the same workspace, Seq and Kind replaces the one before.
	Seq uint64
	// Kind is "" for a step of the conversation, else what the request was for, such as "title".
	Kind  string
	Model string // provider:id
	Tier  string // as the provider reported it
	Usage model.Usage
	Cost  Micro
	// Priced says that Cost is known.
	Priced bool
}

// Book is the table. Its methods may be called from any goroutine.
type Book struct{ db *sql.DB }

// New gives the book in db, whose tables store.Root.DB has made.
func New(db *sql.DB) *Book { return &Book{db: db} }

const insert = `INSERT OR REPLACE INTO usage (workspace_id, workspace_name, project_id, project_name, parent_id,
	at, seq, kind, model, provider, tier, input, output, reasoning, cache_read, cache_write,
	cache_write_hour, searches, cost_micro)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// Add enters a request. Numbers below zero count as zero.
func (b *Book) Add(ctx context.Context, r Row) error {
	provider, _, _ := strings.Cut(r.Model, ":")
	var cost any
	if r.Priced {
		cost = sane(r.Cost)
	}
	u := r.Usage
	_, err := b.db.ExecContext(ctx, insert, r.Workspace, r.WorkspaceName, r.Project, r.ProjectName, r.Parent,
		r.At.UnixMilli(), int64(r.Seq), r.Kind, r.Model, provider, r.Tier,
		sane(u.Input), sane(u.Output), sane(u.Reasoning), sane(u.CacheRead), sane(u.CacheWrite),
		sane(u.CacheWriteHour), sane(u.Searches), cost)
	if err != nil {
		return fmt.Errorf("enter usage of %q: %w", r.Workspace, err)
	}
	return nil
}

func sane(n int64) int64 { return min(max(n, 0), most) }

// LastSeq gives the greatest Seq that was entered for a workspace's steps, 0 before the first.
func (b *Book) LastSeq(ctx context.Context, workspace string) (uint64, error) {
	var seq sql.NullInt64
	err := b.db.QueryRowContext(ctx, `SELECT MAX(seq) FROM usage WHERE workspace_id = ? AND seq > 0`, workspace).Scan(&seq)
	if err != nil {
		return 0, fmt.Errorf("read usage of %q: %w", workspace, err)
	}
	return uint64(seq.Int64), nil
}

// Spent is what a workspace and its sub-agents have spent.
type Spent struct {
	Cost     Micro
	Unpriced int64 // requests without a known price, not in Cost
}

// familyOf selects a workspace (?1) and all below it.
const familyOf = `WITH RECURSIVE family(id) AS (VALUES (?1)
	UNION SELECT u.workspace_id FROM usage u JOIN family f ON u.parent_id = f.id) `

// Spent sums up what a workspace has spent, its sub-agents' and theirs included.
func (b *Book) Spent(ctx context.Context, workspace string) (Spent, error) {
	var s Spent
	err := b.db.QueryRowContext(ctx, familyOf+`SELECT COALESCE(SUM(cost_micro), 0), COUNT(*) - COUNT(cost_micro)
		FROM usage WHERE workspace_id IN (SELECT id FROM family)`, workspace).Scan(&s.Cost, &s.Unpriced)
	if err != nil {
		return Spent{}, fmt.Errorf("read spending of %q: %w", workspace, err)
	}
	return s, nil
}
