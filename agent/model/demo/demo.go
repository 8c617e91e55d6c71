// Package demo is the built-in offline model, "demo:demo". It is no model at all: it follows a
// script, says so first, and shows what a turn is by really doing one.
//
// For each message it looks at the repository (bash), reads a file of it (file_read), adds a line to
// DEMO.md (file_edit_insert), checks the change and commits it (bash), and sums up what there is to
// review. In a folder that is no git repository of its own it leaves the git steps out. When a step
// fails it says so and stops.
//
// A message that contains the word "slow" makes it run "sleep 20" on the way, so that people and
// tests can try to interrupt a turn, or to close the window and come back to it.
//
// The script is a function of the conversation alone: the same history always gets the same answer.
package demo

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// ID is the model's id in the catalog.
const ID = "demo:demo"

// DefaultDelay is the time between two pieces of a response. A turn has some 250 of them.
const DefaultDelay = 12 * time.Millisecond

// NoDelay turns the delay off.
const NoDelay = time.Duration(-1)

// Options qualifies the demo model.
type Options struct {
	Delay time.Duration // between two pieces of a response; 0 is DefaultDelay
}

// New makes the model.
func New(o Options) model.Streamer {
	if o.Delay == 0 {
		o.Delay = DefaultDelay
	}
	return streamer{delay: o.Delay}
}

type streamer struct{ delay time.Duration }

// Stream plays the next step; see model.Streamer.
func (s streamer) Stream(ctx context.Context, r *model.Request, emit func(model.Event)) (*model.Message, error) {
	next := follow(read(r))
	a := wire.NewAccumulator("demo", emit)
	m := a.Message()
	usage := model.Usage{Input: size(r)}
	a.Usage(usage)
	play := func(key string, kind model.Kind, text string) bool {
		for _, piece := range pieces(text) {
			if !s.wait(ctx) {
				return false
			}
			a.Add(key, kind, piece)
			usage.Output = int64(utf8.RuneCountInString(next.text+next.input)+3) / 4
		}
		a.End(key)
		return true
	}
	done := ctx.Err() == nil && play("text", model.Text, next.text)
	if done && next.tool != "" {
		a.Start("call", model.Part{Kind: model.ToolCall, CallID: next.id, Name: next.tool})
		done = play("call", model.ToolCall, next.input)
	}
	if !done {
		m.Stop = model.StopCancelled
		return m, &model.Error{Kind: model.ErrCancelled, Message: "the request was cancelled", MidStream: len(m.Parts) > 0, Cause: ctx.Err()}
	}
	a.Usage(usage)
	if next.tool != "" {
		a.Finish(model.StopTools)
	} else {
		a.Finish(model.StopEnd)
	}
	return m, nil
}

// wait lets a delay pass; it reports false when the context ended.
func (s streamer) wait(ctx context.Context) bool {
	if s.delay > 0 {
		t := time.NewTimer(s.delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// size guesses the tokens of a request: a quarter of its characters.
func size(r *model.Request) int64 {
	n := len(r.System)
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += len(p.Text) + len(p.Input)
			for _, q := range p.Parts {
				n += len(q.Text)
			}
		}
	}
	return int64(n+3) / 4
}

// pieces cuts a text after each space, and long words (such as arguments) after twelve characters.
func pieces(text string) []string {
	var out []string
	var b strings.Builder
	n := 0
	for _, r := range text {
		b.WriteRune(r)
		if n++; r == ' ' && n > 3 || n == 12 {
			out = append(out, b.String())
			b.Reset()
			n = 0
		}
	}
	if b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}
