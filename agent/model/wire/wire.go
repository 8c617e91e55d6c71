// Package wire is what all wire formats share: the HTTP call, the reading of server-sent events,
// the building up of a message from increments, the writing of request bodies and the sorting of
// errors.
//
// It promises: a request body is a pure function of the request and of what the provider refused
// before, and is strict UTF-8 and strict JSON whatever the history holds; a step of a long
// conversation costs little more than writing the bytes; a stream that goes silent ends as a
// retryable error; a cancelled context closes the connection; no key appears in an error; memory is
// bounded whatever a server sends.
package wire

import (
	"bufio"
	"net/http"

	"carrel/agent/model"
)

// Format is one wire format.
type Format interface {
	// Name is the format's name, such as "anthropic".
	Name() string
	// Replays reports whether a finished part of reasoning or of a native tool that this very model
	// made can be sent back to it.
	Replays(p model.Part) bool
	// Body is the request's body but for its messages, at which it does not look.
	Body(r *model.Request) Body
	// Items are what a message adds to the list of the body, each an Object or Raw. They depend on
	// the message alone. The message is repaired and holds nothing that only another model takes.
	Items(m model.Message) []any
	// Decoder makes a decoder for one response.
	Decoder() Decoder
}

// Body is a request's body in the form in which it can be written piece by piece.
type Body struct {
	Head  Object // the fields before the list of messages
	List  string // the name of the list
	First []any  // its items before those of the messages, each an Object or Raw

	// Group, when not "", makes one item of neighbouring messages of one side:
	// {"role":"user","content":[...]} with the items of the messages in the list that Group names.
	Group string
	// User and Assistant are the roles of the two sides; "" is "user" and "assistant".
	User, Assistant string
	// Mark is a field, such as `"cache_control":{}`, that the last item of each of the last Marks
	// groups of the user's side gets; or, where it begins with "{", an item that follows it.
	Mark  string
	Marks int
}

// Decoder understands the events of one response.
type Decoder interface {
	// Decode adds one event to the message. It returns ErrDone for the event that ends the
	// response, and an *model.Error when the event tells of one.
	Decode(data []byte, a *Accumulator) error
}

// Trimmer is a Format that has more to say about which parts of a response can be sent back. last
// tells the last message of a request, which a provider may be asked to go on with.
type Trimmer interface {
	Trim(parts []model.Part, last bool) []model.Part
}

// Headerer is a Format whose requests have headers that depend on them.
type Headerer interface {
	Headers(r *model.Request) http.Header
}

// Explainer is a Format whose servers say more in a refusal than its status and text: in headers, or
// in details of the error. Explain may change what e says.
type Explainer interface {
	Explain(h http.Header, body []byte, e *model.Error)
}

// Framer is a Format whose responses are no server-sent events.
type Framer interface {
	// Accept is the media type of its responses.
	Accept() string
	// Frames reads a response to its end, as Events does.
	Frames(r *bufio.Reader, data func([]byte) error, alive func()) error
}
