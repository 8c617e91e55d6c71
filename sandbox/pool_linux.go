package sandbox

import (
	"context"
	"sync"
	"time"

	"carrel/sandbox/plan"
)

// pool keeps one helper that waits with all mounts made, for a command whose plan is the last one's.
// One goroutine makes them; it ends with close.
type pool struct {
	ground *ground
	next   chan plan.Plan // capacity one: only the latest plan counts
	stop   context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	waiting *helper
	failed  error         // why the last one could not be made
	wanted  int           // asked for and neither made nor failed yet
	latest  string        // the key of the plan that was asked for last
	changed chan struct{} // closed and replaced when waiting or failed changes
}

// idleTime is how long a helper waits for a command: a workspace that is left alone keeps no more
// than its supervisor.
const idleTime = 10 * time.Minute

// newPool starts the goroutine. prepare gives a helper that is ready for a plan; idle is called when
// none is wanted any more.
func newPool(g *ground, idle func(), prepare func(context.Context, plan.Plan) (*helper, error)) *pool {
	ctx, stop := context.WithCancel(context.Background())
	p := &pool{ground: g, next: make(chan plan.Plan, 1), stop: stop, done: make(chan struct{}), changed: make(chan struct{})}
	go func() {
		defer close(p.done)
		rest := time.NewTimer(idleTime)
		defer rest.Stop()
		for {
			select {
			case <-ctx.Done():
				p.put(nil, ErrClosed)
				return
			case <-rest.C:
				p.drop()
				idle()
			case pl := <-p.next:
				p.put(prepare(ctx, pl))
				rest.Reset(idleTime)
			}
		}
	}()
	return p
}

// put replaces the waiting helper. After an error none waits: the next command finds out why.
func (p *pool) put(h *helper, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting != nil {
		p.waiting.discard()
	}
	p.waiting, p.failed = h, err
	p.wanted--
	close(p.changed)
	p.changed = make(chan struct{})
}

// drop ends the waiting helper.
func (p *pool) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting != nil {
		p.waiting.discard()
	}
	p.waiting = nil
}

// take gives the waiting helper if it is ready for the plan. One that is being made for it is waited for:
// nobody has another one sooner.
func (p *pool) take(ctx context.Context, pl plan.Plan) *helper {
	key := p.ground.fingerprint(pl)
	p.mu.Lock()
	coming, changed := p.waiting == nil && p.wanted > 0 && p.latest == pl.Key(), p.changed
	p.mu.Unlock()
	if coming {
		select {
		case <-ctx.Done():
		case <-p.done:
		case <-changed:
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.waiting
	if h == nil || h.key != key {
		return nil
	}
	p.waiting = nil
	return h
}

// warm waits until a helper is ready for the plan, or can't be.
func (p *pool) warm(ctx context.Context, pl plan.Plan) error {
	for asked := false; ; {
		p.mu.Lock()
		have, failed, wanted, changed := p.waiting, p.failed, p.wanted, p.changed
		p.mu.Unlock()
		switch {
		case have != nil && have.key == p.ground.fingerprint(pl):
			return nil
		case wanted > 0:
		case asked:
			return failed
		default:
			p.refill(pl)
			asked = true
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.done:
			return ErrClosed
		case <-changed:
		}
	}
}

// refill asks for a helper that is ready for the plan.
func (p *pool) refill(pl plan.Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted++
	p.latest = pl.Key()
	for {
		select {
		case p.next <- pl:
			return
		default:
		}
		select { // an older plan is in the way
		case <-p.next:
			p.wanted--
		default:
		}
	}
}

func (p *pool) close() {
	p.stop()
	<-p.done
}
