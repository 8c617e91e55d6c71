// Package modeltest is the conformance suite of the wire formats: what every model.Streamer over
// HTTP must hold, tried against package fakewire.
package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
)

// Subject is an implementation under test.
type Subject struct {
	// New makes a client of the server at url, that of the fake server, with the given silence
	// limit (0: the default). The key that it sends is Key.
	New func(t *testing.T, url string, idle time.Duration) model.Streamer
	// Replays says that the format sends reasoning back to the model that made it.
	Replays bool
	// UsageEarly says that the tokens of the input are known as soon as the response starts.
	UsageEarly bool
	// CacheWrite says that the format tells of tokens written to the cache.
	CacheWrite bool
	// CacheHour says that the format can keep the cache for an hour.
	CacheHour bool
	// OneTool says that the format can allow one call at most.
	OneTool bool
	// Tier says that the format tells of the tier that was used.
	Tier bool
	// Search says that the format has a web search of the provider's, NativeParts that searches are
	// parts of the message and go back, Pauses that the provider can pause in the middle.
	Search, NativeParts, Pauses bool
	// Whole says that calls come in one piece, whose arguments the server itself made a JSON object.
	Whole bool
	// Params, when not nil, says that further parameters are not at the top of the body: the suite
	// then looks for these texts as well as for the values of known parameters.
	Params []string
}

// Key is the key that a Subject sends.
const Key = "secret-key-0123456789"

// Run runs the whole suite.
func Run(t *testing.T, s Subject) {
	t.Run("stream", s.stream)
	t.Run("request", s.request)
	t.Run("history", s.history)
	t.Run("reasoning", s.reasoning)
	t.Run("options", s.options)
	t.Run("native tools", s.native)
	t.Run("refused", s.refused)
	t.Run("growing", s.grow)
	t.Run("failure", s.failure)
	t.Run("silence", s.silence)
	t.Run("cut", s.cut)
}

// schema holds what careless codecs lose or reorder.
const schema = `{"type":"object", "properties":{"path":{"type":"string"},"mode":{"enum":["b","a"]},"n":{"maximum":1.0},"ref":{"$ref":"#/$defs/R"}},"required":["path"],"additionalProperties":false,"$defs":{"R":{"type":"object"}}}`

func ask(messages ...model.Message) *model.Request {
	return &model.Request{
		Model:    "model-a",
		System:   "You are <precise> & brief.",
		Messages: messages,
		Tools: []model.Tool{
			{Name: "read", Description: "Reads \"a\" file.", Schema: json.RawMessage(schema)},
			{Name: "list", Description: "Lists.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
		},
		CacheKey: "conversation-1",
	}
}

func user(text string) model.Message {
	return model.Message{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: text}}}
}

func results(of *model.Message) model.Message {
	m := model.Message{Role: model.ToolRole}
	for _, p := range of.Parts {
		if p.Kind == model.ToolCall {
			m.Parts = append(m.Parts, result(p.CallID, p.Name, "content of "+p.CallID))
		}
	}
	return m
}

func result(id, name, text string) model.Part {
	return model.Part{Kind: model.ToolResult, CallID: id, Name: name, Parts: []model.Part{{Kind: model.Text, Text: text}}}
}

// clone sends a message through its JSON form.
func clone(t *testing.T, m *model.Message) *model.Message {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var out model.Message
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

// one gets one response from a server that replies r.
func (s Subject) one(t *testing.T, r fakewire.Reply, req *model.Request) (*model.Message, error) {
	t.Helper()
	server := fakewire.New(t, fakewire.Steps(r))
	return s.New(t, server.URL, 0).Stream(t.Context(), req, nil)
}

// sent gives the request that the server gets, and fails the test when a real one would refuse it.
func (s Subject) sent(t *testing.T, req *model.Request) fakewire.Request {
	t.Helper()
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	if _, err := s.New(t, server.URL, 0).Stream(t.Context(), req, nil); err != nil {
		t.Fatalf("%v\n%s", err, server.Last().Raw)
	}
	return server.Last()
}

// asError is the error as the model's.
func asError(t *testing.T, err error) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want a *model.Error", err)
	}
	return e
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// stopAt cancels a context at the n-th event.
func stopAt(t *testing.T, n int) (context.Context, func(model.Event), func() *model.Message) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	count := 0
	var snapshot *model.Message
	emit := func(e model.Event) {
		if count++; count == n {
			snapshot = clone(t, e.Message)
			cancel()
		}
	}
	return ctx, emit, func() *model.Message { return snapshot }
}
