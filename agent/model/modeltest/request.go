package modeltest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"

	"carrel/agent/model"
)

func (s Subject) request(t *testing.T) {
	t.Run("schemas byte for byte", func(t *testing.T) {
		if r := s.sent(t, ask(user("hi"))); !bytes.Contains(r.Raw, []byte(schema)) {
			t.Errorf("schema changed: %s", r.Raw)
		}
	})
	t.Run("system, tools and model", func(t *testing.T) {
		r := s.sent(t, ask(user("hi")))
		if r.System != ask().System || r.Model != "model-a" || !slices.Equal(r.Tools, []string{"read", "list"}) || r.Prompt() != "hi" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("any text becomes strict JSON", s.strict)
	t.Run("files of parallel results in legal order", s.files)
}

// strict holds O-LLM-04: whatever is cut in the middle of a character, requests stay legal.
func (s Subject) strict(t *testing.T) {
	emoji := strings.Repeat("a😀b", 12)
	texts := []string{"\xff\xfe", "a\xf0\x9f\x98", "\xed\xa0\xbd", "nul \x00 esc \x1b \u2028", `back\slash "quote" \ud83d`}
	for i := 1; i <= 50; i++ {
		texts = append(texts, emoji[:i])
	}
	for _, text := range texts {
		if text == "" {
			continue
		}
		call := model.Message{Role: model.Assistant, Stop: model.StopTools, Parts: []model.Part{
			{Kind: model.Text, Text: text},
			{Kind: model.ToolCall, CallID: "c1", Name: "read", Input: "{\"path\":\"" + strings.NewReplacer("\\", "\\\\", `"`, `\"`, "\x00", "", "\x1b", "").Replace(text) + `"}`},
			{Kind: model.ToolCall, CallID: "c2", Name: "read", Input: `{"path":"\ud83d","b":"\ude00 \ud83d\ude00 \\ud83d"}`}}}
		back := model.Message{Role: model.ToolRole, Parts: []model.Part{result("c1", "read", text), result("c2", "read", text)}}
		req := ask(user(text), call, back)
		req.System, req.Tools[0].Description = text, text
		r := s.sent(t, req)
		if !json.Valid(r.Raw) || !strings.Contains(string(r.Raw), "ude00") {
			t.Errorf("%q became %s", text, r.Raw)
		}
	}
}

func (s Subject) files(t *testing.T) {
	image := picture(t, 2, 2)
	calls := model.Message{Role: model.Assistant, Stop: model.StopTools, Parts: []model.Part{
		{Kind: model.ToolCall, CallID: "t1", Name: "read", Input: `{}`}, {Kind: model.ToolCall, CallID: "t2", Name: "read", Input: `{}`}}}
	first := result("t1", "read", "shot")
	first.Parts = append(first.Parts, image, image)
	back := model.Message{Role: model.ToolRole, Parts: []model.Part{first, result("t2", "read", "B")}}
	asked := user("look")
	asked.Parts = append(asked.Parts, image,
		model.Part{Kind: model.File, Mime: "text/plain", Name: "notes.txt", Data: []byte("remember")},
		model.Part{Kind: model.File, Mime: "application/zip", Name: "x.zip", Data: []byte{0xff, 0}},
		model.Part{Kind: model.File, Mime: "image/png", Name: "lost.png", Blob: "gone"})

	r := s.sent(t, ask(asked, calls, back, user("and?"))) // the server refuses an illegal order
	if got := strings.Count(string(r.Raw), base64.StdEncoding.EncodeToString(image.Data)); got != 3 {
		t.Errorf("%d images arrive, want 3", got)
	}
	for _, want := range []string{"remember", "x.zip", "lost.png"} {
		if !bytes.Contains(r.Raw, []byte(want)) {
			t.Errorf("%s is lost", want)
		}
	}
	if got := r.Messages[2].Results; len(got) != 2 || !strings.Contains(got[0].Text, "shot") || got[1].Text != "B" {
		t.Errorf("results %+v", got)
	}
}

// picture is a PNG of that size.
func picture(t *testing.T, width, height int) model.Part {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return model.Part{Kind: model.File, Mime: "image/png", Name: fmt.Sprintf("%dx%d", width, height), Data: b.Bytes()}
}
