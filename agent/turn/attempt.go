package turn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

const (
	// maxAttempts is how many times a request is sent.
	maxAttempts = 10
	// firstWait is the longest wait after the first failure; it doubles up to longestWait. The wait
	// itself is drawn between nothing and that, so that conversations don't come back all at once.
	firstWait, longestWait = time.Second, time.Minute
	// longestAsked is how long a provider may ask us to wait. One that asks for more is not asked
	// again without a person.
	longestAsked = time.Hour
	// leastSeen is how long a wait that a restart found is shown at least, so that it can be stopped.
	leastSeen = 3 * time.Second
	// tick is how often the clock is looked at in a wait: a machine that slept wakes up late.
	tick = time.Second
)

// try makes one attempt. again says that the step's request has to be built and sent again.
func (c *Conversation) try(ctx context.Context, t *openTurn) (msg *model.Message, again bool, o *outcome) {
	pass, o := c.begin(ctx, t)
	if o != nil {
		return nil, false, o
	}
	defer pass.cancel()
	req, o := c.open(ctx, t)
	if o != nil {
		return nil, false, o
	}
	c.setState(Streaming)
	msg, err, logErr := c.respond(ctx, t, req)
	switch {
	case logErr != nil:
		failure := logFailure(logErr)
		return nil, false, &failure
	case t.interrupted && err != nil:
		return nil, false, &outcome{end: transcript.Interrupted}
	case err != nil:
		pass.done(err)
		again, o = c.failed(t, req, err)
		return nil, again, o
	}
	pass.done(nil)
	c.bare = t.bare
	if msg.Stop == model.StopFilter {
		again, o = c.refused(ctx, t)
		return nil, again, o
	}
	return msg, false, nil
}

// begin waits until the request may be sent and brings the log to where it begins.
func (c *Conversation) begin(ctx context.Context, t *openTurn) (*pass, *outcome) {
	for {
		provider := t.end.provider()
		p, o := c.admit(t)
		if o != nil {
			return nil, o
		}
		if o := c.enter(ctx, t); o != nil {
			p.cancel()
			return nil, o
		}
		if t.end.provider() == provider { // no message chose another one
			return p, nil
		}
		p.cancel()
	}
}

// enter brings the log to where the request begins: without what failed, and with the messages
// that wait for a step to end.
func (c *Conversation) enter(ctx context.Context, t *openTurn) *outcome {
	if t.interrupted {
		return &outcome{end: transcript.Interrupted}
	}
	c.setState(Preparing)
	if err := c.leaveStep(t); err != nil {
		o := logFailure(err)
		return &o
	}
	if t.step == 1 && t.attempt == 1 && !t.queued {
		return nil
	}
	choice, err := c.deliver(t)
	if err != nil {
		o := logFailure(err)
		return &o
	}
	if choice != nil {
		return c.resolve(ctx, t, choice.over(c.choice))
	}
	return nil
}

// leaveStep takes what the log holds of a failed attempt out of the history and off the screen.
func (c *Conversation) leaveStep(t *openTurn) error {
	if !t.stale {
		return nil
	}
	r := transcript.Record{Kind: transcript.Edit, Turn: t.id, Step: t.step, From: t.stepSeq}
	if f := t.failure; f != nil { // which is left too: a restart before the next attempt has to know of it
		r.Attempt, r.At, r.Code, r.Error = f.Attempt, f.At, f.Code, f.Error
	}
	if _, err := c.append(r); err != nil {
		return err
	}
	t.stale = false
	c.emit(Event{Dropped: &StepRef{Turn: t.id, Step: t.step, StepSeq: t.stepSeq}})
	return nil
}

// open builds the request and opens its step in the log.
func (c *Conversation) open(ctx context.Context, t *openTurn) (*model.Request, *outcome) {
	d, f := c.draft, c.form(t)
	if c.draft = nil; d == nil {
		d = &draft{log: c.log, blobs: map[string][]byte{}}
	}
	b, err := await(ctx, c, t, func(context.Context) (built, error) { return d.build(f) })
	if errors.Is(err, errUnsaved) {
		return nil, c.stopped(t, logFailure(err))
	}
	if err != nil {
		return nil, c.stopped(t, failed(CodeInternal, fmt.Sprintf("The request could not be built: %v.", err)))
	}
	c.draft, t.count = b.draft, b.count
	if t.interrupted {
		return nil, &outcome{end: transcript.Interrupted}
	}
	if o := c.overBudget(t, b.req); o != nil {
		return nil, o
	}
	if !c.log.State().Frame.Equal(b.frame) {
		if _, err := c.append(transcript.Record{Kind: transcript.Setup, Turn: t.id, Step: t.step, Frame: b.frame}); err != nil {
			o := logFailure(err)
			return nil, &o
		}
	}
	start, err := c.append(transcript.Record{Kind: transcript.StepStart, Turn: t.id, Step: t.step})
	if err != nil {
		o := logFailure(err)
		return nil, &o
	}
	t.stepSeq, t.failure = start.Seq, nil
	return b.req, nil
}

// failed decides what becomes of a failed attempt.
func (c *Conversation) failed(t *openTurn, req *model.Request, err error) (again bool, o *outcome) {
	failure := requestFailure(err)
	var e *model.Error
	if !errors.As(err, &e) {
		return false, &failure
	}
	if e.Kind == model.ErrBadRequest && c.strip(t, req) {
		return true, nil
	}
	if !e.Retryable() || !c.autoRetry() || t.attempt >= maxAttempts || e.RetryAfter > longestAsked {
		return false, &failure
	}
	now := c.cfg.Now()
	at := now.Add(rand.N(min(longestWait, firstWait<<(t.attempt-1)) + 1))
	if until := c.breakers.until(t.end.provider()); e.RetryAfter == 0 && until.After(at) {
		at = until
	}
	if e.RetryAfter > 0 {
		at = now.Add(e.RetryAfter)
	}
	r := transcript.Record{Kind: transcript.Retry, Turn: t.id, Step: t.step, StepSeq: t.stepSeq,
		Attempt: t.attempt, At: at.UTC(), Code: string(e.Kind), Error: e.Message}
	if _, err := c.append(r); err != nil {
		failure = logFailure(err)
		return false, &failure
	}
	t.failure = &r
	o = c.wait(t, Retrying, RetryWait{At: r.At, Attempt: t.attempt + 1, Of: maxAttempts, Code: r.Code, Reason: r.Error}, nil)
	if o != nil && o.end == transcript.Failed {
		o = &failure
	}
	return o == nil, o
}

// recovering goes on with the wait that a restart found.
func (c *Conversation) recovering(t *openTurn) *outcome {
	r := t.pending
	t.pending, t.failure = nil, r
	o := c.wait(t, Recovering, *c.retry, nil)
	if o != nil && o.end == transcript.Failed {
		f := requestFailure(&model.Error{Kind: model.ErrorKind(r.Code), Message: r.Error})
		o = &f
	}
	return o
}

// wait waits until its time has come, or changed is closed, or a person does not want to wait. Its
// outcome is Failed when a person gave up.
func (c *Conversation) wait(t *openTurn, s State, w RetryWait, changed <-chan struct{}) *outcome {
	t.now, t.giveUp, c.retry = false, false, &w
	if c.state == s {
		c.tell()
	}
	c.setState(s)
	defer func() { c.retry = nil }()
	for !t.now {
		left := w.At.Sub(c.cfg.Now().Round(0))
		if left <= 0 {
			return c.waited(t)
		}
		timer := time.NewTimer(min(left, tick))
		select {
		case <-timer.C:
		case <-changed:
			timer.Stop()
			return c.waited(t)
		case l := <-c.mail:
			timer.Stop()
			c.serve(l)
		}
		if o := c.waited(t); o != nil {
			return o
		}
	}
	return c.waited(t)
}

func (c *Conversation) waited(t *openTurn) *outcome {
	switch {
	case t.interrupted:
		return &outcome{end: transcript.Interrupted}
	case t.giveUp:
		return &outcome{end: transcript.Failed}
	}
	return nil
}

// admit waits until the provider's breaker lets the request pass.
func (c *Conversation) admit(t *openTurn) (*pass, *outcome) {
	provider := t.end.provider()
	if !c.autoRetry() {
		return c.breakers.force(provider), nil
	}
	for {
		p, at, changed := c.breakers.admit(provider)
		if p != nil {
			return p, nil
		}
		w := RetryWait{At: at.UTC().Round(0), Code: string(model.ErrOverloaded),
			Reason: fmt.Sprintf("%s failed several times in a row; it is asked again when one request has shown that it answers", provider)}
		if t.attempt > 1 {
			w.Attempt, w.Of = t.attempt, maxAttempts
		}
		if o := c.wait(t, Retrying, w, changed); o != nil {
			if o.end == transcript.Failed {
				f := requestFailure(&model.Error{Kind: model.ErrOverloaded, Message: w.Reason})
				o = &f
			}
			return nil, o
		}
		if t.now {
			return c.breakers.force(provider), nil
		}
	}
}

func (c *Conversation) autoRetry() bool { return c.cfg.AutoRetry == nil || c.cfg.AutoRetry() }

// refused asks the next model of the chain, for the rest of the turn.
func (c *Conversation) refused(ctx context.Context, t *openTurn) (again bool, o *outcome) {
	t.said = append(t.said, t.end.ID)
	var skipped []string
	for len(t.chain) > 0 {
		id := t.chain[0]
		t.chain = t.chain[1:]
		if slices.Contains(t.said, id) {
			continue
		}
		choice := Choice{Model: id, Level: t.choice.Level}
		end, err := await(ctx, c, t, func(ctx context.Context) (Endpoint, error) { return c.cfg.Resolve(ctx, choice) })
		if t.interrupted {
			return false, &outcome{end: transcript.Interrupted}
		}
		if err != nil {
			skipped = append(skipped, fmt.Sprintf("%s can't be asked: %v", id, err))
			continue
		}
		text := fmt.Sprintf("%s refused to answer. %s is asked instead, for this turn.", t.end.ID, end.ID)
		for _, s := range skipped {
			text += "\n\n" + s
		}
		t.end, t.stale, t.attempt = end, true, 0
		err = c.leaveStep(t)
		if err == nil {
			err = c.say(t, "warning", text)
		}
		if err != nil {
			f := logFailure(err)
			return false, &f
		}
		return true, nil
	}
	text := "The model refused to answer. Rephrase the message, or choose another model."
	if len(t.said) > 1 {
		text = fmt.Sprintf("All models that were asked refused to answer: %s. Rephrase the message, or choose another model.", strings.Join(t.said, ", "))
	}
	for _, s := range skipped {
		text += " " + s
	}
	f := failed(CodeFilter, text)
	return false, &f
}
