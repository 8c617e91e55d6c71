package turn_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"carrel/agent/model"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
	"carrel/store"
)

// reply is one scripted response.
type reply func(ctx context.Context, emit func(model.Event)) (*model.Message, error)

// script is a model that answers each request with the next reply, then with "done".
type script struct {
	mu       sync.Mutex
	replies  []reply
	requests []*model.Request
}

func (s *script) Stream(ctx context.Context, r *model.Request, emit func(model.Event)) (*model.Message, error) {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	next := says("done")
	if len(s.replies) > 0 {
		next, s.replies = s.replies[0], s.replies[1:]
	}
	s.mu.Unlock()
	return next(ctx, emit)
}

func (s *script) then(r ...reply) *script {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, r...)
	return s
}

func (s *script) seen() []*model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// answer streams parts and ends with that stop.
func answer(stop model.Stop, parts ...model.Part) reply {
	return func(_ context.Context, emit func(model.Event)) (*model.Message, error) {
		m := &model.Message{Role: model.Assistant, Usage: model.Usage{Input: 10, Output: 1}}
		for i, p := range parts {
			m.Parts = append(m.Parts, p)
			emit(model.Event{Type: model.PartDelta, Index: i, Kind: p.Kind, Delta: p.Text + p.Input, Message: m})
		}
		m.Stop = stop
		return m, nil
	}
}

func says(text string) reply { return answer(model.StopEnd, model.Part{Kind: model.Text, Text: text}) }

func fails(e *model.Error) reply {
	return func(context.Context, func(model.Event)) (*model.Message, error) {
		return &model.Message{Stop: model.StopError}, e
	}
}

// hangs streams a text, says so on begun, and goes on until it is cancelled.
func hangs(text string, begun chan<- struct{}) reply {
	return func(ctx context.Context, emit func(model.Event)) (*model.Message, error) {
		m, _ := says(text)(ctx, emit)
		close(begun)
		<-ctx.Done()
		m.Stop = model.StopCancelled
		return m, &model.Error{Kind: model.ErrCancelled, Message: "cancelled", Cause: ctx.Err()}
	}
}

func use(id, name, input string) model.Part {
	return model.Part{Kind: model.ToolCall, CallID: id, Name: name, Input: input}
}

func calls(parts ...model.Part) reply { return answer(model.StopTools, parts...) }

// fakeTool is a tool made of a function.
type fakeTool struct {
	name     string
	readOnly bool
	run      func(ctx context.Context, c tool.Call) tool.Result
}

func (f fakeTool) Spec() tool.Spec {
	return tool.Spec{Name: f.name, Description: "does " + f.name, Schema: json.RawMessage(`{"type":"object"}`), ReadOnly: f.readOnly}
}

func (f fakeTool) Run(ctx context.Context, c tool.Call) tool.Result { return f.run(ctx, c) }

// echo is a writer that returns its input.
func echo(name string) fakeTool {
	return fakeTool{name: name, run: func(_ context.Context, c tool.Call) tool.Result { return tool.Text(string(c.Input)) }}
}

// desk is a conversation under test with what it lives on.
type desk struct {
	*turn.Conversation
	t     testing.TB
	dir   string
	cfg   turn.Config
	log   *transcript.Log
	model *script

	mu     sync.Mutex
	events []turn.Event
	grew   chan struct{} // closed and replaced at each event
}

// openRegistry opens the registry of a data root in dir.
func openRegistry(t testing.TB, dir string) (*store.Root, *sql.DB) {
	t.Helper()
	root, err := store.Open(filepath.Join(dir, "root"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := root.DB(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return root, db
}

// newDesk starts a conversation in a new folder.
func newDesk(t testing.TB, tools ...tool.Tool) *desk { return deskIn(t, t.TempDir(), tools...) }

func deskIn(t testing.TB, dir string, tools ...tool.Tool) *desk {
	t.Helper()
	d := &desk{t: t, dir: dir, model: &script{}, grew: make(chan struct{})}
	root, db := openRegistry(t, dir)
	d.cfg = turn.Config{
		Workspace: "w", Queue: turn.NewQueue(db, "w"), Tools: tools, Choice: turn.Choice{Model: "fake:one"},
		Env:     func(context.Context) (tool.Env, error) { return tool.Env{}, nil },
		Resolve: func(_ context.Context, c turn.Choice) (turn.Endpoint, error) { return d.endpoint(c), nil },
		System:  func(context.Context) string { return "be good" },
		Events:  d.record,
		// Most failures are to be seen at once.
		AutoRetry: func() bool { return false },
	}
	d.start()
	t.Cleanup(func() {
		d.stop()
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// endpoint is the script under the name of a choice.
func (d *desk) endpoint(c turn.Choice) turn.Endpoint {
	return turn.Endpoint{ID: c.Model, Name: strings.TrimPrefix(c.Model, "fake:"), Level: c.Level, Streamer: d.model, Images: true}
}

func (d *desk) start() {
	d.t.Helper()
	log, err := transcript.Open(filepath.Join(d.dir, "session"))
	if err != nil {
		d.t.Fatal(err)
	}
	d.log, d.cfg.Log = log, log
	if d.Conversation, err = turn.Start(d.cfg); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) stop() {
	d.t.Helper()
	if d.Conversation == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := d.Close(ctx); err != nil {
		d.t.Error(err)
	}
	if err := d.log.Close(); err != nil {
		d.t.Error(err)
	}
	d.Conversation = nil
}

func (d *desk) restart() {
	d.t.Helper()
	d.stop()
	d.start()
}

func (d *desk) record(e turn.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, e)
	close(d.grew)
	d.grew = make(chan struct{})
}

// wait returns when an event, from the first on, is as wanted.
func (d *desk) wait(what string, want func(turn.Event) bool) {
	d.t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		d.mu.Lock()
		ok, grew := slices.ContainsFunc(d.events, want), d.grew
		d.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-grew:
		case <-deadline:
			d.t.Fatalf("waited too long for %s; records: %s; %s", what, strings.Join(d.story(), ", "), d.now().Error)
		}
	}
}

// forget drops the events so far.
func (d *desk) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = nil
}

// idle is the end of the last turn, with nothing left in the queue.
func idle(e turn.Event) bool {
	return e.State != nil && e.State.State == turn.Idle && len(e.State.Queue) == 0
}

func is(s turn.State) func(turn.Event) bool {
	return func(e turn.Event) bool { return e.State != nil && e.State.State == s }
}

func (d *desk) post(id, text string) {
	d.t.Helper()
	if err := d.Send(context.Background(), turn.Message{ID: id, Text: text}); err != nil {
		d.t.Fatal(err)
	}
}

// ask sends a message and waits for its turn to end in that state.
func (d *desk) ask(text string, end turn.State) {
	d.t.Helper()
	d.forget()
	d.post("", text)
	d.wait(string(end), is(end))
}

func (d *desk) now() turn.Snapshot {
	d.t.Helper()
	s, err := d.Snapshot(context.Background())
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d *desk) records() []transcript.Record {
	d.t.Helper()
	recs, err := d.log.Since(0)
	if err != nil {
		d.t.Fatal(err)
	}
	return recs
}

// story tells the log in short words.
func (d *desk) story() []string {
	var out []string
	for _, r := range d.records() {
		s := string(r.Kind)
		switch r.Kind {
		case transcript.Setup:
			continue
		case transcript.User, transcript.Assistant, transcript.Partial:
			for _, p := range r.Message.Parts {
				if p.Kind == model.Text {
					s += " " + p.Text
				}
			}
		case transcript.ToolStart, transcript.ToolEnd:
			s += " " + r.CallID
		case transcript.TurnEnd:
			s += " " + string(r.End)
		case transcript.TurnStart, transcript.StepStart, transcript.Note, transcript.Todos,
			transcript.Edit, transcript.Boundary, transcript.Retry, transcript.Question, transcript.Answer:
		}
		out = append(out, s)
	}
	return out
}

// results gives the text of each result, by call.
func (d *desk) results() map[string]string {
	out := map[string]string{}
	for _, r := range d.records() {
		if r.Kind == transcript.ToolEnd {
			text := ""
			for _, p := range r.Result.Parts {
				text += p.Text
			}
			out[r.CallID] = fmt.Sprintf("%s%v", text, map[bool]string{true: " (error)"}[r.Result.IsError])
		}
	}
	return out
}

// users gives the messages of the person, in the order of the log.
func (d *desk) users() []string {
	var out []string
	for _, r := range d.records() {
		if r.Kind == transcript.User {
			out = append(out, r.Message.Parts[0].Text)
		}
	}
	return out
}

func leaks(t *testing.T) {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, ignore) })
}
