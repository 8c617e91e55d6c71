package turn

import (
	"context"
	"fmt"
	"slices"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// effectsStay is the note of an edited message after which tools had changed something.
const effectsStay = "What was said after the old message is left. Files that were changed and commands that were run after it stay as they are."

// Edit replaces a past message of the person, the User record of that Seq. Files and choice of the old
// message stay where the new one has nil. An open turn is interrupted, what was said from there on is left, and the message is sent. Nothing is erased, and
// what tools did stays done; the new message's record says so. ErrNoMessage is wrapped when there is
// no such message.
func (c *Conversation) Edit(ctx context.Context, seq uint64, m Message) error {
	q, err := c.queued(m)
	if err != nil {
		return err
	}
	return c.ask(ctx, func(done func(error)) { c.quietly(done, func() error { return c.edit(seq, q) }) })
}

// quietly does f when no turn is open, interrupting the open one.
func (c *Conversation) quietly(done func(error), f func() error) {
	switch {
	case c.closing:
		done(ErrClosed)
		return
	case c.turn == nil:
		done(f())
		return
	}
	c.later = append(c.later, letter{do: func(d func(error)) { c.quietly(d, f) }, done: done})
	c.interrupt()
}

func (c *Conversation) edit(seq uint64, q Queued) error {
	if c.knows(q.ID) {
		return nil
	}
	recs, err := c.log.Since(seq - 1)
	if err != nil {
		return fmt.Errorf("edit message: %w", err)
	}
	if seq == 0 || len(recs) == 0 || recs[0].Seq != seq || recs[0].Kind != transcript.User {
		return fmt.Errorf("edit message at %d: %w", seq, ErrNoMessage)
	}
	if err := c.mend(); err != nil {
		return err
	}
	q.keep(&recs[0])
	if q.empty() {
		return fmt.Errorf("edit message at %d: %w", seq, ErrEmpty)
	}
	a := &accepted{id: newID(), choice: q.Choice}
	r := transcript.Record{Kind: transcript.User, MessageID: q.ID, Message: q.message(), Choice: (*transcript.Choice)(q.Choice), From: seq}
	if joined, err := c.joins(&recs[0]); err != nil {
		return fmt.Errorf("edit message: %w", err)
	} else if joined { // the turn goes on from there
		a.id, a.opened = recs[0].Turn, true
	}
	r.Turn = a.id
	if slices.ContainsFunc(recs, c.hadEffects) {
		r.Note = effectsStay
	}
	if _, err := c.append(r); err != nil {
		return fmt.Errorf("edit message: %w", err)
	}
	if err := c.log.Sync(); err != nil {
		return fmt.Errorf("edit message: %w", err)
	}
	if a.opened {
		a.step = c.log.State().Step
		if turn, err := c.turnRecords(a.id); err == nil { // an earlier message of the turn may have chosen
			a.choice = choiceOf(turn)
		}
	}
	c.next, c.held = a, false
	return nil
}

// joins reports whether a message entered its turn while that ran.
func (c *Conversation) joins(r *transcript.Record) (bool, error) {
	before, _, err := c.log.Before(r.Seq, 1)
	if err != nil || len(before) == 0 {
		return false, err
	}
	return before[0].Turn == r.Turn, nil
}

// hadEffects reports whether a record is of a call that can have changed something.
func (c *Conversation) hadEffects(r transcript.Record) bool {
	if r.Kind != transcript.ToolStart {
		return false
	}
	t := c.tools[r.Tool]
	return t == nil || !t.Spec().ReadOnly
}

// Retry ends the wait for the next attempt, or repeats what failed or was interrupted last without a
// new message. ErrNothing is wrapped when there is nothing to repeat.
func (c *Conversation) Retry(ctx context.Context) error {
	return c.ask(ctx, func(done func(error)) {
		if c.turn != nil {
			c.turn.now = true
			done(nil)
			return
		}
		done(c.repeat())
	})
}

// repeat makes the turn that ended badly go on: its end is left, and its last step when that has no
// complete response.
func (c *Conversation) repeat() error {
	switch {
	case c.closing:
		return ErrClosed
	case c.next != nil:
		return nil
	}
	if err := c.mend(); err != nil {
		return err
	}
	st := c.log.State()
	if st.LastEnd == nil || st.LastEnd.End == transcript.Done || st.Start > st.LastEnd.Seq {
		return fmt.Errorf("retry: %w", ErrNothing)
	}
	last, err := c.lastTurn(st.LastEnd.Turn)
	if err != nil {
		return fmt.Errorf("retry: %w", err)
	}
	a := &accepted{id: st.LastEnd.Turn, opened: true, choice: last.choice, step: last.step}
	if _, err := c.append(transcript.Record{Kind: transcript.Edit, Turn: a.id, From: last.from}); err != nil {
		return fmt.Errorf("retry: %w", err)
	}
	if last.dropped != nil {
		c.emit(Event{Dropped: last.dropped})
	}
	c.next = a
	return nil
}

// ended is a turn that ended badly, as far as it matters for going on with it.
type ended struct {
	from    uint64   // the first record to leave
	step    int      // complete steps
	choice  *Choice  // of its messages
	dropped *StepRef // the step that is left
}

// turnRecords reads the newest turn, which has that id, from its first message on.
func (c *Conversation) turnRecords(id string) ([]transcript.Record, error) {
	var recs []transcript.Record
	for seq := uint64(0); ; seq = recs[0].Seq {
		page, more, err := c.log.Before(seq, 100)
		if err != nil {
			return nil, err
		}
		recs = append(slices.Clone(page), recs...)
		if !more || len(page) == 0 || slices.ContainsFunc(page, func(r transcript.Record) bool { return r.Turn != id }) {
			break
		}
	}
	return slices.DeleteFunc(recs, func(r transcript.Record) bool { return r.Turn != id }), nil
}

// choiceOf is the newest choice of a turn's messages, nil when they made none.
func choiceOf(recs []transcript.Record) (c *Choice) {
	for _, r := range recs {
		if r.Kind == transcript.User && r.Choice != nil {
			c = (*Choice)(r.Choice)
		}
	}
	return c
}

// lastTurn says how to go on with the newest turn, which has that id.
func (c *Conversation) lastTurn(id string) (e ended, err error) {
	recs, err := c.turnRecords(id)
	if err != nil {
		return e, err
	}
	e.choice = choiceOf(recs)
	complete, answered := false, false
	for _, r := range recs {
		switch r.Kind {
		case transcript.StepStart:
			e.step, e.from, complete = r.Step, r.Seq, false
		case transcript.Assistant:
			answered = answers(r.Message)
			switch r.Message.Stop {
			case model.StopEnd, model.StopTools, model.StopLength, model.StopPause:
				complete = true
			case model.StopError, model.StopCancelled, model.StopFilter, model.StopOverflow:
			}
		case transcript.TurnEnd:
			if answered {
				return e, ErrNothing
			}
			if complete || e.from == 0 {
				e.from = r.Seq
				return e, nil
			}
			e.dropped = &StepRef{Turn: id, Step: e.step, StepSeq: e.from}
			e.step--
			return e, nil
		case transcript.User, transcript.TurnStart, transcript.Partial, transcript.ToolStart, transcript.ToolEnd, transcript.Note,
			transcript.Todos, transcript.Setup, transcript.Edit, transcript.Boundary, transcript.Retry,
			transcript.Question, transcript.Answer:
		}
	}
	return e, ErrNothing
}

// StopRetry gives up waiting for the next attempt: the turn fails with the error that it waits for.
// Without a wait it does nothing.
func (c *Conversation) StopRetry(ctx context.Context) error {
	return c.ask(ctx, func(done func(error)) {
		if c.turn != nil && c.retry != nil {
			c.turn.giveUp = true
		}
		done(nil)
	})
}

// Clear starts the conversation anew: models don't get what was said before, and people don't see it
// any more unless soft. An open turn is interrupted first. Nothing is erased. Clearing what is clear
// does nothing.
func (c *Conversation) Clear(ctx context.Context, soft bool) error {
	return c.ask(ctx, func(done func(error)) { c.quietly(done, func() error { return c.clear(soft) }) })
}

func (c *Conversation) clear(soft bool) error {
	if err := c.mend(); err != nil {
		return err
	}
	empty, err := c.isClear(soft)
	if err != nil || empty {
		return err
	}
	border := transcript.Clear
	if soft {
		border = transcript.Reset
	}
	return c.border(transcript.Record{Kind: transcript.Boundary, Border: border})
}

// isClear reports whether clearing would change nothing.
func (c *Conversation) isClear(soft bool) (bool, error) {
	if !soft {
		recs, _, err := c.log.Before(0, 1)
		return len(recs) == 0 || recs[0].Kind == transcript.Boundary && recs[0].Border == transcript.Clear, err
	}
	history, err := c.log.History()
	return len(history) == 0, err
}

// Mended says that settings changed: a failure of key, quota or model is cleared when the model can
// be resolved now, so that the turn counts as interrupted. It sends nothing.
func (c *Conversation) Mended(ctx context.Context) error {
	var code string
	var choice Choice
	if err := c.ask(ctx, func(done func(error)) {
		code, choice = c.mendable(), c.failedChoice
		done(nil)
	}); err != nil || code == "" {
		return err
	}
	if _, err := c.cfg.Resolve(ctx, choice); err != nil {
		return nil // not mended
	}
	return c.ask(ctx, func(done func(error)) {
		if end := c.log.State().LastEnd; end != nil && c.mendable() == code {
			_, err := c.append(transcript.Record{Kind: transcript.TurnEnd, Turn: end.Turn, End: transcript.Interrupted,
				Error: "The settings were changed. Try again to go on."})
			if err != nil {
				done(fmt.Errorf("clear a failure: %w", err))
				return
			}
			c.state, c.code, c.problem = Interrupted, "", ""
			c.tell()
		}
		done(nil)
	})
}

// mendable is the code of a failure that settings can mend, "" for any other state.
func (c *Conversation) mendable() string {
	if c.turn == nil && c.next == nil && c.state == Failed {
		switch c.code {
		case CodeModel, string(model.ErrAuth), string(model.ErrQuota), string(model.ErrNotFound):
			return c.code
		}
	}
	return ""
}
