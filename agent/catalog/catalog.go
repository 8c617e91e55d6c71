// Package catalog knows the providers and their models, and makes a model's client from the
// person's settings.
//
// It promises: what is not configured right is an error with a code and a sentence that says how to
// mend it, and never stops another provider from working; settings come before the environment; no
// key leaves it but inside a client.
package catalog

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"carrel/agent/model"
	"carrel/agent/model/demo"
	"carrel/agent/model/wire"
	"carrel/store"
)

// Config gives the entries of providers.jsonc by their id.
type Config interface {
	Providers() (map[string]store.ProviderConfig, error)
}

// Catalog answers from the settings as they are at each call. It is safe for concurrent use.
type Catalog struct {
	config Config
	env    func(string) string
	http   *http.Client // shared, so that connections are reused
}

// Provider is one provider as the settings show it.
type Provider struct {
	ID         string
	Name       string
	Configured bool   // it can be asked: enabled, sound, and with a key where it needs one
	KeySource  string // settings, file, or the environment variable's name; "" without a key
	BaseURL    string
	Wire       string // a Wire
	Error      string // what is wrong with its settings and how to mend it
}

// Model is one model that can be chosen.
type Model struct {
	ID        string // provider:id
	Name      string
	Provider  string // the provider's id
	Aliases   []string
	Available bool // its provider is configured
	Demo      bool
}

// Resolved is a model ready to be asked.
type Resolved struct {
	ID       string // provider:id, also when it was asked for by a short name
	Streamer model.Streamer
	Model    string // the provider's own id
}

// New makes a catalog of the settings and the environment.
func New(root Config, env func(string) string) *Catalog {
	return &Catalog{config: root, env: env, http: wire.NewHTTP()}
}

// Providers are the built-in ones, the custom ones by id, and the demo.
func (c *Catalog) Providers() []Provider {
	var out []Provider
	for _, s := range c.settle() {
		out = append(out, s.view())
	}
	return append(out, demoProvider())
}

// Models are the known models of the built-in providers, those named in the settings, and the demo.
func (c *Catalog) Models() []Model {
	var out []Model
	for _, s := range c.settle() {
		out = append(out, s.choices()...)
	}
	return append(out, demoModel())
}

// Resolve makes the client of a model, given as provider:id or by a short name such as "opus". Every
// error is a *ConfigError.
func (c *Catalog) Resolve(id string) (Resolved, error) {
	provider, name, err := split(id)
	if err != nil {
		return Resolved{}, err
	}
	if provider == "demo" {
		if name != "demo" {
			return Resolved{}, &ConfigError{BadModel, "The only demo model is demo:demo."}
		}
		return Resolved{ID: demo.ID, Streamer: demo.New(demo.Options{Delay: c.demoDelay()}), Model: "demo"}, nil
	}
	all := c.settle()
	i := slices.IndexFunc(all, func(s settled) bool { return s.id == provider })
	if i < 0 {
		return Resolved{}, unknownProvider(provider)
	}
	s := all[i]
	if s.err != nil {
		return Resolved{}, s.err
	}
	client, err := s.client(c.http)
	if err != nil {
		return Resolved{}, err
	}
	return Resolved{ID: provider + ":" + name, Streamer: client, Model: name}, nil
}

// Default is the model for whoever chose none: the setting if it is available, else the default of
// the first provider that is configured, else the demo.
func (c *Catalog) Default(setting string) string {
	all := c.settle()
	if provider, name, err := split(setting); err == nil {
		i := slices.IndexFunc(all, func(s settled) bool { return s.id == provider && s.err == nil })
		if i >= 0 || provider == "demo" {
			return provider + ":" + name
		}
	}
	for _, s := range all {
		if s.err == nil && len(s.models) > 0 {
			return s.id + ":" + s.favourite()
		}
	}
	return demo.ID
}

// split reads provider:id or a short name.
func split(id string) (provider, name string, err error) {
	id = strings.TrimSpace(id)
	provider, name, found := strings.Cut(id, ":")
	switch {
	case id == "":
		return "", "", &ConfigError{BadModel, "No model is named. Write it as provider:model, such as anthropic:claude-opus-5-5."}
	case found && provider != "" && name != "":
		return provider, name, nil
	case strings.EqualFold(id, "demo"):
		return "demo", "demo", nil
	}
	for _, b := range builtins() {
		for _, k := range b.models {
			if slices.Contains(k.aliases, strings.ToLower(id)) {
				return b.id, k.id, nil
			}
		}
	}
	return "", "", &ConfigError{BadModel, fmt.Sprintf(
		"There is no model %q. Write it as provider:model, such as anthropic:claude-opus-5-5, or use a short name such as opus, sonnet, gpt or demo.", id)}
}

// demoDelay is the demo's delay: CARREL_DEMO_DELAY, such as 5ms or 0, else the default.
func (c *Catalog) demoDelay() time.Duration {
	d, err := time.ParseDuration(c.env("CARREL_DEMO_DELAY"))
	switch {
	case err != nil || d < 0:
		return demo.DefaultDelay
	case d == 0:
		return demo.NoDelay
	}
	return d
}
