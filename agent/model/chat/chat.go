// Package chat speaks OpenAI's Chat Completions format, which most other providers and local
// servers speak too.
//
// It promises what package wire does. What servers do differently is data (Quirks), no branches per
// provider.
package chat

import (
	"encoding/json"
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
	Quirks       Quirks
	// Extra are further fields of each body, valid JSON, such as OpenRouter's "provider" and xAI's
	// "search_parameters". They come before what Quirks says about a search.
	Extra map[string]json.RawMessage
}

// Quirks is what a server does in its own way.
type Quirks struct {
	// Replay is how reasoning goes back. Some models call tools badly without it, others refuse it.
	Replay Replay
	// MaxTokensField is the name of the limit of output; "" is max_tokens.
	MaxTokensField string
	// Effort is how the server is told how much to think.
	Effort Effort
	// Search is how the server's own web search is switched on.
	Search Search
	// CacheKey sends the request's cache key as prompt_cache_key.
	CacheKey bool
	// CacheControl asks for caching with a field of the body, as OpenRouter wants it for the models
	// that do not cache by themselves.
	CacheControl bool
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

// Effort is a way to say how much to think.
type Effort string

// The ways to say how much to think.
const (
	EffortField  Effort = ""          // reasoning_effort, with "none" for off
	EffortObject Effort = "reasoning" // OpenRouter's object, which takes a budget too
	EffortSwitch Effort = "thinking"  // on or off, no more: Moonshot, Z.ai
	EffortBoth   Effort = "both"      // the switch and reasoning_effort: DeepSeek
)

// Search is a way to switch a server's own web search on.
type Search string

// The ways to switch a web search on.
const (
	SearchNone       Search = ""
	SearchParameters Search = "search_parameters"  // xAI
	SearchPlugin     Search = "plugins"            // OpenRouter
	SearchOptions    Search = "web_search_options" // OpenAI's search models
	SearchTool       Search = "web_search"         // Z.ai
)

// New makes a client. It fails when BaseURL or Azure is unusable.
func New(o Options) (*wire.Client, error) {
	if o.Cache == nil {
		o.Cache = wire.NewCache()
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	c := &wire.Client{
		Format:   format{quirks: o.Quirks, extra: o.Extra, deployment: o.Azure.Deployment},
		Provider: o.Provider,
		Header:   wire.OpenAIHeader(o.Key, o.Organization, o.Header),
		Secrets:  wire.Secrets(o.Header, o.Key),
		HTTP:     o.HTTP,
		Cache:    o.Cache,
		Idle:     o.Idle,
	}
	return c, c.At(o.BaseURL, o.Azure, "/chat/completions", o.Key, o.Header)
}

type format struct {
	quirks     Quirks
	extra      map[string]json.RawMessage
	deployment string // at Azure
}

func (format) Name() string { return "chat" }

func (f format) Replays(p model.Part) bool {
	switch f.quirks.Replay {
	case ReplayText:
		return p.Kind == model.Reasoning && p.Text != ""
	case ReplayDetails:
		return p.Kind == model.Reasoning && p.Opaque != nil
	case ReplayNone:
	}
	return false
}

func (format) Decoder() wire.Decoder { return &decoder{} }
