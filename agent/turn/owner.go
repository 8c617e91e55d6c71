package turn

import (
	"context"
	"fmt"
	"slices"

	"carrel/agent/transcript"
)

// own is the owner's goroutine.
func (c *Conversation) own() {
	defer func() {
		close(c.gone)
		c.work.Wait()
		close(c.quiet)
	}()
	for ready := c.cfg.Ready; ready != nil && !c.closing; {
		select {
		case <-ready:
			ready = nil
		case l := <-c.mail:
			c.serve(l)
		}
	}
	for !c.closing {
		if len(c.later) > 0 {
			l := c.later[0]
			c.later = c.later[1:]
			c.serve(l)
			continue
		}
		if a := c.takeNext(); a != nil {
			c.runTurn(a)
			continue
		}
		c.serve(<-c.mail)
	}
	for _, l := range c.later {
		c.serve(l)
	}
}

// serve does one command. A panic in it is its error.
func (c *Conversation) serve(l letter) {
	defer func() {
		if p := recover(); p != nil {
			l.done(fmt.Errorf("internal error: %v", p))
		}
	}()
	l.do(l.done)
}

func (c *Conversation) send(q Queued, done func(error)) {
	if c.knows(q.ID) {
		done(nil)
		return
	}
	if c.turn != nil && c.turn.interrupted && !c.closing {
		// Said after the interrupt: it is not held with what was queued before.
		c.later = append(c.later, letter{do: func(d func(error)) { c.send(q, d) }, done: done})
		return
	}
	if c.turn != nil || c.next != nil || c.closing {
		err := c.enqueue(q)
		if err == nil && c.turn != nil && c.held {
			c.held = false // the turn goes on from before a restart, or is repeated
			c.tell()
		}
		done(err)
		return
	}
	a, err := c.accept(q)
	if err != nil {
		done(err)
		return
	}
	c.next, c.held = a, false
	done(nil)
}

func (c *Conversation) knows(id string) bool {
	if id == "" {
		return false
	}
	return slices.Contains(c.log.State().MessageIDs, id) ||
		slices.ContainsFunc(c.queue, func(q Queued) bool { return q.ID == id })
}

// maxQueue is how many messages wait at most: each change of the queue tells all of it.
const maxQueue = 1000

func (c *Conversation) enqueue(q Queued) error {
	if len(c.queue) >= maxQueue {
		return fmt.Errorf("queue message %q: %w", q.ID, ErrFull)
	}
	err := c.withQueue(func(ctx context.Context) error { return c.cfg.Queue.Add(ctx, q) })
	if err == nil {
		c.queue = append(c.queue, q)
		c.tell()
	}
	return err
}

// accept puts a message into the log.
func (c *Conversation) accept(q Queued) (*accepted, error) {
	if err := c.mend(); err != nil {
		return nil, err
	}
	a := &accepted{id: newID(), choice: q.Choice}
	_, err := c.append(transcript.Record{
		Kind: transcript.User, Turn: a.id, MessageID: q.ID, Message: q.message(), Choice: (*transcript.Choice)(q.Choice),
	})
	if err == nil {
		err = c.log.Sync()
	}
	if err != nil {
		return nil, fmt.Errorf("record message %q: %w", q.ID, err)
	}
	return a, nil
}

// takeNext gives the message whose turn is to begin now, nil when there is none. A queued one is
// recorded before its row goes, so that a crash between the two delivers it once.
func (c *Conversation) takeNext() *accepted {
	if a := c.next; a != nil {
		c.next = nil
		return a
	}
	if c.held || len(c.queue) == 0 {
		return nil
	}
	q := c.queue[0]
	a, err := c.accept(q)
	if err != nil {
		c.held = true
		c.fail(logFailure(err))
		c.tell()
		return nil
	}
	// A row that stays is dropped at the next Start, since its id is in the log.
	_ = c.withQueue(func(ctx context.Context) error { return c.cfg.Queue.Remove(ctx, q.ID) })
	c.dropQueued(q.ID)
	a.queued = q.Dispatch == AfterStep
	return a
}

func (c *Conversation) dropQueued(id string) {
	c.queue = slices.DeleteFunc(slices.Clone(c.queue), func(q Queued) bool { return q.ID == id })
	if len(c.queue) == 0 {
		c.held = false
	}
}

func (c *Conversation) withQueue(f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), queueTimeout)
	defer cancel()
	return f(ctx)
}

// interrupt cancels the open turn.
func (c *Conversation) interrupt() {
	if c.turn.interrupted {
		return
	}
	c.turn.interrupted, c.asking = true, nil
	c.turn.stop()
	c.setState(Interrupting)
}

func (c *Conversation) setState(s State) {
	if c.state == s || c.state == Interrupting && s.Working() {
		return
	}
	c.state, c.code, c.problem = s, "", ""
	c.tell()
}

func (c *Conversation) fail(o outcome) { c.state, c.code, c.problem = Failed, o.code, o.text }

// tell emits the state as it is now.
func (c *Conversation) tell() {
	s := c.change()
	c.emit(Event{State: &s})
}

func (c *Conversation) change() StateChange {
	s := StateChange{State: c.state, Queue: slices.Clone(c.queue), Held: c.held, Choice: c.choice, Model: c.choice.Model,
		Spent: c.spent, Tokens: c.gauge.tokens(), Code: c.code, Error: c.problem}
	if c.retry != nil {
		w := *c.retry
		s.Retry = &w
	}
	if c.asking != nil {
		s.Question = new(c.asking.Question)
	}
	if c.turn != nil && c.turn.end.ID != "" {
		s.Model, s.Window = c.turn.end.ID, c.turn.end.Window
	}
	if c.left != nil {
		s.Budget = new(*c.left)
	}
	return s
}

func (c *Conversation) emit(e Event) {
	if !c.silent {
		c.cfg.Events(e)
	}
}

func (c *Conversation) snapshot() Snapshot {
	s := Snapshot{StateChange: c.change(), LastSeq: c.log.State().LastSeq}
	t := c.turn
	if t == nil {
		return s
	}
	s.Turn, s.Step, s.StepSeq, s.Live = t.id, t.step, t.stepSeq, copyMessage(t.live)
	for _, j := range t.active {
		s.Running = append(s.Running, j.running(t.stepSeq))
	}
	return s
}
