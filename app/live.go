package app

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf16"

	"carrel/agent/model"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// coalesce is how long growing text waits for more of it before hosts hear of it: a frame at 60 Hz.
const coalesce = 16 * time.Millisecond

// maxLiveOutput is how much of a running command's output hosts are shown; past it the older half
// goes, and the whole arrives with the result.
const maxLiveOutput = 64 << 10

// live turns what the owner of a conversation tells into events for hosts, and knows the entries of
// the step under way, so that a snapshot and the events after it fit together. Its methods may be
// called from any goroutine; publish is called with the lock held and must not block.
type live struct {
	workspace string
	publish   func(Event)

	mu      sync.Mutex
	rev     *atomic.Uint64
	step    *folder // the step under way: entries that the log may not hold yet
	stepSeq uint64
	pending []growth
	timer   *time.Timer
	lengths map[*string]length // of texts that grow
}

// length is how long a text is, so that it need not be counted again at each delta.
type length struct{ bytes, units int }

// growth is text that waits to be published; without a field, the whole entry does.
type growth struct {
	entry *Entry
	field string
	at    int
	text  []byte
}

func newLive(workspace string, publish func(Event)) *live {
	return &live{workspace: workspace, publish: publish, rev: &atomic.Uint64{}, step: newFolder(maxShown), lengths: map[*string]length{}}
}

// next is the revision for one more event.
func (l *live) next() uint64 {
	return l.rev.Add(1)
}

// entries gives copies of the entries of the step under way.
func (l *live) entries() []Entry {
	out := make([]Entry, len(l.step.entries))
	for i, e := range l.step.entries {
		out[i] = copyEntry(e)
	}
	return out
}

func copyEntry(e *Entry) Entry {
	c := *e
	if e.Tool != nil {
		t := *e.Tool
		c.Tool = &t
	}
	return c
}

// prime takes the records of a step under way without telling of them. It gives the sequence of the
// newest one, at least last.
func (l *live) prime(records []transcript.Record, last uint64) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range records {
		r := &records[i]
		if r.Kind == transcript.StepStart {
			l.step, l.stepSeq = newFolder(maxShown), r.Seq
		}
		for _, e := range l.step.apply(r) {
			e.Live = r.Kind == transcript.Partial
		}
		last = max(last, r.Seq)
	}
	return last
}

// record takes one record of the log.
func (l *live) record(r *transcript.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
	switch r.Kind {
	case transcript.Partial:
		return // the stream told it already
	case transcript.StepStart:
		l.step, l.stepSeq = newFolder(maxShown), r.Seq
		return
	case transcript.TurnEnd:
		for _, e := range l.step.cutOff("") { // its response broke off in the middle of a call
			l.changed(e)
		}
		defer func() { l.step, l.stepSeq = newFolder(maxShown), 0 }()
	case transcript.User, transcript.TurnStart, transcript.Boundary: // a boundary may be taken back
		defer func() { l.step, l.stepSeq = newFolder(maxShown), 0 }()
	case transcript.Assistant, transcript.ToolStart, transcript.ToolEnd, transcript.Note, transcript.Todos,
		transcript.Setup, transcript.Edit, transcript.Retry,
		transcript.Question, transcript.Answer:
	}
	l.apply(r, false)
	if replaces(r) {
		l.publish(EntriesReplaced{Workspace: l.workspace, Rev: l.next()})
	}
}

// replaces reports whether a record takes others out of the conversation.
func replaces(r *transcript.Record) bool { return r.From > 0 || r.Border == transcript.Clear }

// checkpoint shows how far another process's response is.
func (l *live) checkpoint(r *transcript.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.apply(r, true)
}

// apply folds a record into the step and tells what it changed. The lock is held.
func (l *live) apply(r *transcript.Record, growing bool) {
	clear(l.lengths)
	for _, e := range l.step.apply(r) {
		e.Live = growing
		l.changed(e)
	}
	l.removed(l.step.takeGone())
}

func (l *live) changed(e *Entry) {
	l.publish(EntryChanged{Workspace: l.workspace, Rev: l.next(), Entry: copyEntry(e)})
}

func (l *live) removed(ids []string) {
	if len(ids) > 0 {
		l.publish(EntriesRemoved{Workspace: l.workspace, Rev: l.next(), IDs: ids})
	}
}

// stream takes one increment of the response under way.
func (l *live) stream(s *turn.Stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.StepSeq != l.stepSeq {
		return
	}
	order := entryOrder(s.StepSeq, s.Event.Index)
	id := entryID(s.StepSeq, s.Event.Index)
	switch s.Event.Type {
	case model.PartStart:
		if s.Event.Kind == model.ToolCall { // a text is shown once it has some
			l.begin(s, id, order)
		}
	case model.PartDelta:
		e := l.step.find(id, order)
		if e == nil && s.Event.Delta != "" {
			e = l.begin(s, id, order)
		}
		switch {
		case e == nil:
		case e.Tool != nil:
			l.grow(e, "input", &e.Tool.Input, s.Event.Delta)
		default:
			l.grow(e, "text", &e.Text, s.Event.Delta)
		}
	case model.PartEnd:
		l.flush()
		if e := l.step.find(id, order); e != nil {
			e.Live = false
		}
	case model.UsageUpdate:
	}
}

// begin makes the entry of a part, nil for one that people do not see.
func (l *live) begin(s *turn.Stream, id string, order uint64) *Entry {
	e := &Entry{ID: id, Order: order, Kind: EntryAssistant, Time: time.Now().UTC(), Turn: s.Turn, Live: true}
	switch s.Event.Kind {
	case model.Text:
	case model.Reasoning:
		e.Reasoning = true
	case model.ToolCall:
		e.Kind, e.Tool = EntryTool, &ToolEntry{Status: ToolPending}
		e.Tool.Name = s.Part.Name
		l.step.calls[s.Part.CallID] = e
	case model.File, model.ToolResult, model.Native:
		return nil
	}
	l.flush()
	l.step.entries = append(l.step.entries, e)
	l.changed(e)
	return e
}

// progress takes output of a running call.
func (l *live) progress(p *turn.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.step.calls[p.CallID]
	if e == nil || e.Tool == nil || p.StepSeq != l.stepSeq {
		return
	}
	if len(e.Tool.Output)+len(p.Chunk) > maxLiveOutput {
		e.Tool.Output = tail(e.Tool.Output+p.Chunk, maxLiveOutput/2)
		l.whole(e)
		return
	}
	l.grow(e, "output", &e.Tool.Output, p.Chunk)
}

// tail is the end of s, at most n bytes, from the start of a line where there is one.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = strings.ToValidUTF8(s[len(s)-n:], "")
	if _, rest, ok := strings.Cut(s, "\n"); ok && rest != "" {
		return rest
	}
	return s
}

// dropped takes back what was streamed of a response that failed, down to what the log keeps of it.
func (l *live) dropped(kept *transcript.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
	if kept != nil && kept.StepSeq == l.stepSeq {
		l.apply(kept, false)
		return
	}
	var ids []string
	for _, e := range l.step.entries {
		ids = append(ids, e.ID)
	}
	l.step = newFolder(maxShown)
	l.removed(ids)
}

// grow appends to a field of an entry and remembers to publish it. A text that becomes too long is
// cut as it will be when it is read back.
func (l *live) grow(e *Entry, field string, to *string, text string) {
	room := maxShown - len(*to)
	if text == "" || room < 0 {
		return
	}
	text = cutText(strings.ToValidUTF8(text, "\uFFFD"), room) // hosts count what JSON can carry
	if g := l.pendingOf(e, field); g != nil {
		if g.field != "" {
			g.text = append(g.text, text...)
		}
	} else {
		l.wait(growth{entry: e, field: field, at: l.unitsOf(to), text: []byte(text)})
	}
	units := l.unitsOf(to) + utf16Len(text)
	*to += text
	l.lengths[to] = length{len(*to), units}
}

// unitsOf is the length of a text as JavaScript counts it.
func (l *live) unitsOf(text *string) int {
	known, ok := l.lengths[text]
	if !ok || known.bytes != len(*text) {
		known = length{len(*text), utf16Len(*text)}
		l.lengths[text] = known
	}
	return known.units
}

// whole remembers to publish an entry whole.
func (l *live) whole(e *Entry) {
	clear(l.lengths)
	l.pending = slices.DeleteFunc(l.pending, func(g growth) bool { return g.entry == e })
	l.wait(growth{entry: e})
}

// pendingOf is what waits of an entry and covers the field.
func (l *live) pendingOf(e *Entry, field string) *growth {
	for i := range l.pending {
		if g := &l.pending[i]; g.entry == e && (g.field == field || g.field == "") {
			return g
		}
	}
	return nil
}

func (l *live) wait(g growth) {
	l.pending = append(l.pending, g)
	if l.timer == nil {
		l.timer = time.AfterFunc(coalesce, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.flush()
		})
	}
}

// flush publishes what waits. The lock is held.
func (l *live) flush() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	for i := range l.pending {
		g := &l.pending[i]
		if g.field == "" {
			l.changed(g.entry)
			continue
		}
		l.publish(EntryGrew{Workspace: l.workspace, Rev: l.next(), Entry: g.entry.ID, Field: g.field,
			At: g.at, Text: string(g.text)})
	}
	l.pending = nil
}

// close publishes what waits; no timer is left behind.
func (l *live) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
}

// utf16Len is the length of s as JavaScript counts it.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}
