package search

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// calm is how long the updater waits for more before it begins.
const calm = 2 * time.Second

// Updater keeps an Index up to date in the background, on a goroutine of low priority that rests as
// long as it works.
type Updater struct {
	index *Index
	log   *slog.Logger
	wake  chan struct{}
	stop  context.CancelFunc
	done  chan struct{}

	mu      sync.Mutex
	touched map[string]bool
	all     bool
}

// Update begins to keep the index up to date, with everything first, until Stop. Nobody else calls
// the index's Pause.
func (x *Index) Update(log *slog.Logger) *Updater {
	ctx, stop := context.WithCancel(context.Background())
	u := &Updater{index: x, log: log, stop: stop, wake: make(chan struct{}, 1), done: make(chan struct{}),
		touched: map[string]bool{}}
	u.TouchAll()
	go u.run(ctx)
	return u
}

// Touch says that a workspace's log has grown. It never waits.
func (u *Updater) Touch(workspace string) {
	u.mu.Lock()
	u.touched[workspace] = true
	u.mu.Unlock()
	u.poke()
}

// TouchAll says that anything may have changed, and that workspaces may be gone. It never waits.
func (u *Updater) TouchAll() {
	u.mu.Lock()
	u.all = true
	u.mu.Unlock()
	u.poke()
}

func (u *Updater) poke() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// Stop ends the work and waits until it has ended, which takes a batch at most.
func (u *Updater) Stop() {
	u.stop()
	<-u.done
}

func (u *Updater) run(ctx context.Context) {
	defer close(u.done)
	lowerPriority()
	rest := time.NewTimer(calm)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.wake:
		}
		rest.Reset(calm)
		select {
		case <-ctx.Done():
			return
		case <-rest.C:
		}
		if only, any := u.take(); any {
			if err := u.index.Sync(ctx, only...); err != nil && ctx.Err() == nil {
				u.log.Warn("index the history", "err", err)
			}
		}
	}
}

// Hurry indexes what was touched without waiting, as far as it gets until ctx ends.
func (u *Updater) Hurry(ctx context.Context) {
	only, any := u.take()
	if !any {
		return
	}
	if err := u.index.Sync(ctx, only...); err == nil {
		return
	}
	for _, w := range only {
		u.Touch(w)
	}
	if len(only) == 0 {
		u.TouchAll()
	}
}

// take gives what to look at; nothing means everything.
func (u *Updater) take() (only []string, any bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	any = u.all || len(u.touched) > 0
	if !u.all {
		only = slices.Collect(maps.Keys(u.touched))
	}
	u.all, u.touched = false, map[string]bool{}
	return only, any
}

// Rest is a Pause for work that nobody waits for: it takes as long as the batch did.
func Rest(ctx context.Context, took time.Duration) {
	timer := time.NewTimer(min(took, time.Second))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
