package app

import (
	"strings"
	"sync"
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
	rev     uint64
	step    *folder // the step under way: entries that the log may not hold yet
	stepSeq uint64
	turn    string
	pending []growth
	timer   *time.Timer
}

// growth is text that waits to be published.
type growth struct {
	entry *Entry
	field string
	at    int
	text  []byte
}

func newLive(workspace string, publish func(Event)) *live {
	return &live{workspace: workspace, publish: publish, step: newFolder(maxShown)}
}

// next is the revision for one more event.
func (l *live) next() uint64 {
	l.rev++
	return l.rev
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

// record takes one record of the log.
func (l *live) record(r *transcript.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
	switch r.Kind {
	case transcript.Partial:
		return // the stream told it already
	case transcript.StepStart:
		l.step, l.stepSeq, l.turn = newFolder(maxShown), r.Seq, r.Turn
		return
	case transcript.User, transcript.TurnStart, transcript.TurnEnd:
		defer func() { l.step, l.stepSeq = newFolder(maxShown), 0 }()
	case transcript.Assistant, transcript.ToolStart, transcript.ToolEnd, transcript.Note, transcript.Todos:
	}
	for _, e := range l.step.apply(r) {
		e.Live = false
		l.changed(e)
	}
}

func (l *live) changed(e *Entry) {
	l.publish(EntryChanged{Workspace: l.workspace, Rev: l.next(), Entry: copyEntry(e)})
}

// stream takes one increment of the response under way.
func (l *live) stream(s *turn.Stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.StepSeq != l.stepSeq {
		return
	}
	id := entryID(s.StepSeq, s.Event.Index)
	switch s.Event.Type {
	case model.PartStart:
		l.flush()
		if e := l.start(s, id); e != nil {
			l.changed(e)
		}
	case model.PartDelta:
		e := l.step.find(id)
		if e == nil {
			if e = l.start(s, id); e == nil {
				return
			}
			l.changed(e)
		}
		switch {
		case e.Tool != nil:
			l.grow(e, "input", &e.Tool.Input, s.Event.Delta)
		default:
			l.grow(e, "text", &e.Text, s.Event.Delta)
		}
	case model.PartEnd:
		l.flush()
		if e := l.step.find(id); e != nil {
			e.Live = false
		}
	case model.UsageUpdate:
	}
}

// start makes the entry of a part that began.
func (l *live) start(s *turn.Stream, id string) *Entry {
	e := &Entry{ID: id, Order: entryOrder(s.StepSeq, s.Event.Index), Kind: EntryAssistant,
		Time: time.Now().UTC(), Turn: s.Turn, Live: true}
	switch s.Event.Kind {
	case model.Text:
	case model.Reasoning:
		e.Reasoning = true
	case model.ToolCall:
		e.Kind, e.Tool = EntryTool, &ToolEntry{Status: ToolPending}
		if m := s.Event.Message; m != nil && s.Event.Index < len(m.Parts) {
			part := &m.Parts[s.Event.Index]
			e.Tool.Name = part.Name
			l.step.calls[part.CallID] = e
		}
	case model.File, model.ToolResult:
		return nil
	}
	l.step.entries = append(l.step.entries, e)
	return e
}

// progress takes output of a running call.
func (l *live) progress(p *turn.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.step.calls[p.CallID]
	if e == nil || e.Tool == nil {
		return
	}
	if len(e.Tool.Output)+len(p.Chunk) > maxLiveOutput {
		l.flush()
		e.Tool.Output = tail(e.Tool.Output+p.Chunk, maxLiveOutput/2)
		l.changed(e)
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

// dropped forgets the step's entries, whose response failed and stays out of the history.
func (l *live) dropped() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
	ids := make([]string, len(l.step.entries))
	for i, e := range l.step.entries {
		ids[i] = e.ID
	}
	l.step = newFolder(maxShown)
	if len(ids) > 0 {
		l.publish(EntriesRemoved{Workspace: l.workspace, Rev: l.next(), IDs: ids})
	}
}

// grow appends to a field of an entry and remembers to publish it.
func (l *live) grow(e *Entry, field string, to *string, text string) {
	if text == "" || len(*to) > maxShown {
		return
	}
	last := len(l.pending) - 1
	if last < 0 || l.pending[last].entry != e || l.pending[last].field != field {
		l.pending = append(l.pending, growth{entry: e, field: field, at: utf16Len(*to)})
		last++
	}
	l.pending[last].text = append(l.pending[last].text, text...)
	*to += text
	if l.timer == nil {
		l.timer = time.AfterFunc(coalesce, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.flush()
		})
	}
}

// flush publishes what grew. The lock is held.
func (l *live) flush() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	for i := range l.pending {
		g := &l.pending[i]
		l.publish(EntryGrew{Workspace: l.workspace, Rev: l.next(), Entry: g.entry.ID, Field: g.field,
			At: g.at, Text: string(g.text)})
	}
	l.pending = nil
}

// utf16Len is the length of s as JavaScript counts it.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}
