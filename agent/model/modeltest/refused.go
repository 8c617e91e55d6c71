package modeltest

import (
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
)

// refused is about what a provider refuses in a request: it is left out and the request sent again.
func (s Subject) refused(t *testing.T) {
	t.Run("a tool is set aside", s.toolSetAside)
	t.Run("images become notes", s.imagesDropped)
	t.Run("bad images are never sent", s.badImages)
	t.Run("a plain refusal is not repeated", func(t *testing.T) {
		server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Status: 400, ErrorType: "invalid_request_error", ErrorMessage: "max_tokens: too many"}))
		_, err := s.New(t, server.URL, 0).Stream(t.Context(), ask(user("hi")), nil)
		if e := asError(t, err); e.Kind != model.ErrBadRequest || len(server.Requests()) != 1 {
			t.Errorf("%+v after %d requests", e, len(server.Requests()))
		}
	})
}

func badRequest(text string) fakewire.Reply {
	return fakewire.Reply{Status: 400, ErrorType: "invalid_request_error", ErrorMessage: text}
}

// toolSetAside holds the last part of O-MCP-06.
func (s Subject) toolSetAside(t *testing.T) {
	for _, text := range []string{
		"tools.1.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
		"Invalid schema for function 'list': array schema missing items. (tools[1].function.parameters)",
		"Invalid schema for function 'list': In context=('properties', 'x'), reasoning image",
		"Invalid value at 'tools[0].function_declarations[1].parameters.properties[0].value' (items)",
	} {
		server := fakewire.New(t, fakewire.Once(fakewire.Steps(fakewire.Reply{Text: "ok"}), badRequest(text)))
		client := s.New(t, server.URL, 0)
		m, err := client.Stream(t.Context(), ask(user("hi")), nil)
		if err != nil || m.Stop != model.StopEnd || len(m.Notes) != 1 || !strings.Contains(m.Notes[0], `"list"`) {
			t.Fatalf("%s: %+v, %v", text, m, err)
		}
		same(t, "message after JSON", clone(t, m), m)
		m, err = client.Stream(t.Context(), ask(user("again")), nil)
		if err != nil || len(m.Notes) != 0 {
			t.Errorf("%+v, %v", m, err)
		}
		if got := server.Requests(); len(got) != 3 || len(got[1].Tools) != 1 || len(got[2].Tools) != 1 {
			t.Errorf("%s: %d requests, tools %v", text, len(got), server.Last().Tools)
		}
	}
}

// imagesDropped holds the last part of O-LLM-03.
func (s Subject) imagesDropped(t *testing.T) {
	call := model.Message{Role: model.Assistant, Stop: model.StopTools, Parts: []model.Part{{Kind: model.ToolCall, CallID: "t1", Name: "read", Input: `{}`}}}
	shot := result("t1", "read", "shot")
	shot.Parts = append(shot.Parts, picture(t, 3, 3))
	asked := user("look")
	asked.Parts = append(asked.Parts, picture(t, 2, 2))
	history := []model.Message{asked, call, {Role: model.ToolRole, Parts: []model.Part{shot}}, user("and?")}

	server := fakewire.New(t, fakewire.Once(fakewire.Steps(fakewire.Reply{Text: "ok"}), fakewire.Reply{Text: "first"},
		badRequest("messages.0.content.1.image.source.base64: image exceeds 5 MB maximum")))
	client := s.New(t, server.URL, 0)
	if _, err := client.Stream(t.Context(), ask(history[:1]...), nil); err != nil {
		t.Fatal(err)
	}
	m, err := client.Stream(t.Context(), ask(history...), nil)
	if err != nil || m.Stop != model.StopEnd || len(m.Notes) != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	later := user("a new one")
	later.Parts = append(later.Parts, picture(t, 4, 4))
	if _, err := client.Stream(t.Context(), ask(append(history, later)...), nil); err != nil {
		t.Fatal(err)
	}
	var images []int
	for _, r := range server.Requests() {
		n := 0
		for _, m := range r.Messages {
			n += m.Images
		}
		images = append(images, n)
	}
	same(t, "images in each request", images, []int{1, 2, 0, 1})
}

// badImages holds O-LLM-03 for what was not made to fit when it was attached.
func (s Subject) badImages(t *testing.T) {
	asked := user("look")
	noise := picture(t, 1, 1)
	noise.Data = append(noise.Data, make([]byte, 6<<20)...)
	for i, p := range []model.Part{
		picture(t, 8001, 1), noise, {Data: []byte("<html></html>")}, {Data: []byte("\x89PNG\r\n\x1a\n cut")}, {Data: []byte{}}, {Mime: "image/heic", Data: []byte("ftypheic")},
	} {
		p.Kind, p.Name = model.File, "picture "+string(rune('a'+i))
		if p.Mime == "" {
			p.Mime = "image/png"
		}
		asked.Parts = append(asked.Parts, p)
	}
	r := s.sent(t, ask(asked))
	for _, p := range asked.Parts[1:] {
		if !strings.Contains(string(r.Raw), "[file "+p.Name) {
			t.Errorf("%s is lost: %.2000s", p.Name, r.Raw)
		}
	}
	if r.Messages[0].Images != 0 {
		t.Errorf("%d images are sent", r.Messages[0].Images)
	}
}
