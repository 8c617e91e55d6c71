package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"carrel/agent/model"
	"carrel/agent/transcript"
	"carrel/app"
)

// The two histories, in tokens of about four bytes, and how many steps a turn and turns have.
const (
	shortTokens = 2_000
	longTokens  = 200_000
	turnSteps   = 30
	turnRounds  = 7
)

// measureSteps looks from the provider's side at the time between the last byte of a step, which calls
// file_read, and the last byte of the next request.
func measureSteps(ctx context.Context, b *bench) (_ []line, err error) {
	url, end, err := startServer("steps")
	if err != nil {
		return nil, err
	}
	defer end()
	folder := b.path("steps-folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(folder+"/note.txt", []byte("a line\n"), 0o600); err != nil {
		return nil, err
	}
	p, err := b.open(ctx, "steps", true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	key := "bench"
	if err := p.api.Settings.SetProvider(ctx, app.SetProvider{ID: "anthropic", APIKey: &key, BaseURL: &url}); err != nil {
		return nil, err
	}
	project, err := p.api.Projects.Add(ctx, app.AddProject{Path: folder})
	if err != nil {
		return nil, err
	}
	var size int64
	turn := func(tokens int) work {
		return func(ctx context.Context) (sample, error) {
			gap, bytes, err := p.stepGap(ctx, url, project.ID, tokens)
			size = max(size, bytes)
			return sample{wall: gap}, err
		}
	}
	pair, err := alternate(ctx, turnRounds, turn(shortTokens), turn(longTokens))
	if err != nil {
		return nil, err
	}
	written, err := writing(url, size, turnSteps*turnRounds)
	if err != nil {
		return nil, err
	}
	ours, short := median(wall(pair.ours)), median(wall(pair.base))
	return []line{{
		work: "a step to the next request, 200,000 tokens; 2,000 and 2 x writing it", unit: "x", limit: 1,
		ours: show(ours), baseline: show(short + 2*written), value: over(ours, short+2*written),
		best: over(least(wall(pair.ours)), least(wall(pair.base))+2*written),
		note: fmt.Sprintf("2,000 tokens take %s; writing %d KB to the same server takes %s", show(short), size/1000, show(written)),
	}}, nil
}

// stepGap runs one turn in a new conversation that has so many tokens, and gives the median time between
// its steps and the size of its last request.
func (p *place) stepGap(ctx context.Context, url, project string, tokens int) (time.Duration, int64, error) {
	w, err := p.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: project, Model: runModel})
	if err != nil {
		return 0, 0, err
	}
	dir, err := p.root.SessionDir(w.ID)
	if err != nil {
		return 0, 0, err
	}
	if err := writeSteps(dir, tokens); err != nil {
		return 0, 0, err
	}
	if _, err := takeTimes(url); err != nil {
		return 0, 0, err
	}
	p.forget()
	if err := p.api.Conversations.Send(ctx, app.SendMessage{Workspace: w.ID, Text: "Go on."}); err != nil {
		return 0, 0, err
	}
	began := false
	err = p.await(ctx, "the turn to end", func(e app.Event) bool {
		s, ok := e.(app.ConversationChanged)
		if !ok || s.Workspace != w.ID {
			return false
		}
		began = began || s.Status.Activity == app.Streaming
		return began && slices.Contains([]app.Activity{app.Idle, app.Done, app.Failed}, s.Status.Activity)
	})
	if err != nil {
		return 0, 0, err
	}
	t, err := takeTimes(url)
	if err == nil && len(t.Gaps) != turnSteps {
		err = fmt.Errorf("the turn had %d steps", len(t.Gaps))
	}
	return median(t.Gaps), t.Size, err
}

// writeSteps writes a history of about so many tokens, in steps as an agent makes them.
func writeSteps(dir string, tokens int) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	log, err := transcript.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	output := strings.Repeat("a line of a file that was read\n", 100)
	records := []transcript.Record{
		{Kind: transcript.User, Turn: "t", MessageID: "t", Message: &model.Message{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "Look."}}}},
		{Kind: transcript.TurnStart, Turn: "t", Model: runModel},
	}
	for i := range max(1, tokens*4/(len(output)+500)) {
		id := fmt.Sprint("old", i)
		call := model.Part{Kind: model.ToolCall, CallID: id, Name: "file_read", Input: `{"path":"` + strings.Repeat("x", 400) + `"}`}
		records = append(records, transcript.Record{Kind: transcript.StepStart, Turn: "t", Step: i + 1},
			transcript.Record{Kind: transcript.Assistant, Turn: "t", Step: i + 1, Message: &model.Message{Role: model.Assistant,
				Stop: model.StopTools, Parts: []model.Part{{Kind: model.Text, Text: "I look."}, call}}},
			transcript.Record{Kind: transcript.ToolEnd, Turn: "t", Step: i + 1, CallID: id, Result: &model.Part{Kind: model.ToolResult,
				CallID: id, Name: "file_read", Parts: []model.Part{{Kind: model.Text, Text: output}}}})
	}
	for _, r := range append(records, transcript.Record{Kind: transcript.TurnEnd, Turn: "t", End: transcript.Done}) {
		if _, err := log.Append(r); err != nil {
			return err
		}
	}
	return nil
}

// stepServer answers with one call after the other, as Anthropic does, and looks at the clock. It lives in
// a process of its own, as a provider does.
type stepServer struct {
	mu    sync.Mutex
	n     int // requests of this turn
	sent  time.Time
	found stepTimes
}

// stepTimes are what a stepServer saw since it was asked last.
type stepTimes struct {
	Gaps []time.Duration // from the last byte of a step to the last byte of the next request
	Bare []time.Duration // from when they were written to when they were there: bytes that no codec wrote
	Size int64           // of the last request
}

// Paths that are no model's: for bytes that are only written, and to ask what was seen.
const (
	barePath  = "/bare/"
	timesPath = "/times"
)

func (s *stepServer) times(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = json.NewEncoder(w).Encode(s.found) // the bench may be gone
	s.n, s.sent, s.found = 0, time.Time{}, stepTimes{}
}

// takeTimes asks the server at url what it saw.
func takeTimes(url string) (t stepTimes, err error) {
	resp, err := http.Get(url + timesPath)
	if err != nil {
		return t, err
	}
	defer func() { _ = resp.Body.Close() }()
	return t, json.NewDecoder(resp.Body).Decode(&t)
}

// A step is a call of file_read, the last response a text; both are of Anthropic's format.
const (
	stepHead = "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n" +
		"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":%s}\n\n" +
		"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":%s}\n\n" +
		"data: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":%q},\"usage\":{\"output_tokens\":5}}\n\n" +
		"data: {\"type\":\"message_stop\"}\n\n"
	readInput = `{"type":"input_json_delta","partial_json":"{\"path\":\"note.txt\"}"}`
)

func (s *stepServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == timesPath {
		s.times(w)
		return
	}
	size := int64(0)
	for buffer, end := make([]byte, 256<<10), false; !end; {
		n, err := r.Body.Read(buffer)
		size += int64(n)
		if end = errors.Is(err, io.EOF); err != nil && !end {
			return // the client is gone
		}
	}
	now := time.Now()
	if began, bare := strings.CutPrefix(r.URL.Path, barePath); bare {
		s.mu.Lock()
		defer s.mu.Unlock()
		if ns, err := strconv.ParseInt(began, 10, 64); err == nil {
			s.found.Bare = append(s.found.Bare, time.Duration(now.UnixNano()-ns))
		}
		return
	}
	s.mu.Lock()
	if s.n++; s.n > 1 {
		s.found.Gaps = append(s.found.Gaps, now.Sub(s.sent))
	}
	n := s.n
	s.found.Size = size
	s.mu.Unlock()
	text := fmt.Sprintf(stepHead, `{"type":"text","text":""}`, `{"type":"text_delta","text":"Done."}`, "end_turn")
	if n <= turnSteps {
		text = fmt.Sprintf(stepHead, fmt.Sprintf(`{"type":"tool_use","id":"c%d","name":"file_read","input":{}}`, n), readInput, "tool_use")
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	_, _ = io.WriteString(w, text) // the client may be gone
	if http.NewResponseController(w).Flush() == nil {
		s.mu.Lock()
		s.sent = time.Now()
		s.mu.Unlock()
	}
}

// writing is the median time that so many bytes take to the server at url when they are only written.
func writing(url string, size int64, rounds int) (time.Duration, error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	body, answer := make([]byte, size), make([]byte, 4096)
	for range rounds {
		head := fmt.Appendf(nil, "POST %s%d HTTP/1.1\r\nHost: bench\r\nContent-Length: %d\r\n\r\n", barePath, time.Now().UnixNano(), size)
		if _, err := (&net.Buffers{head, body}).WriteTo(conn); err != nil {
			return 0, err
		}
		if _, err := conn.Read(answer); err != nil {
			return 0, err
		}
	}
	t, err := takeTimes(url)
	return median(t.Bare), err
}
