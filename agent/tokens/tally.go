package tokens

import (
	"sync"

	"carrel/agent/model"
)

// Tally estimates the requests of one conversation, each of which begins as the one before: messages
// whose parts lie in the same memory as then are not looked at again. Its methods may be called from
// any goroutine.
type Tally struct {
	counter *Counter

	mu   sync.Mutex
	id   string // the model of what was counted; pictures count differently for each
	seen []counted
}

// counted is a message by its memory.
type counted struct {
	first *model.Part
	parts int
	raw   int64
}

// Tally gives one for a conversation.
func (c *Counter) Tally() *Tally { return &Tally{counter: c} }

// Request gives the tokens of a whole request, as Counter.Request does.
func (t *Tally) Request(id string, r *model.Request) Estimate {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.id != id {
		t.id, t.seen = id, nil
	}
	raw := t.counter.frame(r)
	now := make([]counted, len(r.Messages))
	for i := range r.Messages {
		parts := r.Messages[i].Parts
		k := counted{parts: len(parts)}
		if len(parts) > 0 {
			k.first = &parts[0]
		}
		if i < len(t.seen) && k.first != nil && t.seen[i].first == k.first && t.seen[i].parts == k.parts {
			k.raw = t.seen[i].raw
		} else {
			k.raw = t.counter.messages(id, r.Messages[i:i+1])
		}
		raw += k.raw
		now[i] = k
	}
	t.seen = now
	return t.counter.scaled(id, raw)
}
