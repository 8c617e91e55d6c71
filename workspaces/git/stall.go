package git

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Git waits without end for the writer of a pipe that lies where it expects a file, such as .gitignore,
// or for a file system that is gone. Whoever fills a folder can do that, so a call that stays silent for
// long is ended, and it must not keep the calls about other repositories waiting.
const (
	readSilence  = time.Minute     // a read that printed nothing for so long is ended
	writeSilence = 5 * time.Minute // other calls; a checkout tells its progress
	// slotTime is how long a read counts against the bound on reads at once.
	slotTime = 5 * time.Second
	// stuckTime is how long a folder is left alone after a read there was ended.
	stuckTime = time.Minute
)

// watchSilence gives a context that ends with the cause ErrStuck when the call has been silent for too
// long, and a writer that takes each sign of life.
func (g *Git) watchSilence(ctx context.Context, c call) (context.Context, *pulse) {
	limit := writeSilence
	if c.read || c.plain {
		limit = readSilence
	}
	if g.patience > 0 {
		limit = g.patience
	}
	ctx, cancel := context.WithCancelCause(ctx)
	p := &pulse{limit: limit, cancel: cancel}
	p.timer = time.AfterFunc(limit, func() { cancel(ErrStuck) })
	return ctx, p
}

// pulse is the life sign of one call.
type pulse struct {
	limit  time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

func (p *pulse) Write(b []byte) (int, error) {
	p.timer.Reset(p.limit)
	return len(b), nil
}

func (p *pulse) stop() {
	p.timer.Stop()
	p.cancel(nil)
}

// slot waits for one of the reads that may run at once. It is given back early when the read takes long:
// one that hangs uses no processor.
func (g *Git) slot(ctx context.Context) (release func(), err error) {
	select {
	case g.reads <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	back := sync.OnceFunc(func() { <-g.reads })
	timer := time.AfterFunc(slotTime, back)
	return func() { timer.Stop(); back() }, nil
}

// leftAlone reports whether a read in dir was ended a moment ago.
func (g *Git) leftAlone(dir string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, ok := g.stuck[dir]
	if ok && time.Since(at) > stuckTime {
		delete(g.stuck, dir)
		return false
	}
	return ok
}

func (g *Git) noteStuck(dir string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stuck[dir] = time.Now()
}

func stuckError(c call) error {
	return fmt.Errorf("git %s in %q: %w", strings.Join(c.args, " "), c.dir, ErrStuck)
}
