package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/anthropic"
	"carrel/agent/model/chat"
	"carrel/agent/model/fakewire"
	"carrel/agent/model/gemini"
	"carrel/agent/model/responses"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// codecs make a client of the server at url, by the name of their format.
var codecs = map[string]func(url string) (model.Streamer, error){
	"anthropic": func(url string) (model.Streamer, error) {
		return anthropic.New(anthropic.Options{BaseURL: url, Key: "key", Provider: "fake"})
	},
	"gemini": func(url string) (model.Streamer, error) {
		return gemini.New(gemini.Options{BaseURL: url, Key: "key", Provider: "fake"})
	},
	"responses": func(url string) (model.Streamer, error) {
		return responses.New(responses.Options{BaseURL: url + "/v1", Key: "key", Provider: "fake"})
	},
	"chat": func(url string) (model.Streamer, error) {
		return chat.New(chat.Options{BaseURL: url + "/v1", Key: "key", Provider: "fake"})
	},
}

// eventful answers by what is asked, with all that can go wrong.
func eventful(r fakewire.Request) fakewire.Reply {
	call := func(name, input string) fakewire.Reply {
		return fakewire.Reply{Reasoning: "let me see " + name, Text: "Looking.", Calls: []fakewire.Call{{Name: name, Input: input}, {Name: "write", Input: `{ "n" : 1.0, "s":"<é>" }`}}}
	}
	switch {
	case strings.HasPrefix(r.Prompt(), "look") && r.Rounds() == 0:
		return call("shot", `{}`)
	case strings.HasPrefix(r.Prompt(), "fail") && r.N%3 == 0:
		return fakewire.Reply{Status: 503, ErrorType: "overloaded_error", ErrorMessage: "overloaded"}
	case strings.HasPrefix(r.Prompt(), "fail") && r.N%3 == 1:
		return fakewire.Reply{Reasoning: "hm", Text: strings.Repeat("words ", 100), CutAfterEvents: 20}
	case strings.HasPrefix(r.Prompt(), "hang"):
		return fakewire.Reply{Reasoning: "hm", Text: "half an answer", Calls: []fakewire.Call{{Name: "write", Input: `{"half`}}, Hang: fakewire.HangEnd}
	case strings.HasPrefix(r.Prompt(), "wait") && r.Rounds() == 0:
		return call("slow", `{}`)
	}
	return fakewire.Reply{Reasoning: "easy", Text: "Done with " + r.Prompt()}
}

func TestALogTellsTheBytesOfEveryRequest(t *testing.T) { // O-LLM-08, O-LLM-02, O-LLM-01
	for name, codec := range codecs {
		t.Run(name, func(t *testing.T) {
			server := fakewire.New(t, eventful)
			d, begun, end := wired(t, server, codec)
			ctx := context.Background()
			d.ask("look", turn.Idle)
			d.patient("fail", turn.Idle)
			d.must(d.SetChoice(ctx, turn.Choice{Model: "fake:other", Level: "high"}))
			d.ask("look with another model", turn.Idle)
			d.must(d.SetChoice(ctx, turn.Choice{Model: "fake:one"}))
			d.forget()
			d.post("", "hang")
			d.wait("the stream", func(e turn.Event) bool {
				half := e.Stream != nil && e.Stream.Event.Kind == model.ToolCall && e.Stream.Event.Delta != ""
				// Google's calls come whole or not at all.
				return half || name == "gemini" && e.Stream != nil && strings.HasSuffix(e.Stream.Part.Text, "half an answer")
			})
			d.interrupt()
			d.restart()
			d.ask("look again", turn.Idle)
			d.forget()
			d.post("", "wait")
			<-begun
			d.post("", "and another thing")
			end <- struct{}{}
			d.wait("the answer", is(turn.Idle))
			d.forget()
			d.must(d.Edit(ctx, d.seqOf("look again"), turn.Message{Text: "edited \xff \U0001F600"}))
			d.wait("the answer", is(turn.Idle))
			d.restart()
			d.must(d.Clear(ctx, true))
			d.ask("look anew", turn.Idle)
			d.restart()
			d.ask("the end", turn.Idle)
			compare(t, d.log, server.Requests(), codec)
		})
	}
}

// compare fails unless the log gives the bytes of these requests.
func compare(t *testing.T, log *transcript.Log, sent []fakewire.Request, codec func(string) (model.Streamer, error)) {
	t.Helper()
	again := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	again.AcceptAnything()
	client, err := codec(again.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := turn.Replay(log, func(_ uint64, r *model.Request) error {
		_, err := client.Stream(t.Context(), r, nil)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	got := again.Requests()
	if len(got) != len(sent) {
		t.Fatalf("%d requests were sent, the log has %d", len(sent), len(got))
	}
	for i := range sent {
		if err := fakewire.Validate(sent[i]); err != nil {
			t.Errorf("request %d: %v", i, err)
		}
		if string(got[i].Raw) != string(sent[i].Raw) {
			t.Fatalf("request %d differs:\nsent %s\nlog  %s", i, apart(sent[i].Raw, got[i].Raw), apart(got[i].Raw, sent[i].Raw))
		}
	}
}

// wired is a desk whose models are at the server, with a tool that waits.
func wired(t *testing.T, server *fakewire.Server, codec func(string) (model.Streamer, error)) (*desk, chan string, chan struct{}) {
	t.Helper()
	client, err := codec(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	png := onePixel(t)
	shot := fakeTool{name: "shot", readOnly: true, run: func(context.Context, tool.Call) tool.Result {
		return tool.Result{Parts: []model.Part{{Kind: model.Text, Text: "a picture"}, {Kind: model.File, Mime: "image/png", Data: png}}}
	}}
	slow, begun, end := pausing("slow", true)
	d := newDesk(t, shot, slow, echo("write")).with(func(cfg *turn.Config) {
		cfg.AutoRetry = nil
		cfg.Resolve = func(_ context.Context, c turn.Choice) (turn.Endpoint, error) {
			return turn.Endpoint{ID: c.Model, Name: strings.TrimPrefix(c.Model, "fake:"), Level: c.Level, Streamer: client, Images: true,
				Prepare: func(r *model.Request) {
					field := "metadata"
					if strings.HasSuffix(t.Name(), "gemini") {
						field = "labels" // no field is known to all
					}
					r.MaxTokens = 5000
					r.Thinking.Effort = c.Level
					r.Params.Extra = map[string]json.RawMessage{field: json.RawMessage(`{ "user_id": "<&>" }`)}
				}}, nil
		}
	})
	return d, begun, end
}

// patient sends a message and does not wait for countdowns.
func (d *desk) patient(text string, end turn.State) {
	d.t.Helper()
	d.forget()
	d.post("", text)
	for n := 1; ; n++ {
		retries := 0
		d.wait(fmt.Sprintf("attempt %d or the end", n), func(e turn.Event) bool {
			if e.State != nil && e.State.State == turn.Retrying && e.State.Retry != nil && e.State.Retry.Attempt == n+1 {
				retries++
			}
			return retries > 0 || is(end)(e)
		})
		if d.now().State == end {
			return
		}
		d.must(d.Retry(context.Background()))
	}
}

// apart is a from shortly before it differs from b.
func apart(a, b []byte) []byte {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[max(0, n-100):min(len(a), n+200)]
}
