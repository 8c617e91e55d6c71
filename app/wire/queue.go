package wire

import (
	"slices"
	"sync"

	"github.com/coder/websocket"
)

// queue is what waits to be written to one connection: control before events before stream data.
// Pushing never blocks. Events are bounded in bytes: a reader that falls behind loses them all at
// once and is told so by a reset. Stream data is bounded by the streams' credit.
type queue struct {
	max  int           // bytes of events
	wake chan struct{} // has an element when there may be something to pop

	mu      sync.Mutex
	control []message
	events  []*waiting
	growing map[growKey]*waiting // the growth of a text that waits, if nothing of its topic came after
	dead    int                  // elements of events that were merged into a later one
	bytes   int                  // of events
	resetTo uint64               // number of the newest event that was dropped; 0: none
	streams []message
}

// message is a frame that is ready to be written.
type message struct {
	kind websocket.MessageType
	data []byte
	done func() // called once it is written or dropped; may be nil
}

// waiting is an event in a queue.
type waiting struct {
	seq    uint64
	data   []byte // the frame; nil if merged
	event  *event // nil once it is merged into a later one
	merged *growth
	size   int
}

func newQueue(maxBytes int) *queue {
	return &queue{max: maxBytes, wake: make(chan struct{}, 1), growing: map[growKey]*waiting{}}
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// pushControl adds a frame that overtakes events and data. It reports how many wait.
func (q *queue) pushControl(m message) int {
	n := q.addControl(m)
	q.signal()
	return n
}

// addControl is pushControl for one who sees to the writing.
func (q *queue) addControl(m message) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.control = append(q.control, m)
	return len(q.control)
}

// waits reports whether there may be something to pop.
func (q *queue) waits() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.control)+len(q.events)+len(q.streams) > 0 || q.resetTo > 0
}

// pushStream adds a frame of stream data.
func (q *queue) pushStream(data []byte) {
	q.mu.Lock()
	q.streams = append(q.streams, message{kind: websocket.MessageBinary, data: data})
	q.mu.Unlock()
	q.signal()
}

// pushEvent adds an event, merging it with the growth of the same text that waits.
func (q *queue) pushEvent(e *event) {
	q.mu.Lock()
	w := &waiting{seq: e.seq, data: e.data, event: e, size: len(e.data)}
	if e.grows != nil {
		q.merge(e, w)
		q.growing[e.key] = w
	} else if e.topic != "" {
		for key := range q.growing { // later growth must not move before this event, nor before it
			if key.topic == e.topic {
				delete(q.growing, key)
			}
		}
	}
	q.events = append(q.events, w)
	q.bytes += w.size
	if q.bytes > q.max {
		q.drop(e.seq)
	}
	q.mu.Unlock()
	q.signal()
}

// merge moves the text of the growth that waits, if there is one, into w. The merged event takes
// the later place, so that numbers still only grow.
func (q *queue) merge(e *event, w *waiting) {
	prev := q.growing[e.key]
	if prev == nil {
		return
	}
	g := prev.merged
	if g == nil {
		g = newGrowth(e.key, prev.event.grows)
	}
	if !g.add(e.grows) {
		return
	}
	w.merged, w.data, w.size = g, nil, len(g.text)+len(e.data)
	q.bytes -= prev.size
	*prev = waiting{}
	q.dead++
	if q.dead > 64 && q.dead > len(q.events)/2 {
		q.events = slices.DeleteFunc(q.events, func(w *waiting) bool { return w.event == nil })
		q.dead = 0
	}
}

func (q *queue) drop(seq uint64) {
	q.events, q.bytes, q.dead, q.resetTo = nil, 0, 0, seq
	clear(q.growing)
}

// pop returns the next frame to write, if there is one.
func (q *queue) pop() (message, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if m, ok := take(&q.control); ok {
		return m, true
	}
	if q.resetTo > 0 {
		data := mustEncode(outbound{Reset: true, Seq: q.resetTo})
		q.resetTo = 0
		return message{kind: websocket.MessageText, data: data}, true
	}
	if data := q.takeEvents(); data != nil {
		return message{kind: websocket.MessageText, data: data}, true
	}
	return take(&q.streams)
}

// takeEvents returns the frame of the next event or, when more wait, one frame of several: a message
// of its own costs a page more than what is in it. It is nil when none waits.
func (q *queue) takeEvents() []byte {
	first := q.takeEvent()
	if first == nil || len(first)+q.nextSize() > maxBatch {
		return first
	}
	second := q.takeEvent()
	if second == nil {
		return first
	}
	b := append([]byte(`{"events":[`), first...)
	for data := second; data != nil; {
		b = append(append(b, ','), data...)
		if len(b)+q.nextSize() > maxBatch {
			break
		}
		data = q.takeEvent()
	}
	return append(b, ']', '}')
}

// nextSize is about how long the next event's frame is, 0 when none waits.
func (q *queue) nextSize() int {
	for _, w := range q.events {
		if w.event != nil {
			return w.size
		}
	}
	return 0
}

// takeEvent returns the frame of the next event, nil when none waits.
func (q *queue) takeEvent() []byte {
	for len(q.events) > 0 {
		w := q.events[0]
		q.events[0] = nil
		q.events = q.events[1:]
		if w.event != nil {
			return q.write(w)
		}
		q.dead--
	}
	return nil
}

// write returns the frame of an event that leaves the queue.
func (q *queue) write(w *waiting) []byte {
	q.bytes -= w.size
	if w.event.grows != nil && q.growing[w.event.key] == w {
		delete(q.growing, w.event.key)
	}
	data := w.data
	if w.merged != nil {
		var err error
		if data, err = encodeEvent(w.seq, w.merged.event()); err != nil {
			panic(err) // strings and numbers only
		}
	}
	return data
}

func take(from *[]message) (message, bool) {
	if len(*from) == 0 {
		*from = nil
		return message{}, false
	}
	m := (*from)[0]
	(*from)[0] = message{}
	*from = (*from)[1:]
	return m, true
}

// abandon drops everything, telling those who wait.
func (q *queue) abandon() {
	q.mu.Lock()
	control := q.control
	q.control, q.streams = nil, nil
	q.drop(0)
	q.mu.Unlock()
	for _, m := range control {
		if m.done != nil {
			m.done()
		}
	}
}
