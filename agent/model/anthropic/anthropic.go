// Package anthropic speaks Anthropic's Messages format, to Anthropic itself and to servers that
// speak the same.
//
// It promises what package wire does, and: signed reasoning goes back unchanged to the model that
// made it; the prompt's prefix is marked for caching.
package anthropic

import (
	"net/http"
	"time"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// DefaultBaseURL is Anthropic's own address.
const DefaultBaseURL = "https://api.anthropic.com"

// version is the API version that this package is written against.
const version = "2023-06-01"

// Options says how to reach a server. All fields are optional.
type Options struct {
	BaseURL   string      // see wire.AnthropicBase; "" is DefaultBaseURL
	Key       string      // sent as x-api-key
	AuthToken string      // sent as a bearer token
	Header    http.Header // further headers, over those above
	Provider  string      // id of the provider; reasoning is not sent to another one
	HTTP      *http.Client
	Cache     *wire.Cache   // share one; nil is one of its own
	Idle      time.Duration // see wire.Client.Idle
}

// New makes a client. It fails when BaseURL is unusable.
func New(o Options) (*wire.Client, error) {
	if o.Cache == nil {
		o.Cache = wire.NewCache()
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	base, err := wire.AnthropicBase(o.BaseURL)
	if err != nil {
		return nil, err
	}
	h := http.Header{"Anthropic-Version": {version}}
	if o.Key != "" {
		h.Set("X-Api-Key", o.Key)
	}
	if o.AuthToken != "" {
		h.Set("Authorization", "Bearer "+o.AuthToken)
	}
	wire.Overlay(h, o.Header)
	return &wire.Client{
		Format:   format{},
		URL:      base + "/messages",
		Provider: o.Provider,
		Header:   h,
		Secrets:  wire.Secrets(o.Header, o.Key, o.AuthToken),
		HTTP:     o.HTTP,
		Cache:    o.Cache,
		Idle:     o.Idle,
	}, nil
}

// Format is the format alone, for servers that have it under another address and in frames of their
// own.
func Format() interface {
	wire.Format
	wire.Trimmer
} {
	return format{}
}

type format struct{}

func (format) Name() string { return "anthropic" }

// Replays wants the signature, without which reasoning is refused, or the sealed form or block.
func (format) Replays(p model.Part) bool { return p.Signature != "" || p.Opaque != nil }

func (format) Decoder() wire.Decoder { return &decoder{} }
