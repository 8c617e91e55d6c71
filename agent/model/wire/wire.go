// Package wire is what all wire formats share: the HTTP call, the reading of server-sent events,
// the building up of a message from increments, the writing of request bodies and the sorting of
// errors.
//
// It promises: a request body is a pure function of the request, and is strict UTF-8 and strict
// JSON whatever the history holds; a stream that goes silent ends as a retryable error; a cancelled
// context closes the connection; no key appears in an error; memory is bounded whatever a server
// sends.
package wire

import (
	"carrel/agent/model"
)

// Format is one wire format.
type Format interface {
	// Name is the format's name, such as "anthropic".
	Name() string
	// Replays reports whether a finished part of reasoning that this very model made can be sent
	// back to it.
	Replays(p model.Part) bool
	// Body is the request's body. The messages of r are repaired and hold no other model's
	// reasoning.
	Body(r *model.Request) Object
	// Decoder makes a decoder for one response.
	Decoder() Decoder
}

// Decoder understands the events of one response.
type Decoder interface {
	// Decode adds one event to the message. It returns ErrDone for the event that ends the
	// response, and an *model.Error when the event tells of one.
	Decode(data []byte, a *Accumulator) error
}

// Prepare gives the request as it may be sent to the given origin: without reasoning that it can't
// take back, and repaired. With bare it holds no reasoning at all.
func Prepare(f Format, r *model.Request, origin string, bare bool) *model.Request {
	kept := make([]model.Message, len(r.Messages))
	for i, m := range r.Messages {
		kept[i] = m
		kept[i].Parts = nil
		for _, p := range m.Parts {
			if p.Kind == model.Reasoning && (bare || p.Open || p.Origin != origin || !f.Replays(p)) {
				continue
			}
			kept[i].Parts = append(kept[i].Parts, p)
		}
	}
	out := *r
	out.Messages = model.Repair(kept)
	return &out
}

// hasReasoning reports whether a prepared request sends reasoning back.
func hasReasoning(r *model.Request) bool {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Kind == model.Reasoning {
				return true
			}
		}
	}
	return false
}
