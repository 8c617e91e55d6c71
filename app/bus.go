package app

import "sync"

// bus hands events to subscribers in one order for all.
type bus struct {
	mu   sync.Mutex
	next int
	subs map[int]func(Event)
}

func (b *bus) subscribe(f func(Event)) (cancel func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subs == nil {
		b.subs = map[int]func(Event){}
	}
	id := b.next
	b.next++
	b.subs[id] = f
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.subs, id)
	}
}

func (b *bus) publish(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.subs {
		f(e)
	}
}
