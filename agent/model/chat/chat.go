// Package chat speaks OpenAI's Chat Completions format, which most other providers and local
// servers speak too.
//
// It promises what package wire does. What servers do differently is data (Quirks), no branches per
// provider.
package chat

import (
	"net/http"
	"time"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// DefaultBaseURL is OpenAI's own address.
const DefaultBaseURL = "https://api.openai.com/v1"

// Options says how to reach a server. All fields are optional.
type Options struct {
	BaseURL      string // see wire.OpenAIBase; "" is DefaultBaseURL
	Key          string // sent as a bearer token; without one no such header is sent
	Organization string
	Header       http.Header // further headers, over those above
	Provider     string      // id of the provider; reasoning is not sent to another one
	HTTP         *http.Client
	Idle         time.Duration // see wire.Client.Idle
	Quirks       Quirks
}

// Quirks is what a server does in its own way.
type Quirks struct {
	// Replay is how reasoning goes back. Some models call tools badly without it, others refuse it.
	Replay Replay
	// MaxTokensField is the name of the limit of output; "" is max_tokens.
	MaxTokensField string
}

// Replay is a way to send reasoning back.
type Replay string

// The ways to send reasoning back: not at all, as text, or as the list of sealed details that the
// server sent.
const (
	ReplayNone    Replay = ""
	ReplayText    Replay = "reasoning_content"
	ReplayDetails Replay = "reasoning_details"
)

// New makes a client. It fails when BaseURL is unusable.
func New(o Options) (*wire.Client, error) {
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	base, err := wire.OpenAIBase(o.BaseURL)
	if err != nil {
		return nil, err
	}
	return &wire.Client{
		Format:   format{o.Quirks},
		URL:      base + "/chat/completions",
		Provider: o.Provider,
		Header:   wire.OpenAIHeader(o.Key, o.Organization, o.Header),
		Secrets:  wire.Secrets(o.Header, o.Key),
		HTTP:     o.HTTP,
		Idle:     o.Idle,
	}, nil
}

type format struct{ quirks Quirks }

func (format) Name() string { return "chat" }

func (f format) Replays(p model.Part) bool {
	switch f.quirks.Replay {
	case ReplayText:
		return p.Text != ""
	case ReplayDetails:
		return p.Opaque != nil
	case ReplayNone:
	}
	return false
}

func (format) Decoder() wire.Decoder { return &decoder{} }
