package storm_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"carrel/agent/model"
	"carrel/agent/model/anthropic"
	"carrel/agent/model/bedrock"
	"carrel/agent/model/chat"
	"carrel/agent/model/gemini"
	"carrel/agent/model/responses"
	"carrel/agent/model/wire"
	"carrel/agent/turn"
)

// idle is how long a stream may be silent: short, since stalls are part of the storm.
const idle = 700 * time.Millisecond

// format is a wire format in the storm. Its name is also its provider's.
type format struct {
	name string
	open func(url string, cache *wire.Cache) (*wire.Client, error)
	bare bool // it is told that the model sees no pictures
}

func (f format) id() string { return f.name + ":" + f.model() }

// model is what the provider calls the model. It tells the format.
func (f format) model() string { return f.name + "-model" }

// formats are all wire formats. A new one is a line here.
var formats = []format{
	{name: "anthropic", open: func(url string, cache *wire.Cache) (*wire.Client, error) {
		return anthropic.New(anthropic.Options{BaseURL: url, Key: "key", Provider: "anthropic", Idle: idle, Cache: cache})
	}},
	{name: "responses", open: func(url string, cache *wire.Cache) (*wire.Client, error) {
		return responses.New(responses.Options{BaseURL: url + "/v1", Key: "key", Provider: "responses", Idle: idle, Cache: cache})
	}},
	{name: "chat", open: func(url string, cache *wire.Cache) (*wire.Client, error) {
		return chat.New(chat.Options{BaseURL: url + "/v1", Key: "key", Provider: "chat", Idle: idle, Cache: cache})
	}},
	{name: "gemini", open: func(url string, cache *wire.Cache) (*wire.Client, error) {
		return gemini.New(gemini.Options{BaseURL: url, Key: "key", Provider: "gemini", Idle: idle, Cache: cache})
	}},
	{name: "bedrock", open: func(url string, cache *wire.Cache) (*wire.Client, error) {
		return bedrock.New(bedrock.Options{BaseURL: url, Bearer: "key", Provider: "bedrock", Idle: idle, Cache: cache, Claude: anthropic.Format()})
	}},
	{name: "converse", open: func(url string, cache *wire.Cache) (*wire.Client, error) {
		return bedrock.New(bedrock.Options{BaseURL: url, Bearer: "key", Provider: "converse", Idle: idle, Cache: cache})
	}},
	{name: "deepseek", bare: true, open: func(url string, cache *wire.Cache) (*wire.Client, error) {
		return chat.New(chat.Options{BaseURL: url + "/v1", Key: "key", Provider: "deepseek", Idle: idle, Cache: cache,
			Quirks: chat.Quirks{Replay: chat.ReplayText, Effort: chat.EffortBoth}})
	}},
}

// clients are those of one conversation, by the names of their formats.
type clients map[string]*wire.Client

func newClients(url string) (clients, error) {
	cache, out := wire.NewCache(), clients{}
	for _, f := range formats {
		c, err := f.open(url, cache)
		if err != nil {
			return nil, err
		}
		out[f.name] = c
	}
	return out, nil
}

// of gives the client of a model.
func (c clients) of(name string) *wire.Client { return c[strings.TrimSuffix(name, "-model")] }

// resolve finds the model of a choice, as the application's catalogue does.
func (c clients) resolve(_ context.Context, choice turn.Choice) (turn.Endpoint, error) {
	i := slices.IndexFunc(formats, func(f format) bool { return f.id() == choice.Model })
	if i < 0 {
		return turn.Endpoint{}, fmt.Errorf("there is no model %q", choice.Model)
	}
	f := formats[i]
	next := formats[(i+1)%len(formats)]
	return turn.Endpoint{ID: f.id(), Name: f.model(), Level: choice.Level, Streamer: c[f.name], Images: !f.bare, Window: 200_000,
		Fallbacks: []string{next.id()},
		Prepare: func(r *model.Request) {
			r.MaxTokens = 8000
			r.Thinking.Effort = choice.Level
		}}, nil
}
