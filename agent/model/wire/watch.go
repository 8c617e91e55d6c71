package wire

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errSilent is the cause of a context that a watch ended.
var errSilent = errors.New("stream went silent")

// How long a stream may stay open after the response ended: until its count of tokens, which some
// servers send last, and until its end.
const (
	untilUsage = 5 * time.Second
	untilEOF   = 200 * time.Millisecond
)

// watch ends a context when a stream goes silent.
type watch struct {
	cancel context.CancelCauseFunc
	idle   time.Duration

	mu    sync.Mutex
	timer *time.Timer
	last  time.Time // of the last progress
}

// newWatch gives a context that ends with outer, or with the cause errSilent.
func newWatch(outer context.Context, idle time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(outer)
	w := &watch{cancel: cancel, idle: idle, last: time.Now()}
	w.timer = time.AfterFunc(idle, func() { cancel(errSilent) })
	return ctx, w
}

// progress says that something new arrived.
func (w *watch) progress() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = time.Now()
	w.timer.Reset(w.idle)
}

// alive says that the server showed a sign of life: the silence starts anew, but not for ever.
func (w *watch) alive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := 5*w.idle - time.Since(w.last)
	w.timer.Reset(max(0, min(w.idle, left)))
}

// closing says that the response is complete and the stream should end within d.
func (w *watch) closing(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Reset(min(w.idle, d))
}

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}
