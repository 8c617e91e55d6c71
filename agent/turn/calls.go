package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"carrel/agent/model"
	"carrel/agent/permission"
	"carrel/agent/tool"
	"carrel/agent/transcript"
)

// maxReaders is how many read-only calls run at once.
const maxReaders = 4

// call is a call of a response: its part and the part's index.
type call struct {
	index int
	part  model.Part
}

func callsOf(m *model.Message) []call {
	var out []call
	for i, p := range m.Parts {
		if p.Kind == model.ToolCall {
			out = append(out, call{i, p})
		}
	}
	return out
}

// refusal says why a call is not run, "" when it may be.
func (c *Conversation) refusal(stop model.Stop, p model.Part) string {
	switch {
	case stop == model.StopLength:
		return "not run: the response was cut at the output limit, so this call may be incomplete. Nothing was changed. Send it again, with smaller content: several small writes instead of a large one."
	case p.Open:
		return "not run: the call was cut off before its end. Nothing was changed. Send it again, whole."
	case c.tools[p.Name] == nil:
		return fmt.Sprintf("not run: there is no tool %q.", p.Name)
	case !isObject(p.Input):
		return "not run: the arguments are not a valid JSON object. Send the call again with one."
	}
	return ""
}

// isObject reports whether arguments are a JSON object. None at all count as an empty one.
func isObject(input string) bool {
	input = strings.TrimSpace(input)
	return input == "" || input[0] == '{' && json.Valid([]byte(input))
}

// runCalls runs the calls of a response: neighbouring read-only ones together, the others one after
// another. It gives nil when the turn goes on.
func (c *Conversation) runCalls(ctx context.Context, t *openTurn, msg *model.Message, calls []call) *outcome {
	c.setState(RunningTools)
	if slices.ContainsFunc(calls, func(k call) bool { return k.part.Open }) || msg.Stop == model.StopLength {
		if t.cuts++; t.cuts >= maxCuts {
			o := failed(CodeCut, "The model's calls were cut at its output limit again and again. Ask for smaller steps, or choose another model.")
			return &o
		}
	} else {
		t.cuts = 0
	}
	t.results = map[string]model.Part{}
	return c.perform(ctx, t, msg.Stop, calls[0].index, calls)
}

// perform runs calls of a response whose first call has that index. It gives nil when the turn goes on.
func (c *Conversation) perform(ctx context.Context, t *openTurn, stop model.Stop, first int, calls []call) *outcome {
	env, envErr := tool.Env{}, error(nil)
	if slices.ContainsFunc(calls, func(k call) bool { return c.refusal(stop, k.part) == "" }) {
		env, envErr = await(ctx, c, t, c.cfg.Env)
	}
	r := &running{c: c, t: t, env: env, envErr: envErr, stop: stop, first: first, todo: calls, mail: make(chan func()), left: make(chan struct{})}
	defer close(r.left)
	if err := r.all(ctx); err != nil {
		t.stop()
		o := logFailure(err)
		return &o
	}
	if t.ending() {
		return &outcome{end: transcript.Interrupted}
	}
	return nil
}

// running is the calls of one step at work.
type running struct {
	c      *Conversation
	t      *openTurn
	env    tool.Env
	envErr error
	stop   model.Stop
	first  int // index of the response's first call
	todo   []call
	mail   chan func()   // what tools tell, to be done by the owner
	left   chan struct{} // closed when the owner no longer listens
	err    error         // of the log
	// judged is the id of the call that verdict is about, "" while there is none.
	judged  string
	verdict permission.Verdict
}

// all runs every call. Its error is of the log.
func (r *running) all(ctx context.Context) error {
	for {
		for len(r.todo) > 0 && r.err == nil && !r.t.ending() && r.next(ctx) {
		}
		if r.err != nil || len(r.t.active) == 0 && (r.t.ending() || len(r.todo) == 0) {
			return r.err
		}
		var stray <-chan struct{}
		if len(r.c.strays) > 0 {
			stray = r.c.strays[0].done
		}
		select {
		case f := <-r.mail:
			f()
		case l := <-r.c.mail:
			r.c.serve(l)
		case <-stray:
			r.c.strays = r.c.strays[1:]
		case <-r.t.late:
			return r.err // what still runs gets its result from closeTurn
		}
	}
}

// next deals with the first call that has not begun, and reports whether it could.
func (r *running) next(ctx context.Context) bool {
	k := r.todo[0]
	if text := r.refusal(k); text != "" {
		r.todo = r.todo[1:]
		r.err = r.refuse(k, text)
		return true
	}
	if !r.consent(ctx, k) {
		return false
	}
	if r.verdict.Decision == permission.Deny {
		r.todo = r.todo[1:]
		text := denial(r.verdict)
		r.judged = ""
		r.err = r.refuse(k, text)
		return true
	}
	if !r.mayStart(k) {
		return false
	}
	r.todo = r.todo[1:]
	r.err = r.start(ctx, k)
	r.judged = ""
	return true
}

// refuse records why a call is not run.
func (r *running) refuse(k call, text string) error {
	result := transcript.CutResult(k.part, text)
	r.t.results[k.part.CallID] = result
	return r.c.endCall(r.t.id, r.t.step, r.t.stepSeq, result, nil, "")
}

func (r *running) refusal(k call) string {
	if s := r.c.refusal(r.stop, k.part); s != "" {
		return s
	}
	if r.c.cfg.OneTool && k.index != r.first {
		return "not run: one call at a time. Send it again after the result of the first."
	}
	if r.envErr != nil {
		return fmt.Sprintf("not run: the workspace can't be used: %v", r.envErr)
	}
	return ""
}

// mayStart reports whether a call's turn has come. One that can change something runs alone, also
// without a call that an interrupt left behind.
func (r *running) mayStart(k call) bool {
	if r.c.tools[k.part.Name].Spec().ReadOnly {
		return len(r.t.active) < maxReaders && !slices.ContainsFunc(r.t.active, func(j *job) bool { return !j.readOnly })
	}
	return len(r.t.active) == 0 && len(r.c.strays) == 0
}

// start records and starts a call.
func (r *running) start(ctx context.Context, k call) error {
	c, t := r.c, r.t
	spec := c.tools[k.part.Name].Spec()
	rec, err := c.append(transcript.Record{
		Kind: transcript.ToolStart, Turn: t.id, Step: t.step, StepSeq: t.stepSeq, CallID: k.part.CallID, Tool: k.part.Name,
	})
	if err == nil && !spec.ReadOnly {
		err = c.log.Sync()
	}
	if err != nil {
		return err
	}
	j := &job{call: k, readOnly: spec.ReadOnly, started: rec.Time, done: make(chan struct{})}
	t.active = append(t.active, j)
	in := tool.Call{ID: k.part.CallID, Input: json.RawMessage(k.part.Input), Env: r.env, Confine: r.confine(k)}
	if strings.TrimSpace(k.part.Input) == "" {
		in.Input = json.RawMessage("{}")
	}
	in.Env.Progress = func(chunk string) { r.post(func() { r.progress(j, chunk) }) }
	in.Env.SaveTodos = r.saveTodos
	if places := r.verdict.Places; len(places) > 0 && c.cfg.Judge != nil {
		ctx = tool.Judged(ctx, places)
	}
	c.work.Go(func() {
		defer close(j.done)
		res := runTool(ctx, c.tools[k.part.Name], in)
		r.post(func() { r.finish(j, res) })
	})
	return nil
}

// runTool runs a tool; a panic is a failed result.
func runTool(ctx context.Context, t tool.Tool, in tool.Call) (res tool.Result) {
	defer func() {
		if p := recover(); p != nil {
			res = tool.Fail(fmt.Sprintf("the tool failed inside (%v); side effects unknown", p))
		}
	}()
	return fitted(t.Run(ctx, in))
}

// post hands work to the owner, unless it no longer listens.
func (r *running) post(f func()) bool {
	select {
	case r.mail <- f:
		return true
	case <-r.left:
		return false
	}
}

func (r *running) progress(j *job, chunk string) {
	j.grow(chunk)
	r.c.emit(Event{Progress: &Progress{CallID: j.part.CallID, StepSeq: r.t.stepSeq, Part: j.index, Chunk: chunk}})
}

// saveTodos is called by a tool. It returns when the list is recorded.
func (r *running) saveTodos(todos []tool.Todo) {
	saved := make(chan struct{})
	ok := r.post(func() {
		defer close(saved)
		_, err := r.c.append(transcript.Record{
			Kind: transcript.Todos, Turn: r.t.id, Step: r.t.step, StepSeq: r.t.stepSeq, Todos: slices.Clone(todos),
		})
		if err != nil && r.err == nil {
			r.err = err
		}
	})
	if ok {
		<-saved
	}
	if r.env.SaveTodos != nil {
		r.env.SaveTodos(todos)
	}
}

// finish records the result of a call.
func (r *running) finish(j *job, res tool.Result) {
	r.t.active = slices.DeleteFunc(slices.Clone(r.t.active), func(o *job) bool { return o == j })
	part := model.Part{Kind: model.ToolResult, CallID: j.part.CallID, Name: j.part.Name, IsError: res.IsError}
	part.Parts = r.c.keepable(res.Parts)
	how := transcript.End("")
	if r.t.ending() {
		how = transcript.Interrupted
		part.IsError = true
		part.Parts = append(part.Parts, model.Part{Kind: model.Text, Text: transcript.UnknownEffects})
	}
	var d *tool.Detail
	if !reflect.ValueOf(res.Detail).IsZero() {
		d = &res.Detail
	}
	r.t.results[part.CallID] = part
	if err := r.c.endCall(r.t.id, r.t.step, r.t.stepSeq, part, d, how); err != nil && r.err == nil {
		r.err = err
	}
}
