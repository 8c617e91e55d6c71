package turn

import (
	"errors"
	"sync"
	"time"

	"carrel/agent/model"
)

const (
	// breakAfter is how many requests to a provider fail in a row, over all conversations, before it
	// gets a rest.
	breakAfter = 5
	// firstRest is the rest of a provider that failed so often; it doubles with each probe that fails
	// up to longestRest.
	firstRest, longestRest = 10 * time.Second, time.Minute
	// probeWait is how long one waits for another's probe before looking again.
	probeWait = 5 * time.Second
)

// Breakers are the circuit breakers of the providers, one each, shared by all conversations. A
// provider that failed several times in a row is let alone for a while; then one request goes out
// as a probe, and the others follow when it was answered. Safe for concurrent use.
type Breakers struct {
	now func() time.Time

	mu sync.Mutex
	by map[string]*breaker
}

// breaker is the one of a provider.
type breaker struct {
	failures int
	rest     time.Duration // of the last opening; 0 while closed
	until    time.Time     // zero while closed
	probing  bool
	changed  chan struct{} // closed when those that wait should look again
}

// NewBreakers makes breakers that are all closed. now nil is time.Now.
func NewBreakers(now func() time.Time) *Breakers {
	if now == nil {
		now = time.Now
	}
	return &Breakers{now: now, by: map[string]*breaker{}}
}

// pass is the permission for one request. Its outcome is told once; later calls do nothing.
type pass struct {
	all   *Breakers
	b     *breaker
	probe bool
	told  bool
}

func (s *Breakers) of(provider string) *breaker {
	b := s.by[provider]
	if b == nil {
		b = &breaker{changed: make(chan struct{})}
		s.by[provider] = b
	}
	return b
}

// admit gives a pass, or nil with the time to ask again, which is now when changed is closed.
func (s *Breakers) admit(provider string) (p *pass, at time.Time, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.of(provider)
	switch now := s.now(); {
	case b.until.IsZero():
		return &pass{all: s, b: b}, now, nil
	case now.Before(b.until):
		return nil, b.until, b.changed
	case b.probing:
		return nil, now.Add(probeWait), b.changed
	}
	b.probing = true
	return &pass{all: s, b: b, probe: true}, time.Time{}, nil
}

// force gives a pass whatever happened before: a person asked for it.
func (s *Breakers) force(provider string) *pass {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &pass{all: s, b: s.of(provider)}
}

// until is when the provider may be asked again, zero when it may now.
func (s *Breakers) until(provider string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of(provider).until
}

// done tells how the request ended. An error that trying again does not mend was an answer.
func (p *pass) done(err error) {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	if p.told {
		return
	}
	p.told = true
	b := p.b
	if p.probe {
		b.probing = false
	}
	var e *model.Error
	if !errors.As(err, &e) || !e.Retryable() {
		b.failures, b.rest, b.until = 0, 0, time.Time{}
		b.wake()
		return
	}
	b.failures++
	if open := !b.until.IsZero(); open && !p.probe || !open && b.failures < breakAfter {
		return
	}
	b.rest = min(longestRest, max(firstRest, 2*b.rest))
	if e.RetryAfter > 0 && e.RetryAfter <= longestAsked {
		b.until = p.all.now().Add(e.RetryAfter)
	} else {
		b.until = p.all.now().Add(b.rest)
	}
	b.wake()
}

// cancel gives back a pass that was not used, or whose request was interrupted.
func (p *pass) cancel() {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	if p.told {
		return
	}
	p.told = true
	if p.probe {
		p.b.probing = false
		p.b.wake()
	}
}

func (b *breaker) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}
