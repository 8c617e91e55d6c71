package turn

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"carrel/agent/model"
	"carrel/agent/tool"
	"carrel/agent/transcript"
)

// newID gives an id of a turn or of a message that came without one.
func newID() string { return strings.ToLower(rand.Text()[:12]) }

// append appends a record and tells it.
func (c *Conversation) append(r transcript.Record) (transcript.Record, error) {
	out, err := c.log.Append(r)
	if err != nil {
		return out, err
	}
	c.measure(&out)
	if r.Kind != transcript.Partial {
		c.emit(Event{Record: &out})
	}
	return out, nil
}

// measure notes what a record costs and how much it makes the context grow.
func (c *Conversation) measure(r *transcript.Record) {
	if r.CostKnown {
		c.spent += r.Cost
		if c.left != nil {
			c.left = new(max(0, *c.left-r.Cost))
		}
	}
	switch {
	case r.From > 0, r.Kind == transcript.Boundary:
		c.gauge = gauge{counted: c.log.State().Context, last: c.gauge.last, told: c.gauge.told}
	case r.Kind == transcript.Assistant:
		c.answered(r.Message.Usage)
	case r.Kind == transcript.User:
		c.gauge.grow(r.Message.Parts)
	case r.Kind == transcript.ToolEnd:
		c.gauge.grow(r.Result.Parts)
	}
}

// resume sets the state from log and queue, closing what a crash left open.
func (c *Conversation) resume() error {
	c.silent = true
	defer func() { c.silent = false }()
	st := c.log.State()
	err := c.withQueue(func(ctx context.Context) (err error) {
		if c.queue, err = c.cfg.Queue.List(ctx); err != nil {
			return err
		}
		for _, q := range slices.Clone(c.queue) {
			if slices.Contains(st.MessageIDs, q.ID) { // recorded just before a crash
				if err := c.cfg.Queue.Remove(ctx, q.ID); err != nil {
					return err
				}
				c.dropQueued(q.ID)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.held = len(c.queue) > 0
	c.spent, c.gauge.counted = st.Cost, st.Context
	c.budget()
	if f := st.Frame; f != nil {
		c.bare = bare{max(0, f.BareThinking), max(0, f.BareFiles)}
	}
	if st.Turn != "" && st.Retry != nil && c.autoRetry() {
		if err := c.recover(&st); err == nil {
			return nil
		}
	}
	if st.Question != nil && c.cfg.Judge != nil && !c.cfg.Unattended {
		if err := c.waitOn(&st); err == nil {
			return nil
		}
	}
	if err := c.mend(); err != nil {
		c.fail(logFailure(err))
		return nil
	}
	if end := c.log.State().LastEnd; end != nil {
		switch end.End {
		case transcript.Done:
		case transcript.Interrupted, transcript.Crashed:
			c.state = Interrupted
		case transcript.Failed:
			c.fail(outcome{code: end.Code, text: end.Error})
		}
	}
	return nil
}

// recover prepares to go on with a turn whose request was to be sent again when the process ended.
func (c *Conversation) recover(st *transcript.State) error {
	recs, err := c.turnRecords(st.Turn)
	if err != nil {
		return err
	}
	a := &accepted{id: st.Turn, opened: true, choice: choiceOf(recs), step: st.Retry.Step - 1, tried: st.Retry.Attempt,
		pending: st.Retry, stepSeq: st.StepSeq}
	a.stale = st.Retry.Kind == transcript.Retry && slices.ContainsFunc(recs, func(r transcript.Record) bool {
		return r.StepSeq == st.StepSeq && (r.Kind == transcript.Assistant || r.Kind == transcript.Partial)
	})
	at := st.Retry.At
	if soon := c.cfg.Now().UTC().Round(0).Add(leastSeen); at.Before(soon) {
		at = soon
	}
	c.retry = &RetryWait{At: at, Attempt: a.tried + 1, Of: maxAttempts, Code: st.Retry.Code, Reason: st.Retry.Error}
	c.next, c.state = a, Recovering
	return nil
}

// mend closes a turn that is open in the log though none runs: after a crash, or when its end could
// not be written.
func (c *Conversation) mend() error {
	st := c.log.State()
	if st.Turn == "" && st.Unanswered == "" {
		return nil
	}
	c.asking = nil
	id := st.Turn
	if id == "" {
		id = st.Unanswered
		if _, err := c.append(transcript.Record{Kind: transcript.TurnStart, Turn: id, Model: c.choice.Model}); err != nil {
			return fmt.Errorf("close turn %q: %w", id, err)
		}
	}
	if c.code != "" { // this process knows how it ended
		return c.closeTurn(id, failed(c.code, c.problem))
	}
	if c.wasAnswered() {
		return c.closeTurn(id, outcome{end: transcript.Done})
	}
	return c.closeTurn(id, outcome{end: transcript.Crashed})
}

// wasAnswered reports whether nothing but its end is missing of the open turn.
func (c *Conversation) wasAnswered() bool {
	recs, _, err := c.log.Before(0, 1)
	return err == nil && len(recs) > 0 && recs[0].Kind == transcript.Assistant && answers(recs[0].Message)
}

// answers reports whether a response is the last one of its turn, which no other may follow.
func answers(m *model.Message) bool {
	switch m.Stop {
	case model.StopEnd, model.StopTools, model.StopLength:
		return len(callsOf(m)) == 0
	case model.StopPause, model.StopFilter, model.StopOverflow, model.StopError, model.StopCancelled:
	}
	return false
}

// closeTurn writes the end of a turn: results for its unfinished calls, then TurnEnd, on disk.
func (c *Conversation) closeTurn(id string, o outcome) error {
	st := c.log.State()
	how := transcript.Interrupted
	if o.end == transcript.Crashed {
		how = transcript.Crashed
	}
	for _, call := range st.Calls {
		if call.Open {
			continue
		}
		text := transcript.NotStarted
		if slices.ContainsFunc(st.OpenCalls, func(r transcript.Record) bool { return r.CallID == call.CallID }) {
			text = transcript.UnknownEffects
		}
		if st.Question != nil && st.Question.CallID == call.CallID {
			text = transcript.NotAnswered
		}
		if err := c.endCall(id, st.Step, st.StepSeq, transcript.CutResult(call, text), nil, how); err != nil {
			return fmt.Errorf("close turn %q: %w", id, err)
		}
	}
	_, err := c.append(transcript.Record{Kind: transcript.TurnEnd, Turn: id, End: o.end, Code: o.code, Error: o.text})
	if err == nil {
		err = c.log.Sync()
	}
	if err != nil {
		return fmt.Errorf("close turn %q: %w", id, err)
	}
	return nil
}

// endCall records the result of a call.
func (c *Conversation) endCall(turn string, step int, stepSeq uint64, result model.Part, d *tool.Detail, how transcript.End) error {
	_, err := c.append(transcript.Record{
		Kind: transcript.ToolEnd, Turn: turn, Step: step, StepSeq: stepSeq,
		CallID: result.CallID, Tool: result.Name, Result: &result, Detail: d, End: how,
	})
	return err
}
