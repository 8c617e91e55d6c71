package app

import (
	"context"
	"sync"

	"carrel/agent/transcript"
)

// purse is what a workspace has spent and may spend, in millionths of a dollar, in memory: a
// conversation's owner asks before each request and never waits for the database.
type purse struct {
	mu      sync.Mutex
	limit   *int64
	spent   int64 // that is entered, sub-agents included
	pending int64 // that is recorded and not entered yet
}

// left is what may still be spent, never below zero.
func (p *purse) left() (micro int64, limited bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit == nil {
		return 0, false
	}
	return max(*p.limit-p.spent-p.pending, 0), true
}

// total is what was spent, and the limit.
func (p *purse) total() (spent int64, limit *int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spent + p.pending, p.limit
}

// expect notes what will be entered.
func (p *purse) expect(micro int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending += micro
}

// set takes what the registry says after entered of what was expected is in it.
func (p *purse) set(limit *int64, spent, entered int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit, p.spent = limit, spent
	p.pending -= entered
}

// fail notes that the registry did not say, after entered of what was expected was to be in it.
func (p *purse) fail(entered int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent += entered
	p.pending -= entered
}

// spend takes a response of ours: what it cost counts at once, and is entered soon.
func (s *session) spend(r *transcript.Record) {
	if r.Kind != transcript.Assistant || r.Message == nil {
		return
	}
	row := rowOf(s.id, r)
	cost := int64(0)
	if row.Priced {
		cost = row.Cost
	}
	s.purse.expect(cost)
	s.app.ledger.do(func(ctx context.Context) {
		s.app.ledger.enter(ctx, row)
		s.readPurse(ctx, cost)
	})
}

// readPurse reads the budget and what was spent. It runs on the ledger's goroutine or before the
// session is anybody's, so that nothing is entered between its reading and its noting.
func (s *session) readPurse(ctx context.Context, entered int64) {
	w, err := s.app.registry.Workspace(ctx, s.id)
	if err == nil {
		spent, e := s.app.ledger.book.Spent(ctx, s.id)
		if err = e; err == nil {
			s.purse.set(w.Budget, spent.Cost, entered)
		}
	}
	if err != nil {
		s.purse.fail(entered)
		s.app.logger.Warn("look what is left of the budget", "workspace", s.id, "err", err)
	}
}

func sameLimit(a, b *int64) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// purseChanged reads, soon, what a workspace may spend and has spent, and tells hosts.
func (a *App) purseChanged(id string) {
	if s := a.openNow(id); s != nil {
		a.ledger.do(s.rereadPurse)
	}
}

// rereadPurse reads again what others may have changed, and tells hosts what is different. It runs on
// the ledger's goroutine.
func (s *session) rereadPurse(ctx context.Context) {
	spent, limit := s.purse.total()
	s.readPurse(ctx, 0)
	if now, limited := s.purse.total(); now != spent || !sameLimit(limit, limited) {
		s.publishState()
	}
}
