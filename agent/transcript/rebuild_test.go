package transcript_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// ask is a request's surroundings, with what JSON could spoil.
func ask(system string) *model.Request {
	warm := 0.5
	return &model.Request{
		Model: "big", System: system, MaxTokens: 100, CacheKey: "w",
		Tools:  []model.Tool{{Name: "t", Description: "<b> & \u2028", Schema: json.RawMessage("{ \"a\" :\n1.50, \"<&>\": [] }")}},
		Params: model.Params{Temperature: &warm, Extra: map[string]json.RawMessage{"z": json.RawMessage(`{"b":"<"}`), "a": json.RawMessage(`1.0`)}},
		Native: []string{model.WebSearch}, Thinking: model.Thinking{Effort: "high"},
	}
}

// sender writes a conversation and remembers what it sent.
type sender struct {
	t    *testing.T
	l    *transcript.Log
	sent map[uint64]*model.Request
}

func (s *sender) step(want *model.Request) transcript.Record {
	s.t.Helper()
	f, err := s.l.PutFrame(want, "demo:big", "high")
	if err != nil {
		s.t.Fatal(err)
	}
	if !f.Equal(s.l.State().Frame) {
		add(s.t, s.l, transcript.Record{Kind: transcript.Setup, Frame: f})
	}
	r, err := s.l.Build(f)
	if err != nil {
		s.t.Fatal(err)
	}
	want.Messages = r.Messages
	if diff := cmp.Diff(want, r); diff != "" {
		s.t.Error(diff)
	}
	step := add(s.t, s.l, transcript.Record{Kind: transcript.StepStart, Turn: "t"})
	s.sent[step.Seq] = r
	return step
}

func TestEveryRequestCanBeBuiltAgainFromTheLog(t *testing.T) { // O-LLM-08
	dir := t.TempDir()
	s := &sender{t: t, l: open(t, dir), sent: map[uint64]*model.Request{}}
	hash, err := s.l.PutBlob([]byte("a picture"), "image/png")
	if err != nil {
		t.Fatal(err)
	}
	m := say(model.User, "look")
	m.Parts = append(m.Parts, model.Part{Kind: model.File, Mime: "image/png", Blob: hash})
	user := add(t, s.l, transcript.Record{Kind: transcript.User, Turn: "t", Message: m})
	add(t, s.l, transcript.Record{Kind: transcript.TurnStart, Turn: "t"})
	step := s.step(ask("be brief"))
	part := add(t, s.l, transcript.Record{Kind: transcript.Partial, Turn: "t", StepSeq: step.Seq, Message: say(model.Assistant, "I am")})
	add(t, s.l, transcript.Record{Kind: transcript.Retry, Turn: "t", StepSeq: step.Seq, Attempt: 1, Code: "server"})
	add(t, s.l, transcript.Record{Kind: transcript.Edit, Turn: "t", StepSeq: step.Seq, From: part.Seq})
	add(t, s.l, transcript.Record{Kind: transcript.Partial, Turn: "t", StepSeq: step.Seq, Message: say(model.Assistant, "It")})
	add(t, s.l, transcript.Record{Kind: transcript.Assistant, Turn: "t", StepSeq: step.Seq, Message: say(model.Assistant, "It is")})
	s.step(ask("be brief"))
	s.step(ask("be long"))
	add(t, s.l, transcript.Record{Kind: transcript.Partial, Turn: "t", StepSeq: s.l.State().StepSeq, Message: say(model.Assistant, "cut o")})
	add(t, s.l, transcript.Record{Kind: transcript.TurnEnd, Turn: "t", End: transcript.Interrupted})
	add(t, s.l, transcript.Record{Kind: transcript.User, Turn: "u", From: user.Seq, Message: say(model.User, "look again")})
	add(t, s.l, transcript.Record{Kind: transcript.TurnStart, Turn: "u"})
	s.step(ask("be long"))
	add(t, s.l, transcript.Record{Kind: transcript.Boundary, Border: transcript.Reset})
	s.step(ask("be long"))
	_ = s.l.Close()
	if n := strings.Count(readLog(t, dir), `"kind":"setup"`); n != 3 {
		t.Errorf("%d setups, want one for each change and one after the edit", n)
	}
	s.l = open(t, dir)
	got := map[uint64]*model.Request{}
	err = s.l.Requests(func(step uint64, r *model.Request) error {
		got[step] = r
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.sent, got); diff != "" {
		t.Error(diff)
	}
}

func TestALostBlobIsSaidAndNeverMadeUp(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	f, err := l.PutFrame(ask("be brief"), "demo:big", "")
	if err != nil {
		t.Fatal(err)
	}
	hash, err := l.PutBlob([]byte("a picture"), "image/png")
	if err != nil {
		t.Fatal(err)
	}
	picture := model.Part{Kind: model.File, Mime: "image/png", Blob: hash}
	in := []model.Message{*say(model.User, "x"), {Role: model.ToolRole, Parts: []model.Part{{Kind: model.ToolResult, Parts: []model.Part{picture}}}}}
	if err := os.RemoveAll(filepath.Join(dir, "blobs")); err != nil {
		t.Fatal(err)
	}
	out, err := l.WithFiles(in)
	if err != nil || out[1].Parts[0].Parts[0].Text == "" || in[1].Parts[0].Parts[0].Blob != hash {
		t.Errorf("%+v, %v", out, err)
	}
	_ = l.Close()
	if _, err := open(t, dir).Request(f); !errors.Is(err, transcript.ErrNoBlob) {
		t.Error(err)
	}
}
