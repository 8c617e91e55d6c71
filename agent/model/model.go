// Package model is the vocabulary for talking to a language model: messages, requests, streamed
// events and errors, the same for every provider.
//
// It promises: a message holds everything a provider sent that must be replayed (reasoning,
// signatures), survives a JSON round trip unchanged, and becomes a legal request for any provider
// through Repair. The wire formats live in the packages below it, one per format; each implements
// Streamer.
package model

import (
	"context"
	"encoding/json"
	"time"
)

// Kind says what a Part holds.
type Kind string

// The kinds of a Part.
const (
	Text       Kind = "text"
	Reasoning  Kind = "reasoning"
	File       Kind = "file"
	ToolCall   Kind = "tool_call"
	ToolResult Kind = "tool_result"
	// Native is a provider's own tool at work, such as its web search: Name is the tool, Text what
	// people may read of it (the query), Sources what it found, Opaque what has to go back to the
	// model that made it (Origin). Nothing has to be run for it.
	Native Kind = "native"
)

// Role says who speaks a Message.
type Role string

// The roles of a Message. Tool results form a message of their own.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Part is one piece of a message. It is one flat struct so that it has a stable JSON form.
type Part struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text,omitempty"`

	// File: a media type and a blob in the session's blob store (SHA-256, hex). Data is filled
	// only while a request is built; it is never written to the log.
	Mime string `json:"mime,omitempty"`
	Blob string `json:"blob,omitempty"`
	Data []byte `json:"-"`

	// ToolCall and ToolResult.
	CallID string `json:"callId,omitempty"`
	Name   string `json:"name,omitempty"` // of the tool, or of the file
	// Input is the call's arguments, the raw JSON text exactly as streamed.
	Input string `json:"input,omitempty"`
	// Open marks a part that was still streaming when the message ended. An open call is never run.
	Open    bool   `json:"open,omitempty"`
	Parts   []Part `json:"parts,omitempty"` // a result's content: text and files
	IsError bool   `json:"isError,omitempty"`

	// Origin names the wire format, the provider and the model that made the part; reasoning, native
	// tools and whatever is Opaque are replayed to that model alone.
	Origin    string          `json:"origin,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Opaque    json.RawMessage `json:"opaque,omitempty"`

	// Sources are the pages that a text cites or that a native tool found, without repetition.
	Sources []Source `json:"sources,omitempty"`
}

// Source is a page that a response refers to. Both are untrusted text.
type Source struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

// Stop says why a response ended.
type Stop string

// The reasons for a response to end. Only StopEnd and StopTools make its calls runnable.
const (
	StopEnd       Stop = "end"
	StopTools     Stop = "tools"
	StopLength    Stop = "length"
	StopFilter    Stop = "filter"
	StopOverflow  Stop = "overflow"
	StopPause     Stop = "pause"
	StopError     Stop = "error"
	StopCancelled Stop = "cancelled"
)

// Message is one message of a conversation.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
	Stop  Stop   `json:"stop,omitempty"`
	Usage Usage  `json:"usage,omitzero"`
	Model string `json:"model,omitempty"` // "provider:id" of the model that answered
	// Via is "coder:provider/model" when Coder's gateway stood between; "" it did not.
	Via string `json:"via,omitempty"`
	// Tier is the service tier or speed that the provider says it used, in its own word; "" unknown.
	Tier string `json:"tier,omitempty"`
	// Notes tell people what was changed to get the response, such as a tool that the provider
	// refused and that was set aside. Models don't read them.
	Notes []string `json:"notes,omitempty"`
}

// Usage counts tokens. Input excludes cached tokens on every provider; Output includes Reasoning.
type Usage struct {
	Input      int64 `json:"input,omitempty"`
	Output     int64 `json:"output,omitempty"`
	Reasoning  int64 `json:"reasoning,omitempty"`
	CacheRead  int64 `json:"cacheRead,omitempty"`
	CacheWrite int64 `json:"cacheWrite,omitempty"`
	// CacheWriteHour is the part of CacheWrite that is kept for an hour, which costs more.
	CacheWriteHour int64 `json:"cacheWriteHour,omitempty"`
	// Searches counts billed web searches.
	Searches int64 `json:"searches,omitempty"`
	// Cost is what the provider itself says it billed, in micro-USD; 0 when it says nothing.
	Cost int64 `json:"cost,omitempty"`
}

// Plus adds two counts.
func (u Usage) Plus(v Usage) Usage { return u.add(v, 1) }

// Minus takes one count off another.
func (u Usage) Minus(v Usage) Usage { return u.add(v, -1) }

func (u Usage) add(v Usage, sign int64) Usage {
	u.Input += sign * v.Input
	u.Output += sign * v.Output
	u.Reasoning += sign * v.Reasoning
	u.CacheRead += sign * v.CacheRead
	u.CacheWrite += sign * v.CacheWrite
	u.CacheWriteHour += sign * v.CacheWriteHour
	u.Searches += sign * v.Searches
	u.Cost += sign * v.Cost
	return u
}

// Tool is a tool as the model sees it. Schema is sent byte for byte.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// EventType says what an Event tells.
type EventType string

// The types of an Event.
const (
	PartStart   EventType = "part_start"
	PartDelta   EventType = "part_delta"
	PartEnd     EventType = "part_end"
	UsageUpdate EventType = "usage"
)

// Event is one increment of a streamed response.
type Event struct {
	Type  EventType
	Index int    // of the part in Message.Parts; -1 for UsageUpdate
	Kind  Kind   // of that part
	Delta string // text, reasoning or call arguments to append
	// Message is the whole partial message so far. It is valid only during the callback.
	Message *Message
}

// Streamer gets one response from a model. Both the wire formats and the demo model implement it.
//
// Stream calls emit on the calling goroutine for every event and returns the message. The message
// is never nil: on an error or a cancelled context it holds what had arrived, with Stop set to
// StopError or StopCancelled. Every error is an *Error.
type Streamer interface {
	Stream(ctx context.Context, r *Request, emit func(Event)) (*Message, error)
}

// ErrorKind says what a caller can do about an Error.
type ErrorKind string

// The kinds of an Error.
const (
	ErrRateLimit  ErrorKind = "rate_limit"
	ErrQuota      ErrorKind = "quota"
	ErrOverloaded ErrorKind = "overloaded"
	ErrServer     ErrorKind = "server"
	ErrNetwork    ErrorKind = "network"
	ErrAuth       ErrorKind = "auth"
	ErrOverflow   ErrorKind = "context_overflow"
	ErrNotFound   ErrorKind = "model_not_found"
	ErrBadRequest ErrorKind = "bad_request"
	ErrCancelled  ErrorKind = "cancelled"
)

// Error is a failed or cancelled request. Message is safe to show; Cause goes to the log.
type Error struct {
	Kind       ErrorKind
	Status     int // HTTP status, 0 when there was none
	Message    string
	Code       string        // the provider's own code, such as "insufficient_quota"; "" when it gave none
	Hint       string        // a sentence on how to mend it; "" when there is nothing to say
	RetryAfter time.Duration // what the provider asked for; 0 when it did not
	MidStream  bool          // part of the response had arrived
	Final      bool          // trying again can't help before somebody mends something
	Cause      error
}

// Error gives the kind and the message.
func (e *Error) Error() string { return string(e.Kind) + ": " + e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Retryable reports whether the same request can succeed later.
func (e *Error) Retryable() bool {
	if e.Final {
		return false
	}
	switch e.Kind {
	case ErrRateLimit, ErrOverloaded, ErrServer, ErrNetwork:
		return true
	case ErrQuota, ErrAuth, ErrOverflow, ErrNotFound, ErrBadRequest, ErrCancelled:
		return false
	}
	return false
}
