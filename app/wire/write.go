package wire

import (
	"context"
)

// write sends what waits until the connection ends.
func (h *host) write(ctx context.Context) {
	for {
		if err := h.flush(ctx); err != nil {
			return
		}
		select {
		case <-h.queue.wake:
		case e := <-h.ending:
			_ = h.conn.Close(e.code, e.reason)
			return
		case <-ctx.Done():
			return
		}
	}
}

// flush sends what waits, in this goroutine, unless another is at it, which then sends this too: for
// a reply that saves the way over the writing goroutine, the longest part of a short call. ctx is the
// connection's. After an error the connection is over.
func (h *host) flush(ctx context.Context) error {
	for len(h.ending) == 0 && h.queue.waits() && h.writing.TryLock() {
		err := h.drain(ctx)
		h.writing.Unlock()
		if err != nil {
			return err
		}
		// What was queued between the last look and now has found us writing, so look again.
	}
	return nil
}

func (h *host) drain(ctx context.Context) error {
	for len(h.ending) == 0 {
		m, ok := h.queue.pop()
		if !ok {
			return nil
		}
		if err := h.send(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// send writes one frame. A host that does not take it lets the next ping fail too, which ends ctx.
func (h *host) send(ctx context.Context, m message) error {
	err := h.conn.Write(ctx, m.kind, m.data)
	if m.done != nil {
		m.done()
	}
	return err
}
