package wire

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"carrel/app"
)

// hub numbers events, keeps the newest for hosts that come back and hands them to the queues of the
// hosts that want them. Publishing never waits for a host.
type hub struct {
	core string
	log  *slog.Logger

	mu      sync.Mutex
	seq     uint64
	kept    []*event // oldest first
	bytes   int      // of kept
	queues  map[*queue]map[string]bool
	pending []*growth // waiting for the tick, in order
	timer   *time.Timer
	ticking bool // the timer runs: growths wait for it
	closed  bool
}

// event is a numbered event.
type event struct {
	seq   uint64
	topic string
	data  []byte // the whole frame
	grows app.Event
	key   growKey // if grows is set
}

func newHub(core string, log *slog.Logger) *hub {
	return &hub{core: core, log: log, queues: map[*queue]map[string]bool{}}
}

// publish takes an event. A growth goes out at once if none did within the last tick, else it waits
// for the next and is merged with what else waits; any other event of its topic flushes it first.
func (h *hub) publish(ev app.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	key, grows := growKeyOf(ev)
	if !grows {
		h.flush(ev.Topic())
		h.emit(ev)
		return
	}
	if !h.ticking {
		h.emit(ev)
		h.startTick()
		return
	}
	i := slices.IndexFunc(h.pending, func(g *growth) bool { return g.key == key })
	if i >= 0 {
		g := h.pending[i]
		if g.add(ev) { // and moves to the end, so that revisions stay in order
			h.pending = append(slices.Delete(h.pending, i, i+1), g)
			return
		}
		h.flush(key.topic)
	}
	h.pending = append(h.pending, newGrowth(key, ev))
}

func (h *hub) startTick() {
	h.ticking = true
	if h.timer == nil {
		h.timer = time.AfterFunc(mergeTick, h.tick)
		return
	}
	h.timer.Reset(mergeTick)
}

// tick flushes what waits and, if something did, holds what comes until the next.
func (h *hub) tick() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ticking = false
	if h.closed || len(h.pending) == 0 {
		return
	}
	for _, g := range h.pending {
		h.emit(g.event())
	}
	h.pending = nil
	h.startTick()
}

// flush emits the growths of one topic that wait.
func (h *hub) flush(topic string) {
	if topic == "" || len(h.pending) == 0 {
		return
	}
	var rest []*growth
	for _, g := range h.pending {
		if g.key.topic == topic {
			h.emit(g.event())
		} else {
			rest = append(rest, g)
		}
	}
	h.pending = rest
}

func (h *hub) emit(ev app.Event) {
	data, err := encodeEvent(h.seq+1, ev)
	if err != nil {
		h.log.Error("an event can't be encoded", "event", ev.EventName(), "error", err)
		return
	}
	h.seq++
	e := &event{seq: h.seq, topic: ev.Topic(), data: data}
	if key, ok := growKeyOf(ev); ok {
		e.grows, e.key = ev, key
	}
	h.keep(e)
	for q, topics := range h.queues {
		if e.topic == "" || topics[e.topic] {
			q.pushEvent(e)
		}
	}
}

func (h *hub) keep(e *event) {
	h.kept = append(h.kept, e)
	h.bytes += len(e.data)
	for len(h.kept) > maxHistory || h.bytes > maxReplay {
		h.bytes -= len(h.kept[0].data)
		h.kept[0] = nil
		h.kept = h.kept[1:]
	}
}

// attach adds a host's queue. If the host came back in time, its queue starts with what it missed.
func (h *hub) attach(q *queue, from *hello) welcome {
	h.mu.Lock()
	defer h.mu.Unlock()
	topics := map[string]bool{}
	for _, t := range from.Join {
		addTopic(topics, t)
	}
	h.queues[q] = topics
	w := welcome{Core: h.core, Seq: h.seq}
	w.Resumed = from.Core == h.core && from.Since <= h.seq && h.seq-from.Since <= uint64(len(h.kept))
	if !w.Resumed {
		return w
	}
	for _, e := range h.kept[len(h.kept)-int(h.seq-from.Since):] {
		if e.topic == "" || topics[e.topic] {
			q.pushEvent(e)
		}
	}
	return w
}

func (h *hub) detach(q *queue) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.queues, q)
}

// join changes the topics of a host.
func (h *hub) join(q *queue, join, leave []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	topics := h.queues[q]
	if topics == nil {
		return
	}
	for _, t := range leave {
		delete(topics, t)
	}
	for _, t := range join {
		addTopic(topics, t)
	}
}

// joined reports whether any host has joined a topic.
func (h *hub) joined(topic string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, topics := range h.queues {
		if topics[topic] {
			return true
		}
	}
	return false
}

func addTopic(topics map[string]bool, t string) {
	if t != "" && len(t) <= maxNameSize && len(topics) < maxJoined {
		topics[t] = true
	}
}

// close stops the tick; what is published later is dropped.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	if h.timer != nil {
		h.timer.Stop()
	}
}
