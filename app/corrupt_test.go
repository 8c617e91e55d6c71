package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"carrel/agent/export"
	"carrel/agent/model"
	"carrel/agent/model/anthropic"
	"carrel/agent/model/bedrock"
	"carrel/agent/model/chat"
	"carrel/agent/model/gemini"
	"carrel/agent/model/responses"
	"carrel/agent/model/wire"
	"carrel/agent/search"
	"carrel/agent/storm/legal"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
	"carrel/store"
)

// everyKind writes a log with each kind of record in dir.
func everyKind(t *testing.T, dir string) {
	t.Helper()
	log, err := transcript.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	frame, err := log.PutFrame(&model.Request{System: "be good", Tools: []model.Tool{{Name: "read", Schema: json.RawMessage(`{"type":"object"}`)}}}, "p:m", "high")
	if err != nil {
		t.Fatal(err)
	}
	say := func(role model.Role, parts ...model.Part) *model.Message {
		m := &model.Message{Role: role, Parts: parts}
		if role == model.Assistant {
			m.Stop, m.Usage = model.StopTools, model.Usage{Input: 5, Output: 6}
		}
		return m
	}
	text := func(s string) model.Part { return model.Part{Kind: model.Text, Text: s} }
	call := func(id string) model.Part {
		return model.Part{Kind: model.ToolCall, CallID: id, Name: "read", Input: `{"path":"a"}`}
	}
	thought := model.Part{Kind: model.Reasoning, Text: "hm", Signature: "sig", Origin: "anthropic/p/m"}
	at := time.Now().UTC()
	for _, r := range []transcript.Record{
		{Kind: transcript.User, Turn: "a", MessageID: "1", Message: say(model.User, text("look"), model.Part{Kind: model.File, Mime: "image/png", Blob: strings.Repeat("0", 64), Name: "x.png"}),
			Choice: &transcript.Choice{Model: "p:m", Level: "high"}},
		{Kind: transcript.TurnStart, Turn: "a", Model: "p:m"},
		{Kind: transcript.Setup, Turn: "a", Step: 1, Frame: frame},
		{Kind: transcript.StepStart, Turn: "a", Step: 1},
		{Kind: transcript.Partial, Turn: "a", Step: 1, StepSeq: 4, Message: say(model.Assistant, text("I "))},
		{Kind: transcript.Assistant, Turn: "a", Step: 1, StepSeq: 4, Message: say(model.Assistant, thought, text("I look"), call("c1"), call("c2")), Cost: 7, CostKnown: true},
		{Kind: transcript.ToolStart, Turn: "a", Step: 1, StepSeq: 4, CallID: "c1", Tool: "read"},
		{Kind: transcript.ToolEnd, Turn: "a", Step: 1, StepSeq: 4, CallID: "c1", Tool: "read", Detail: &tool.Detail{DurationMS: 3, Diff: "+a"},
			Result: &model.Part{Kind: model.ToolResult, CallID: "c1", Name: "read", Parts: []model.Part{text("a file")}}},
		{Kind: transcript.ToolEnd, Turn: "a", Step: 1, StepSeq: 4, CallID: "c2", Tool: "read",
			Result: &model.Part{Kind: model.ToolResult, CallID: "c2", Name: "read", IsError: true, Parts: []model.Part{text("none")}}},
		{Kind: transcript.Todos, Turn: "a", Step: 1, StepSeq: 4, Todos: []tool.Todo{{Content: "look", Status: "pending"}}},
		{Kind: transcript.Note, Turn: "a", Step: 1, StepSeq: 4, Level: "info", Note: "a note"},
		{Kind: transcript.StepStart, Turn: "a", Step: 2},
		{Kind: transcript.Assistant, Turn: "a", Step: 2, StepSeq: 12, Message: &model.Message{Role: model.Assistant, Stop: model.StopError, Parts: []model.Part{text("half")}}},
		{Kind: transcript.Retry, Turn: "a", Step: 2, StepSeq: 12, Attempt: 1, At: at, Code: "network", Error: "lost"},
		{Kind: transcript.Edit, Turn: "a", Step: 2, From: 12, Attempt: 1, At: at, Code: "network", Error: "lost"},
		{Kind: transcript.StepStart, Turn: "a", Step: 2},
		{Kind: transcript.Assistant, Turn: "a", Step: 2, StepSeq: 16, Message: &model.Message{Role: model.Assistant, Stop: model.StopEnd, Parts: []model.Part{text("done")}}},
		{Kind: transcript.TurnEnd, Turn: "a", End: transcript.Done},
		{Kind: transcript.Boundary, Border: transcript.Fork, Note: "forked"},
		{Kind: transcript.User, Turn: "b", MessageID: "2", Message: say(model.User, text("again"))},
		{Kind: transcript.User, Turn: "c", MessageID: "3", Message: say(model.User, text("again, please")), From: 20},
		{Kind: transcript.TurnStart, Turn: "c", Model: "p:m"},
		{Kind: transcript.StepStart, Turn: "c", Step: 1},
	} {
		if _, err := log.Append(r); err != nil {
			t.Fatal(err)
		}
	}
}

// spoil calls f with a line for each way to spoil it: each field and member left out, null, of another
// type, or far off.
func spoil(t *testing.T, line []byte, f func(how string, line []byte)) {
	t.Helper()
	var top map[string]any
	if err := json.Unmarshal(line, &top); err != nil {
		t.Fatal(err)
	}
	write := func(how string) {
		b, err := json.Marshal(top) // its members are in another order: seq need not be the first
		if err != nil {
			t.Fatal(err)
		}
		f(how, b)
	}
	values := []any{nil, "x", "", -1.0, 1e18, []any{}, []any{nil}, map[string]any{}, true}
	var walk func(where string, get any)
	walk = func(where string, at any) {
		switch at := at.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(at)) {
				old := at[k]
				delete(at, k)
				write(where + "." + k + " left out")
				for _, v := range values {
					at[k] = v
					write(fmt.Sprintf("%s.%s = %v", where, k, v))
				}
				at[k] = old
				walk(where+"."+k, old)
			}
		case []any:
			for i, old := range at {
				for _, v := range values {
					at[i] = v
					write(fmt.Sprintf("%s[%d] = %v", where, i, v))
				}
				at[i] = old
				walk(fmt.Sprintf("%s[%d]", where, i), old)
			}
		}
	}
	walk("", top)
	for _, kind := range []transcript.Kind{transcript.User, transcript.TurnStart, transcript.TurnEnd, transcript.StepStart, transcript.Partial, transcript.Assistant,
		transcript.ToolStart, transcript.ToolEnd, transcript.Note, transcript.Todos, transcript.Setup, transcript.Edit, transcript.Boundary, transcript.Retry, "of tomorrow"} {
		old := top["kind"]
		top["kind"] = string(kind)
		write("kind = " + string(kind))
		top["kind"] = old
	}
}

// lines are those of a log.
func lines(t *testing.T, dir string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "transcript.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
}

// asks makes a request in each format and gives the first that its provider would refuse.
func asks(r *model.Request) error {
	for _, c := range formats() {
		q := *r
		body := c.client.Body(&q)
		req, err := http.NewRequest(http.MethodPost, c.url, nil)
		if err != nil {
			return err
		}
		_, err = legal.Check(legal.Request{Path: req.URL.EscapedPath(), Body: body,
			Header: http.Header{"Content-Type": {"application/json"}, "Authorization": {"x"}, "X-Api-Key": {"x"}, "X-Goog-Api-Key": {"x"}, "Anthropic-Version": {"2023-06-01"}}})
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", c.url, err, body)
		}
	}
	return nil
}

type format struct {
	url    string
	client *wire.Client
}

func formats() []format {
	var out []format
	add := func(url string, c *wire.Client, err error) {
		if err != nil {
			panic(err)
		}
		out = append(out, format{url, c})
	}
	a, err := anthropic.New(anthropic.Options{Key: "k", Provider: "p"})
	add("/v1/messages", a, err)
	r, err := responses.New(responses.Options{Key: "k", Provider: "p"})
	add("/v1/responses", r, err)
	c, err := chat.New(chat.Options{BaseURL: "http://localhost/v1", Provider: "p"})
	add("/v1/chat/completions", c, err)
	g, err := gemini.New(gemini.Options{Key: "k", Provider: "p"})
	add("/v1beta/models/m:streamGenerateContent", g, err)
	b, err := bedrock.New(bedrock.Options{Region: "eu-west-1", Bearer: "b", Provider: "p"})
	add("/model/m/converse-stream", b, err)
	return out
}

// reads is everything that reads a log without changing it.
func reads(dir string) error {
	log, err := transcript.OpenReader(dir)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // it was only read
	s := &session{app: &App{desk: map[string]*deskState{}}, id: "w", log: log, live: newLive("w", func(Event) {}), state: turn.StateChange{State: turn.Idle}}
	c, err := s.snapshot(3)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	for _, e := range c.Entries {
		if _, err := s.entry(e.ID); err != nil {
			return fmt.Errorf("entry %s: %w", e.ID, err)
		}
		if _, err := s.around(e.Order, 2); err != nil {
			return fmt.Errorf("around %s: %w", e.ID, err)
		}
	}
	if _, err := json.Marshal(c); err != nil {
		return err
	}
	history, err := log.History()
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	if history, err = log.WithFiles(history); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	_ = log.Requests(func(uint64, *model.Request) error { return nil }) // what a lost Setup asked for can't be told
	for _, o := range []export.Options{{Format: export.Markdown, Reasoning: true, Left: true}, {Format: export.JSON}} {
		if err := export.Write(context.Background(), io.Discard, dir, export.About{}, o); err != nil {
			return err
		}
	}
	ask := model.Message{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "go on"}}}
	return asks(&model.Request{Model: "m", System: "s", MaxTokens: 100, Messages: append(history, ask),
		Tools: []model.Tool{{Name: "read", Description: "reads", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}}})
}

func TestARecordThatWasSpoiltByHandSpoilsNoOther(t *testing.T) { // O-DATA-02
	dir, at := t.TempDir(), t.TempDir()
	everyKind(t, dir)
	all, n := lines(t, dir), 0
	for i, line := range all {
		spoil(t, line, func(how string, bad []byte) {
			if n++; n%3 > 0 { // each field has ten ways, so each way has its fields
				return
			}
			changed := append(append(append([]byte{}, bytes.Join(all[:i], nil)...), bad...), '\n')
			changed = append(changed, bytes.Join(all[i+1:], nil)...)
			if err := os.WriteFile(filepath.Join(at, "transcript.jsonl"), append(changed, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if p := recover(); p != nil {
					t.Fatalf("record %d, %s: panic: %v\n%s", i+1, how, p, debug.Stack())
				}
			}()
			if err := reads(at); err != nil && !t.Failed() {
				t.Errorf("record %d, %s: %v", i+1, how, err)
			}
		})
	}
	t.Logf("%d ways", n)
}

func TestAConversationWithASpoiltRecordGoesOn(t *testing.T) { // O-DATA-02
	dir := t.TempDir()
	everyKind(t, dir)
	all, n := lines(t, dir), 0
	root, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	ids := []search.Session{}
	index := search.New(search.Options{Root: root, Sessions: func(context.Context) ([]search.Session, error) { return ids, nil }})
	defer func() { _ = index.Close() }()
	for i, line := range all {
		spoil(t, line, func(how string, bad []byte) {
			if n++; n%97 > 0 { // each opens a database and syncs
				return
			}
			id := fmt.Sprint("w", n)
			at, err := root.SessionDir(id)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, search.Session{Workspace: id})
			changed := append(append(append([]byte{}, bytes.Join(all[:i], nil)...), bad...), '\n')
			changed = append(changed, bytes.Join(all[i+1:], nil)...)
			if err := os.WriteFile(filepath.Join(at, "transcript.jsonl"), append(changed, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := goesOn(t, root, id, at); err != nil {
				t.Errorf("record %d, %s: %v", i+1, how, err)
			}
		})
	}
	if err := index.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	a, err := index.Find(context.Background(), search.Query{Text: "harbour", Limit: 1000})
	if err != nil || len(a.Hits) != len(ids) {
		t.Errorf("%d of %d are found, %v", len(a.Hits), len(ids), err)
	}
}

// goesOn sends a message in a conversation and waits for the answer.
func goesOn(t *testing.T, root *store.Root, id, dir string) error {
	t.Helper()
	db, err := root.DB(context.Background())
	if err != nil {
		return err
	}
	log, err := transcript.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	ended, asked := make(chan turn.StateChange, 100), make(chan error, 10)
	conv, err := turn.Start(turn.Config{Workspace: id, Log: log, Queue: turn.NewQueue(db, id), Tools: tool.Builtin(), Choice: turn.Choice{Model: "p:m"},
		Env: func(context.Context) (tool.Env, error) { return tool.Env{}, nil }, System: func(context.Context) string { return "be good" },
		AutoRetry: func() bool { return false },
		Resolve: func(context.Context, turn.Choice) (turn.Endpoint, error) {
			return turn.Endpoint{ID: "p:m", Name: "m", Streamer: answers{asked}, Images: true}, nil
		},
		Events: func(e turn.Event) {
			if e.State != nil && !e.State.State.Working() {
				ended <- *e.State
			}
		}})
	if err != nil {
		return err
	}
	defer func() { _ = conv.Close(context.Background()) }()
	if err := conv.Send(context.Background(), turn.Message{ID: "new", Text: "To the harbour"}); err != nil {
		return err
	}
	if err := <-asked; err != nil {
		return err
	}
	if s := <-ended; s.State != turn.Idle {
		return fmt.Errorf("it is %s: %s", s.State, s.Error)
	}
	return nil
}

// answers is a model that judges what it is asked, and answers.
type answers struct{ asked chan<- error }

func (a answers) Stream(_ context.Context, r *model.Request, _ func(model.Event)) (*model.Message, error) {
	q := *r
	q.MaxTokens = 100
	a.asked <- asks(&q)
	return &model.Message{Role: model.Assistant, Stop: model.StopEnd, Parts: []model.Part{{Kind: model.Text, Text: "ok"}}}, nil
}
