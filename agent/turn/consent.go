package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"carrel/agent/permission"
	"carrel/agent/tool"
	"carrel/agent/transcript"
)

// ErrNoQuestion is wrapped by Answer when the call does not wait for a person any more.
var ErrNoQuestion = errors.New("the call does not wait for an answer")

// maxReply is how long what a person says to a refusal may be, in bytes.
const maxReply = 16 << 10

// asking is a call that waits for a person.
type asking struct {
	Question
	turn  string
	step  int
	reply *transcript.Reply // nil while there is none
}

// Answer lets a call run that waits for a person, or refuses it. It returns when the answer is on disk.
// Always is Once for this call: who asks for it has saved the rules before.
func (c *Conversation) Answer(ctx context.Context, callID string, reply transcript.Reply) error {
	if len(reply.Text) > maxReply {
		reply.Text = strings.ToValidUTF8(reply.Text[:maxReply], "")
	}
	return c.ask(ctx, func(done func(error)) { done(c.settle(callID, reply)) })
}

func (c *Conversation) settle(callID string, reply transcript.Reply) error {
	a := c.asking
	if c.closing {
		return fmt.Errorf("answer call %q: %w", callID, ErrClosed)
	}
	if a == nil || a.CallID != callID || a.reply != nil {
		return fmt.Errorf("answer call %q: %w", callID, ErrNoQuestion)
	}
	_, err := c.append(transcript.Record{
		Kind: transcript.Answer, Turn: a.turn, Step: a.step, StepSeq: a.StepSeq, CallID: callID, Reply: &reply,
	})
	if err == nil {
		err = c.log.Sync()
	}
	if err != nil {
		return fmt.Errorf("answer call %q: %w", callID, err)
	}
	a.reply = &reply
	return nil
}

// consent reports whether it is known what becomes of a call: verdict then says Allow or Deny. Who
// must be asked is asked here.
func (r *running) consent(ctx context.Context, k call) bool {
	id := k.part.CallID
	if r.judged == id {
		return r.verdict.Decision != permission.Ask || r.heard(k)
	}
	// What still changes something could change what is judged.
	if slices.ContainsFunc(r.t.active, func(j *job) bool { return !j.readOnly }) || len(r.c.strays) > 0 && !r.c.tools[k.part.Name].Spec().ReadOnly {
		return false
	}
	v := permission.Verdict{Decision: permission.Allow}
	if r.c.cfg.Judge != nil {
		var err error
		v, err = await(ctx, r.c, r.t, func(ctx context.Context) (permission.Verdict, error) { return r.c.cfg.Judge(ctx, r.request(k)), nil })
		if err != nil {
			v = permission.Verdict{Decision: permission.Deny, Reason: "Whether it may run could not be found out: " + err.Error() + "."}
		}
		if r.t.ending() {
			return false
		}
	}
	r.judged, r.verdict = id, v
	if a := r.c.asking; a != nil && a.CallID == id {
		return r.stillAsked(k)
	}
	if v.Decision != permission.Ask {
		return true
	}
	r.err = r.ask(k)
	return false
}

// request is a call as it is judged.
func (r *running) request(k call) permission.Request {
	spec := r.c.tools[k.part.Name].Spec()
	return permission.RequestOf(spec.Name, json.RawMessage(k.part.Input), spec.ReadOnly || spec.Harmless)
}

// askedFor is the question that a verdict leads to.
func askedFor(v permission.Verdict) transcript.Asked {
	asked := transcript.Asked{Reason: v.Reason, Rule: v.Rule, Always: v.Always(), Broad: v.Broad()}
	for _, right := range v.Rights {
		asked.Rights = append(asked.Rights, transcript.Right{Kind: string(right.Kind), What: right.What})
		asked.Outside = asked.Outside || right.Kind == permission.RightOutside
	}
	return asked
}

// ask records the question and tells it.
func (r *running) ask(k call) error {
	c, t := r.c, r.t
	asked := askedFor(r.verdict)
	rec, err := c.append(transcript.Record{
		Kind: transcript.Question, Turn: t.id, Step: t.step, StepSeq: t.stepSeq, CallID: k.part.CallID, Tool: k.part.Name, Asked: &asked,
	})
	if err == nil {
		err = c.log.Sync()
	}
	if err != nil {
		return err
	}
	c.asking = askingOf(&rec, k.index)
	if c.state == WaitingForUser { // another question stood there
		c.tell()
	}
	c.setState(WaitingForUser)
	return nil
}

// heard takes the person's answer, and reports whether there is one.
func (r *running) heard(k call) bool {
	a := r.c.asking
	if a == nil || a.CallID != k.part.CallID || a.reply == nil {
		return false
	}
	r.c.asking = nil
	r.verdict.Decision = permission.Allow
	if a.reply.Choice == transcript.No {
		r.verdict = permission.Verdict{Decision: permission.Deny, Reason: refused(a.reply.Text)}
	}
	r.c.setState(RunningTools)
	return true
}

// refused tells a model that the person said no.
func refused(text string) string {
	if text = strings.TrimSpace(text); text != "" {
		return "The person refused it and said: " + text
	}
	return "The person refused it. Don't try to reach the same in another way; go on without it, or ask the person what to do instead."
}

// denial words a refusal for the model.
func denial(v permission.Verdict) string {
	return strings.TrimSpace("not run: " + v.Reason + " " + v.Hint)
}

// confine says how the sandbox is to hold a call that may run.
func (r *running) confine(k call) tool.Confine {
	switch {
	case r.verdict.ReadOnly:
		return tool.ConfineReadOnly
	case r.c.cfg.Judge != nil && r.request(k).Unsandboxed:
		return tool.ConfineNot
	}
	return tool.ConfinePolicy
}
