package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

const (
	// maxSteps is how many steps a turn may have, unless the Config says. One that long goes in
	// circles.
	maxSteps = 200
	// maxCuts is how many responses in a row may have calls cut at the output limit.
	maxCuts = 3
	// grace is how long an interrupt waits for what it cancelled, before it goes on without. With
	// it an interrupt takes effect within 200 ms.
	grace = 75 * time.Millisecond
)

// errLeft says that the owner went on without the answer, after an interrupt.
var errLeft = errors.New("interrupted")

// openTurn is the turn that runs.
type openTurn struct {
	accepted
	cancel      context.CancelFunc // of the turn's context, on which every child hangs
	late        chan struct{}      // closed when an interrupt has waited long enough
	stopping    bool
	interrupted bool
	suspended   bool // the conversation closes, and a call waits for a person: the log stays as it is

	choice Choice
	end    Endpoint
	chain  []string // fallbacks that were not asked yet
	said   []string // models that refused

	attempt int                // of the step's request, from 1
	failure *transcript.Record // the Retry after which no step began yet
	now     bool               // a person asked not to wait
	giveUp  bool               // a person asked not to try again

	bare     bare
	stripped struct{ thinking, files bool } // what was tried already
	count    int                            // messages of the history in the newest request

	cuts    int
	live    *model.Message // the response being streamed
	active  []*job
	results map[string]model.Part // of the step's calls
	before  StepInfo              // the step before this one
}

// stop cancels everything that the turn started.
func (t *openTurn) stop() {
	if !t.stopping {
		t.stopping = true
		time.AfterFunc(grace, func() { close(t.late) })
	}
	t.cancel()
}

// ending reports whether no call may begin any more.
func (t *openTurn) ending() bool { return t.interrupted || t.suspended }

// runTurn answers one message.
func (c *Conversation) runTurn(a *accepted) {
	ctx, cancel := context.WithCancel(context.Background())
	t := &openTurn{accepted: *a, cancel: cancel, late: make(chan struct{}), choice: c.choice, bare: c.bare}
	if a.choice != nil {
		t.choice = a.choice.over(c.choice)
	}
	c.turn = t
	o := c.guard(ctx, t)
	cancel()
	if t.ending() && o.end == transcript.Failed && o.code != CodeLog {
		o = outcome{end: transcript.Interrupted} // what failed, failed because of it
	}
	c.strays = append(c.strays, t.active...)
	if t.suspended && o.end == transcript.Interrupted {
		return
	}
	if err := c.closeTurn(t.id, o); err != nil && o.code != CodeLog {
		o = logFailure(err)
	}
	c.turn, c.retry, c.asking, c.failedChoice = nil, nil, nil, t.choice
	switch o.end {
	case transcript.Done:
		c.state, c.code, c.problem = Idle, "", ""
	case transcript.Interrupted, transcript.Crashed:
		c.state, c.code, c.problem = Interrupted, "", ""
	case transcript.Failed:
		c.fail(o)
	}
	c.held = len(c.queue) > 0 && (o.end != transcript.Done || t.interrupted)
	c.tell()
	for _, done := range c.waiting {
		done(nil)
	}
	c.waiting = nil
}

// guard runs the steps; a panic of ours fails the turn and not the process.
func (c *Conversation) guard(ctx context.Context, t *openTurn) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = internalFailure(p)
		}
	}()
	return c.steps(ctx, t)
}

func (c *Conversation) steps(ctx context.Context, t *openTurn) outcome {
	switch {
	case t.pending != nil:
		if o := c.recovering(t); o != nil {
			return *o
		}
	case t.left != nil:
		if o := c.goOn(ctx, t); o != nil {
			return *o
		}
	case !t.opened:
		c.setState(Preparing)
		if _, err := c.append(transcript.Record{Kind: transcript.TurnStart, Turn: t.id, Model: t.choice.Model}); err != nil {
			return logFailure(err)
		}
	}
	if o := c.prepare(ctx, t); o != nil {
		return *o
	}
	most := c.cfg.MaxSteps
	if most <= 0 {
		most = maxSteps
	}
	for t.step < most {
		t.step++
		if o := c.step(ctx, t); o != nil {
			return *o
		}
	}
	return failed(CodeSteps, fmt.Sprintf("The turn was stopped after %d steps. Send a message to go on.", most))
}

// prepare finds the model and, once per conversation, the system prompt.
func (c *Conversation) prepare(ctx context.Context, t *openTurn) *outcome {
	c.setState(Preparing)
	if o := c.resolve(ctx, t, t.choice); o != nil {
		return o
	}
	if c.system != nil {
		return nil
	}
	system, err := await(ctx, c, t, func(ctx context.Context) (string, error) { return c.cfg.System(ctx), nil })
	if err != nil {
		return c.stopped(t, failed(CodeInternal, err.Error()))
	}
	c.system = &system
	return nil
}

// resolve makes a choice the turn's.
func (c *Conversation) resolve(ctx context.Context, t *openTurn, choice Choice) *outcome {
	end, err := await(ctx, c, t, func(ctx context.Context) (Endpoint, error) { return c.cfg.Resolve(ctx, choice) })
	if err != nil {
		return c.stopped(t, failed(CodeModel, err.Error()))
	}
	t.choice, t.end, t.chain, t.said = choice, end, end.Fallbacks, nil
	return nil
}

// stopped is the outcome of something that failed: interrupted when that was why.
func (c *Conversation) stopped(t *openTurn, o outcome) *outcome {
	if t.interrupted {
		o = outcome{end: transcript.Interrupted}
	}
	return &o
}

// step gets one response, however many attempts that takes, and runs its calls. It gives nil when
// the turn goes on.
func (c *Conversation) step(ctx context.Context, t *openTurn) *outcome {
	for t.attempt = max(1, t.tried+1); ; t.attempt++ {
		t.tried = 0
		msg, again, o := c.try(ctx, t)
		if o != nil {
			return o
		}
		if again {
			continue
		}
		t.before = StepInfo{Turn: t.id, Step: t.step, Message: *msg}
		return c.follow(ctx, t, msg)
	}
}

// follow does what a complete response asks for.
func (c *Conversation) follow(ctx context.Context, t *openTurn, msg *model.Message) *outcome {
	calls := callsOf(msg)
	switch msg.Stop {
	case model.StopPause:
		return nil
	case model.StopOverflow:
		o := requestFailure(&model.Error{Kind: model.ErrOverflow, Message: "the context window is full"})
		return &o
	case model.StopError, model.StopCancelled, model.StopFilter:
		return c.stopped(t, requestFailure(&model.Error{Kind: model.ErrServer, Message: "the response ended with an error"}))
	case model.StopLength:
		if len(calls) == 0 {
			return c.note(t, "warning", "The response was cut at the model's output limit. Send a message such as \"continue\" for the rest.")
		}
	case model.StopEnd, model.StopTools:
	}
	if len(calls) == 0 {
		return &outcome{end: transcript.Done}
	}
	if o := c.runCalls(ctx, t, msg, calls); o != nil {
		return o
	}
	return c.called(t, calls)
}

// called decides whether the turn goes on after the calls of a step: nil when it does.
func (c *Conversation) called(t *openTurn, calls []call) *outcome {
	for _, k := range calls {
		t.before.Results = append(t.before.Results, t.results[k.part.CallID])
	}
	if c.cfg.Stop == nil {
		return nil
	}
	reason, stop := c.cfg.Stop(t.before)
	switch {
	case !stop:
		return nil
	case reason != "":
		return c.note(t, "info", reason)
	}
	return &outcome{end: transcript.Done}
}

// note records a note and ends the turn well.
func (c *Conversation) note(t *openTurn, level, text string) *outcome {
	if err := c.say(t, level, text); err != nil {
		o := logFailure(err)
		return &o
	}
	return &outcome{end: transcript.Done}
}

// say records a note.
func (c *Conversation) say(t *openTurn, level, text string) error {
	_, err := c.append(transcript.Record{Kind: transcript.Note, Turn: t.id, Step: t.step, StepSeq: t.stepSeq, Level: level, Note: text})
	return err
}

// await runs f on a goroutine of its own and serves commands until it answers. After an interrupt
// it waits for grace and then leaves f behind. A panic in f is its error.
func await[T any](ctx context.Context, c *Conversation, t *openTurn, f func(context.Context) (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	ch := make(chan answer, 1)
	c.work.Go(func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.err = fmt.Errorf("internal error: %v", p)
			}
			ch <- a
		}()
		a.v, a.err = f(ctx)
	})
	for {
		select {
		case a := <-ch:
			return a.v, a.err
		case l := <-c.mail:
			c.serve(l)
		case <-t.late:
			var zero T
			return zero, errLeft
		}
	}
}
