package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"carrel/app"
)

// The limits of a connection.
const (
	maxMessage  = 8 << 20   // bytes of one message from a host
	maxHello    = 256 << 10 // bytes of the first message, which anyone may send
	maxCalls    = 64        // calls in flight per host, replies that are not written yet included
	maxQueue    = 4 << 20   // bytes of events waiting for one host
	maxReplay   = 8 << 20   // bytes of events kept for hosts that come back
	maxHistory  = 4096      // events kept for hosts that come back
	maxMerged   = 64 << 10  // bytes of text in one merged growth
	maxBatch    = 64 << 10  // bytes of events in one frame, but for a single one that is longer
	mergeTick   = 16 * time.Millisecond
	helloWait   = 5 * time.Second  // until the hello must have come
	pingEvery   = 20 * time.Second // a host that does not answer within the next one is gone
	answerWait  = 15 * time.Second // for the window to raise itself or open an address
	dialogWait  = 15 * time.Minute // for a person to choose a folder
	maxJoined   = 256              // topics per host
	maxNameSize = 256              // bytes of a topic's or a call's name
)

// Close codes of a connection, beside the standard ones.
const (
	closeRefused  = 4401 // the token or the hello was not accepted; coming back with the same won't help
	closeReplaced = 4409 // a newer window took this one's place
)

// Role says what kind of host it is.
type Role string

// The roles of a host.
const (
	Browser Role = "browser" // a page, in a browser or in the window
	Desktop Role = "desktop" // the window's own process, which answers asks
	CLI     Role = "cli"     // a command
)

// inbound is a text frame from a host.
type inbound struct {
	Hello  *hello          `json:"hello,omitempty"`
	ID     uint64          `json:"id,omitempty"`
	Call   string          `json:"call,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Cancel uint64          `json:"cancel,omitempty"`
	Join   []string        `json:"join,omitempty"`
	Leave  []string        `json:"leave,omitempty"`
	Answer uint64          `json:"answer,omitempty"`
	OK     json.RawMessage `json:"ok,omitempty"`
	Error  *wireError      `json:"error,omitempty"`
}

type hello struct {
	Token   string   `json:"token"`
	Role    Role     `json:"role"`
	Version string   `json:"version"`
	Since   uint64   `json:"since,omitempty"`
	Core    string   `json:"core,omitempty"` // of the core that Since belongs to
	Join    []string `json:"join,omitempty"`
}

// outbound is a text frame to a host, as a host reads it.
type outbound struct {
	Welcome *welcome        `json:"welcome,omitempty"`
	ID      uint64          `json:"id,omitempty"`
	OK      json.RawMessage `json:"ok,omitempty"`
	Error   *wireError      `json:"error,omitempty"`
	Seq     uint64          `json:"seq,omitempty"`
	Event   string          `json:"event,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	Events  []outbound      `json:"events,omitempty"`
	Reset   bool            `json:"reset,omitempty"`
	Ask     uint64          `json:"ask,omitempty"`
	Call    string          `json:"call,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
}

type welcome struct {
	Core    string `json:"core"`
	Version string `json:"version"`
	Seq     uint64 `json:"seq"`
	Resumed bool   `json:"resumed"`
}

type wireError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// appError is the error as a host's Go code sees it.
func (e *wireError) appError() error {
	return &app.Error{Code: e.Code, Message: e.Message}
}

// callFrame reads the frame of a call as our hosts write it, without looking at its arguments, which
// are read once when it is known what they should be. Every other frame is false.
func callFrame(data []byte) (in inbound, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(`{"id":`))
	if !ok {
		return in, false
	}
	id, rest, ok := bytes.Cut(rest, []byte(`,"call":"`))
	if !ok {
		return in, false
	}
	name, rest, ok := bytes.Cut(rest, []byte(`"`))
	if !ok || len(name) == 0 || bytes.IndexByte(name, '\\') >= 0 {
		return in, false
	}
	if args, has := bytes.CutPrefix(rest, []byte(`,"args":`)); has {
		in.Args, ok = bytes.CutSuffix(args, []byte("}"))
	} else {
		ok = string(rest) == "}"
	}
	var err error
	in.ID, err = strconv.ParseUint(string(id), 10, 64)
	in.Call = string(name)
	return in, ok && err == nil
}

// encode returns v as JSON without escaping HTML and without null slices or maps.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := encodeTo(&b, v)
	return b.Bytes(), err
}

func encodeTo(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(filled(v)); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the line's end
	return nil
}

// mustEncode encodes our own frames, which can't fail.
func mustEncode(v any) []byte {
	b, err := encode(v)
	if err != nil {
		panic(err)
	}
	return b
}

// encodeEvent returns the frame of an event.
func encodeEvent(seq uint64, ev app.Event) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"seq":` + strconv.FormatUint(seq, 10) + `,"event":"` + ev.EventName() + `","data":`)
	err := encodeTo(&b, ev)
	b.WriteByte('}')
	return b.Bytes(), err
}

// encodeReply returns the frame that answers a call.
func encodeReply(id uint64, result any, err error) []byte {
	if err != nil {
		return mustEncode(outbound{ID: id, Error: publicError(err)})
	}
	var b bytes.Buffer
	b.WriteString(`{"id":` + strconv.FormatUint(id, 10) + `,"ok":`)
	if err := encodeTo(&b, result); err != nil {
		return mustEncode(outbound{ID: id, Error: publicError(err)})
	}
	b.WriteByte('}')
	return b.Bytes()
}

// publicError returns what a host may see of an error.
func publicError(err error) *wireError {
	var known *app.Error
	if errors.As(err, &known) {
		return &wireError{known.Code, known.Message}
	}
	return &wireError{"internal", "Something went wrong inside Carrel; its log (logs/core.log) has the details."}
}
