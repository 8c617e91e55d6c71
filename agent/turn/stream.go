package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// checkpointEvery is how often a response being streamed is recorded: what a crash can lose of it.
const checkpointEvery = 250 * time.Millisecond

// streaming is a response on its way from the streamer's goroutine to the owner.
type streaming struct {
	events chan increment
	result chan streamed
	left   chan struct{} // closed when the owner no longer listens
}

type streamed struct {
	msg *model.Message
	err error
}

// respond streams one response and records what came of it, also when it failed: it was paid for.
// logErr is the log's.
func (c *Conversation) respond(ctx context.Context, t *openTurn, req *model.Request) (msg *model.Message, err, logErr error) {
	msg, err, logErr = c.stream(ctx, t, req)
	defer func() { t.live = nil }()
	if msg == nil {
		if msg = t.live; msg == nil {
			msg = &model.Message{}
		}
	}
	msg.Role = model.Assistant
	if msg.Model == "" {
		msg.Model = t.end.ID
	}
	msg.Via = t.end.Via
	if err != nil && t.interrupted {
		msg.Stop = model.StopCancelled
	} else if err != nil {
		msg.Stop = model.StopError
	}
	if logErr != nil || err != nil && len(msg.Parts) == 0 && msg.Usage == (model.Usage{}) {
		if t.live != nil {
			c.emit(Event{Dropped: &StepRef{Turn: t.id, Step: t.step, StepSeq: t.stepSeq}})
		}
		return msg, err, logErr
	}
	uniqueIDs(msg, t.stepSeq)
	r := transcript.Record{Kind: transcript.Assistant, Turn: t.id, Step: t.step, StepSeq: t.stepSeq, Message: msg}
	r.Cost, r.CostKnown = cost(&t.end, msg, cmp.Or(msg.Tier, req.Tier))
	if r, logErr = c.append(r); logErr != nil {
		return msg, err, logErr
	}
	t.stale = err != nil
	return r.Message, err, nil
}

// cost is what a response cost in micro-USD: what the provider says it billed, else by the prices.
func cost(e *Endpoint, m *model.Message, tier string) (micro int64, known bool) {
	switch {
	case m.Usage == (model.Usage{}):
		return 0, false
	case m.Usage.Cost > 0:
		return m.Usage.Cost, true
	case e.Price == nil:
		return 0, false
	}
	return e.Price(m.Usage, tier)
}

// stream gets one response, telling events and writing checkpoints. logErr is a checkpoint's.
func (c *Conversation) stream(ctx context.Context, t *openTurn, req *model.Request) (msg *model.Message, err, logErr error) {
	s := &streaming{events: make(chan increment, 64), result: make(chan streamed, 1), left: make(chan struct{})}
	defer close(s.left)
	c.work.Go(func() { s.result <- s.run(ctx, t, req) })
	var due <-chan time.Time
	event := func(e increment) {
		if t.live == nil { // the request is sent: now there is time to count it
			c.sized(t, req)
		}
		t.live = e.grow(t.live)
		defer c.grew(&e.event)
		c.emit(Event{Stream: &Stream{Turn: t.id, Step: t.step, StepSeq: t.stepSeq, Event: e.event, Part: e.part}})
		if due == nil {
			due = time.After(checkpointEvery)
		}
	}
	for {
		select {
		case e := <-s.events:
			event(e)
		case r := <-s.result:
			for len(s.events) > 0 {
				event(<-s.events)
			}
			return r.msg, r.err, logErr
		case <-due:
			due = nil
			if logErr = c.checkpoint(t); logErr != nil {
				t.stop()
			}
		case l := <-c.mail:
			c.serve(l)
		case <-t.late:
			return t.live, errLeft, logErr
		}
	}
}

// run is the streamer's goroutine.
func (s *streaming) run(ctx context.Context, t *openTurn, req *model.Request) (out streamed) {
	defer func() {
		if p := recover(); p != nil {
			out = streamed{err: &model.Error{Kind: model.ErrServer, Message: fmt.Sprintf("internal error: %v", p)}}
		}
	}()
	msg, err := t.end.Streamer.Stream(ctx, req, func(e model.Event) {
		select {
		case s.events <- incrementOf(e):
		case <-s.left:
		}
	})
	if err == nil && msg == nil {
		err = errors.New("the model gave no answer")
	}
	return streamed{msg, err}
}

// checkpoint records the response so far.
func (c *Conversation) checkpoint(t *openTurn) error {
	if t.live == nil {
		return nil
	}
	m := copyMessage(t.live)
	m.Role, m.Model, m.Via = model.Assistant, t.end.ID, t.end.Via
	_, err := c.append(transcript.Record{Kind: transcript.Partial, Turn: t.id, Step: t.step, StepSeq: t.stepSeq, Message: m})
	return err
}

// increment is an event with what it changed. The owner keeps a response of its own and grows it by
// them, so that an increment costs the same in a long response as in a short one.
type increment struct {
	event model.Event // without its message
	part  model.Part  // the event's, as it was then; its texts are shared
	usage model.Usage
	parts int // how many the response had
}

func incrementOf(e model.Event) increment {
	in := increment{event: e}
	in.event.Message = nil
	if m := e.Message; m != nil {
		in.usage, in.parts = m.Usage, len(m.Parts)
		if e.Index >= 0 && e.Index < len(m.Parts) {
			in.part = m.Parts[e.Index]
		}
	}
	return in
}

// grow changes the owner's response.
func (e *increment) grow(m *model.Message) *model.Message {
	if m == nil {
		m = &model.Message{Role: model.Assistant}
	}
	m.Usage = e.usage
	if i := e.event.Index; i >= 0 && i < e.parts {
		for len(m.Parts) <= i {
			m.Parts = append(m.Parts, model.Part{})
		}
		m.Parts[i] = e.part
	}
	return m
}

// copyMessage copies what goes on changing: the list of parts, not the text in them.
func copyMessage(m *model.Message) *model.Message {
	if m == nil {
		return nil
	}
	out := *m
	out.Parts = slices.Clone(m.Parts)
	return &out
}

// uniqueIDs gives a name to calls that came without one or with that of another call of the
// message, so that each result belongs to one call.
func uniqueIDs(m *model.Message, stepSeq uint64) {
	seen := map[string]bool{}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != model.ToolCall {
			continue
		}
		if p.CallID == "" || seen[p.CallID] {
			p.CallID = "call_" + strconv.FormatUint(stepSeq, 10) + "_" + strconv.Itoa(i)
		}
		seen[p.CallID] = true
	}
}
