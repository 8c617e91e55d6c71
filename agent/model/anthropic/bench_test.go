package anthropic

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"carrel/agent/model"
)

const answer = `data: {"type":"message_start","message":{}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"text"}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}

data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}

data: {"type":"message_stop"}

`

// sink takes requests and answers them at once.
func sink(b *testing.B) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			b.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, answer) // the client may be gone
	}))
	b.Cleanup(s.Close)
	return s.URL
}

// steps is a conversation of so many steps of about 500 tokens each, by bytes.
func steps(n int) []model.Message {
	list := []model.Message{{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "go"}}}}
	for i := range n {
		list = append(list, step(i)...)
	}
	return list
}

func step(i int) []model.Message {
	id := fmt.Sprintf("call_%d", i)
	code := strings.Repeat("\tif err := f(\"x\", y); err != nil {\n\t\treturn err\n\t}\n", 34)
	return []model.Message{
		{Role: model.Assistant, Stop: model.StopTools, Parts: []model.Part{
			{Kind: model.Text, Text: "Next I look at the file."},
			{Kind: model.ToolCall, CallID: id, Name: "read", Input: `{"path":"/a/b/c.go","offset":120}`}}},
		{Role: model.ToolRole, Parts: []model.Part{{Kind: model.ToolResult, CallID: id, Name: "read",
			Parts: []model.Part{{Kind: model.Text, Text: code}}}}},
	}
}

// BenchmarkStep is a whole step against a server on the loopback, of a conversation that grew by
// one step since the last request. The last case sends the bytes of the long one and no more.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name  string
		steps int
	}{{"2k tokens", 4}, {"200k tokens", 400}} {
		b.Run(c.name, func(b *testing.B) {
			client, err := New(Options{BaseURL: sink(b), Key: "k"})
			if err != nil {
				b.Fatal(err)
			}
			client.HTTP = &http.Client{}
			grow := max(2, c.steps/4) // steps, half of them above c.steps
			all := steps(c.steps + grow/2)
			r := &model.Request{Model: "m", System: strings.Repeat("Be brief. ", 100)}
			b.SetBytes(int64(len(client.Body(&model.Request{Model: "m", Messages: steps(c.steps)}))))
			for i := 0; b.Loop(); i++ {
				if i%grow == 0 { // a new conversation, which was sent up to its last step
					b.StopTimer()
					r.CacheKey, r.Messages = fmt.Sprint(i), all[:len(all)-2*grow]
					client.Body(r)
					if c.steps > 100 {
						runtime.GC() // of what that wrote
					}
					b.StartTimer()
				}
				r.Messages = all[:len(r.Messages)+2]
				if _, err := client.Stream(b.Context(), r, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("bytes of 200k tokens", func(b *testing.B) {
		client, err := New(Options{Key: "k"})
		if err != nil {
			b.Fatal(err)
		}
		address, body := sink(b), client.Body(&model.Request{Model: "m", Messages: steps(400)})
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			resp, err := http.Post(address, "application/json", bytes.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body) // read to its end, so that the connection is reused
			_ = resp.Body.Close()
		}
	})
}
