package serve

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// Ten wrong tokens may come at once from one address, then one every six seconds.
const (
	limitBurst   = 10
	limitRefill  = 6 * time.Second
	limitTracked = 1024 // addresses remembered
)

// limit slows down guessing: an address that showed too many wrong tokens is refused for a while,
// whatever it shows.
type limit struct {
	now func() time.Time

	mu  sync.Mutex
	bad map[string]badness
}

// badness is how many wrong tokens are held against an address at a time; it fades.
type badness struct {
	count float64
	at    time.Time
}

func newLimit(now func() time.Time) *limit {
	return &limit{now: now, bad: map[string]badness{}}
}

// blocked reports whether the address has used up its attempts.
func (l *limit) blocked(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current(address) > limitBurst-1
}

// note holds a wrong token against the address.
func (l *limit) note(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	count := l.current(address) + 1
	if len(l.bad) >= limitTracked {
		l.prune()
	}
	l.bad[address] = badness{count, l.now()}
}

func (l *limit) current(address string) float64 {
	b := l.bad[address]
	faded := b.count - float64(l.now().Sub(b.at))/float64(limitRefill)
	return max(faded, 0)
}

// prune forgets what has faded, and everything if that is not enough.
func (l *limit) prune() {
	for address := range l.bad {
		if l.current(address) == 0 {
			delete(l.bad, address)
		}
	}
	if len(l.bad) >= limitTracked {
		clear(l.bad)
	}
}

// remote returns the address of the peer without its port.
func remote(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
