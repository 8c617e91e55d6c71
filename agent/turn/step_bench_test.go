package turn_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"carrel/agent/model"
	"carrel/agent/model/anthropic"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// toolStep is a response with one call, in Anthropic's format.
const toolStep = `event: message_start
data: {"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c%d","name":"write","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}}

event: message_stop
data: {"type":"message_stop"}

`

// BenchmarkNextRequest is the time from the last byte of a step to the last byte of the next
// request, with histories of about 2,000 and 200,000 tokens.
func BenchmarkNextRequest(b *testing.B) {
	for _, tokens := range []int{2_000, 200_000} {
		b.Run(fmt.Sprint(tokens), func(b *testing.B) {
			var sent time.Time
			var took []time.Duration
			n, bytes := 0, int64(0)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				bytes, _ = io.Copy(io.Discard, r.Body)
				if !sent.IsZero() {
					took = append(took, time.Since(sent))
				}
				n++
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = fmt.Fprintf(w, toolStep, n)
				w.(http.Flusher).Flush()
				sent = time.Now()
			}))
			defer server.Close()
			client, err := anthropic.New(anthropic.Options{BaseURL: server.URL, Key: "key", Provider: "fake"})
			if err != nil {
				b.Fatal(err)
			}
			d := &desk{t: b, dir: b.TempDir(), model: &script{}, grew: make(chan struct{})}
			fill(b, d.dir+"/session", tokens)
			done := make(chan struct{})
			d.cfg = turn.Config{Workspace: "w", Queue: &memory{}, Tools: []tool.Tool{echo("write")}, Choice: turn.Choice{Model: "fake:one"},
				Env: func(context.Context) (tool.Env, error) { return tool.Env{}, nil }, MaxSteps: max(20, b.N), Events: func(e turn.Event) {
					if e.State != nil && e.State.State == turn.Failed {
						close(done)
					}
				},
				Resolve: func(context.Context, turn.Choice) (turn.Endpoint, error) {
					return turn.Endpoint{ID: "fake:one", Name: "one", Streamer: client, Images: true}, nil
				}}
			d.start()
			b.ResetTimer()
			d.post("", "go")
			<-done
			b.StopTimer()
			d.stop()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median-us")
			b.ReportMetric(float64(bytes), "bytes")
		})
	}
}

// fill writes a history of about that many tokens, in steps as an agent makes them.
func fill(b *testing.B, dir string, tokens int) {
	b.Helper()
	log, err := transcript.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	add := func(r transcript.Record) {
		if _, err := log.Append(r); err != nil {
			b.Fatal(err)
		}
	}
	add(transcript.Record{Kind: transcript.User, Turn: "t", Message: &model.Message{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "go"}}}})
	add(transcript.Record{Kind: transcript.TurnStart, Turn: "t"})
	output := strings.Repeat("a line of a file that was read\n", 100)
	for i := range max(1, tokens*4/(len(output)+500)) {
		id := fmt.Sprint("old", i)
		add(transcript.Record{Kind: transcript.StepStart, Turn: "t", Step: i + 1})
		add(transcript.Record{Kind: transcript.Assistant, Turn: "t", Step: i + 1, Message: &model.Message{Role: model.Assistant, Stop: model.StopTools,
			Parts: []model.Part{{Kind: model.Text, Text: "I look."}, {Kind: model.ToolCall, CallID: id, Name: "write", Input: `{"path":"` + strings.Repeat("x", 400) + `"}`}}}})
		add(transcript.Record{Kind: transcript.ToolEnd, Turn: "t", Step: i + 1, CallID: id, Result: &model.Part{Kind: model.ToolResult,
			CallID: id, Name: "write", Parts: []model.Part{{Kind: model.Text, Text: output}}}})
	}
	add(transcript.Record{Kind: transcript.TurnEnd, Turn: "t", End: transcript.Done})
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
}
