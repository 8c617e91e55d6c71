package wire

import (
	"sync"
	"time"
)

// patience is how long a call may keep the goroutine that reads from reading on; it may be twice
// that.
const patience = 10 * time.Millisecond

// relief lets the goroutine that reads from a connection also run the calls that it reads, which
// saves a short call the way to another goroutine: on a busy machine that takes longer than the call.
// When a call takes longer than patience, another goroutine is started to read on, and the one with
// the call ends when that is done.
type relief struct {
	next func() // starts a goroutine that reads

	mu    sync.Mutex
	watch *time.Timer
	turn  uint64    // counts the goroutines that read
	since time.Time // when the one that reads began its call; zero: it has none
	used  bool      // there was a call since the watch last looked
	armed bool      // the watch runs; it stops by itself when there are no calls
}

// begin says that the goroutine that reads begins a call. Its end must be told.
func (r *relief) begin() (turn uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since, r.used = time.Now(), true
	if !r.armed {
		r.armed = true
		if r.watch == nil {
			r.watch = time.AfterFunc(patience, r.look)
		} else {
			r.watch.Reset(patience)
		}
	}
	return r.turn
}

// end says that the call has ended. The goroutine reads on if it is still its turn.
func (r *relief) end(turn uint64) (mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turn != turn {
		return false
	}
	r.since = time.Time{}
	return true
}

func (r *relief) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.since.IsZero() && time.Since(r.since) >= patience {
		r.turn++
		r.since = time.Time{}
		r.next()
	}
	if r.armed = r.used; r.armed {
		r.used = !r.since.IsZero()
		r.watch.Reset(patience)
	}
}
