// Package responses speaks OpenAI's Responses format, to OpenAI itself and to servers that speak
// the same.
//
// It promises what package wire does, and: nothing is stored at the provider; sealed reasoning goes
// back whole and in its place to the model that made it.
package responses

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
	Key          string // sent as a bearer token, at Azure as api-key; without one no such header is sent
	Organization string
	Azure        wire.Azure  // instead of BaseURL
	Header       http.Header // further headers, over those above
	Provider     string      // id of the provider; reasoning is not sent to another one
	HTTP         *http.Client
	Cache        *wire.Cache   // share one; nil is one of its own
	Idle         time.Duration // see wire.Client.Idle
}

// New makes a client. It fails when BaseURL or Azure is unusable.
func New(o Options) (*wire.Client, error) {
	if o.Cache == nil {
		o.Cache = wire.NewCache()
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	c := &wire.Client{
		Format:   format{deployment: o.Azure.Deployment},
		Provider: o.Provider,
		Header:   wire.OpenAIHeader(o.Key, o.Organization, o.Header),
		Secrets:  wire.Secrets(o.Header, o.Key),
		HTTP:     o.HTTP,
		Cache:    o.Cache,
		Idle:     o.Idle,
	}
	return c, c.At(o.BaseURL, o.Azure, "/responses", o.Key, o.Header)
}

type format struct {
	deployment string // at Azure
}

func (format) Name() string { return "responses" }

// Replays wants the whole item, which holds the sealed reasoning.
func (format) Replays(p model.Part) bool { return p.Opaque != nil }

func (format) Decoder() wire.Decoder { return &decoder{} }
