package turn

import (
	"context"
	"fmt"
	"slices"

	"carrel/agent/model"
	"carrel/agent/permission"
	"carrel/agent/transcript"
)

// leftStep is a step that was cut off while one of its calls waited for a person. That call and those
// after it have not begun; what began before it can only have read.
type leftStep struct {
	msg     *model.Message
	results map[string]model.Part // of the calls that have one
}

// askingOf is the wait that a Question record tells of; part is the call's index in its response.
func askingOf(r *transcript.Record, part int) *asking {
	return &asking{turn: r.Turn, step: r.Step,
		Question: Question{CallID: r.CallID, Tool: r.Tool, StepSeq: r.StepSeq, Part: part, Since: r.Time, Asked: *r.Asked}}
}

// waitOn prepares to go on with a turn whose call waited for a person when the process ended. It only
// reads: another kill finds the same.
func (c *Conversation) waitOn(st *transcript.State) error {
	q := st.Question
	recs, err := c.turnRecords(st.Turn)
	if err != nil {
		return err
	}
	left := &leftStep{results: map[string]model.Part{}}
	for _, r := range recs {
		switch {
		case r.StepSeq != st.StepSeq:
		case r.Kind == transcript.Assistant:
			left.msg = r.Message
		case r.Kind == transcript.ToolEnd:
			left.results[r.CallID] = *r.Result
		}
	}
	if left.msg == nil || q.Asked == nil {
		return fmt.Errorf("go on with the question of call %q: its response is not there", q.CallID)
	}
	calls := callsOf(left.msg)
	i := slices.IndexFunc(calls, func(k call) bool { return k.part.CallID == q.CallID })
	if i < 0 || started(st, q.CallID) {
		return fmt.Errorf("go on with the question of call %q: it does not wait", q.CallID)
	}
	c.asking = askingOf(q, calls[i].index)
	c.next = &accepted{id: st.Turn, opened: true, choice: choiceOf(recs), step: st.Step, stepSeq: st.StepSeq, left: left}
	c.state = WaitingForUser
	return nil
}

// started reports whether a call began and has no result.
func started(st *transcript.State, id string) bool {
	return slices.ContainsFunc(st.OpenCalls, func(r transcript.Record) bool { return r.CallID == id })
}

// goOn runs what is left of a step, from the call on that waits for a person. It gives nil when the turn
// goes on.
func (c *Conversation) goOn(ctx context.Context, t *openTurn) *outcome {
	left := t.left
	t.left, t.results = nil, left.results
	calls := callsOf(left.msg)
	st := c.log.State()
	var todo []call
	for _, k := range calls {
		id := k.part.CallID
		if _, ended := t.results[id]; ended {
			continue
		}
		if !started(&st, id) {
			todo = append(todo, k)
			continue
		}
		result := transcript.CutResult(k.part, transcript.UnknownEffects)
		t.results[id] = result
		if err := c.endCall(t.id, t.step, t.stepSeq, result, nil, transcript.Crashed); err != nil {
			o := logFailure(err)
			return &o
		}
	}
	t.before = StepInfo{Turn: t.id, Step: t.step, Message: *left.msg}
	if o := c.perform(ctx, t, left.msg.Stop, calls[0].index, todo); o != nil {
		return o
	}
	return c.called(t, calls)
}

// stillAsked decides about a call whose question is older than this process, and reports whether it is
// known what becomes of it. Settings may have changed since: what is denied by now is refused, another
// question is asked anew, and what would be allowed waits for the answer all the same, so that nothing
// runs because Carrel was started.
func (r *running) stillAsked(k call) bool {
	a := r.c.asking
	switch r.verdict.Decision {
	case permission.Deny:
		r.c.asking = nil
		r.c.setState(RunningTools)
		return true
	case permission.Ask:
		if !sameQuestion(askedFor(r.verdict), a.Asked) {
			r.c.asking = nil
			r.err = r.ask(k)
			return false
		}
	case permission.Allow:
		r.verdict.Decision = permission.Ask
	}
	return r.heard(k)
}

// sameQuestion reports whether two questions ask for the same.
func sameQuestion(a, b transcript.Asked) bool {
	return a.Reason == b.Reason && a.Rule == b.Rule && a.Outside == b.Outside && slices.Equal(a.Rights, b.Rights) &&
		slices.Equal(a.Always, b.Always) && slices.Equal(a.Broad, b.Broad)
}
