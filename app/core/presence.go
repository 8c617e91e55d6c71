package core

import (
	"context"
	"sync"
	"time"
)

// presence knows who needs the core, and when nobody has for long enough.
type presence struct {
	idleAfter time.Duration // negative: never
	busy      func() bool
	changed   chan struct{} // has an element after a change
	stop      chan string   // asked to end, with the reason

	mu    sync.Mutex
	hosts int
	held  int // listeners that somebody else's life depends on
}

func newPresence(after time.Duration, busy func() bool) *presence {
	if after == 0 {
		after = idleAfter
	}
	return &presence{idleAfter: after, busy: busy, changed: make(chan struct{}, 1), stop: make(chan string, 1)}
}

func (p *presence) setHosts(n int) { p.change(func() { p.hosts = n }) }

func (p *presence) hold(by int) { p.change(func() { p.held += by }) }

// touch starts the idle time anew: somebody asked for the address and is about to come.
func (p *presence) touch() { p.change(func() {}) }

func (p *presence) change(f func()) {
	p.mu.Lock()
	f()
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func (p *presence) counts() (hosts, held int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hosts, p.held
}

// end asks for the end.
func (p *presence) end(why string) {
	select {
	case p.stop <- why:
	default:
	}
}

// wait returns why the core should end. While something works after the last host left, it looks
// again each idle time.
func (p *presence) wait(ctx context.Context) string {
	timer := time.NewTimer(max(p.idleAfter, 0))
	defer timer.Stop()
	if p.idleAfter < 0 {
		timer.Stop()
	}
	for {
		select {
		case <-ctx.Done():
			return "asked to by a signal or its caller"
		case why := <-p.stop:
			return why
		case <-p.changed:
		case <-timer.C:
			hosts, held := p.counts()
			if hosts == 0 && held == 0 && !p.busy() {
				return "no host is attached and nothing works"
			}
		}
		if p.idleAfter >= 0 {
			timer.Reset(p.idleAfter)
		}
	}
}
