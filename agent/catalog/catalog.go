// Package catalog knows the providers and their models, and makes a model's client from the
// person's settings.
//
// It promises: what is not configured right is an error with a code and a sentence that says how to
// mend it, and never stops another provider from working; settings come before the environment; no
// key leaves it but inside a client; what nobody knows of a model, such as its price, stays unknown
// instead of being guessed.
package catalog

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"carrel/agent/model/demo"
	"carrel/agent/model/wire"
	"carrel/store"
)

// Config gives the entries of providers.jsonc by their id, and the settings.
type Config interface {
	Providers() (map[string]store.ProviderConfig, error)
	Settings() (store.Settings, error)
}

// Catalog answers from the settings as they are at each call. It is safe for concurrent use.
type Catalog struct {
	config Config
	env    func(string) string
	http   *http.Client // shared, so that connections are reused
	cache  *wire.Cache  // shared, so that a conversation's steps are cheap
	lists  lists        // what Suggest heard
	chains chains       // AWS credentials
	logins sync.Mutex   // held while a login at Coder is renewed
	entra  entraTokens  // Microsoft's, for Azure
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
	Custom     bool   // it is not built in
	KeyPage    string // where a person gets a key; "" for those that need none
}

// Model is one model that can be chosen.
type Model struct {
	ID        string // provider:id
	Name      string
	Provider  string // the provider's id
	Aliases   []string
	Available bool // its provider is configured
	Demo      bool
	First     bool   // the default of its provider
	Own       bool   // the settings name it
	Via       string // as in Resolved
	Info      Info
}

// New makes a catalog of the settings and the environment.
func New(root Config, env func(string) string) *Catalog {
	return &Catalog{config: root, env: env, http: wire.NewHTTP(), cache: wire.NewCache()}
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
	own := c.models()
	var out []Model
	for _, s := range c.settle() {
		out = append(out, c.choices(s, own)...)
	}
	return append(out, demoModel())
}

// Describe is one model, also one that Models does not list, by provider:id or a short name. Its error is a
// *ConfigError.
func (c *Catalog) Describe(id string) (Model, error) {
	provider, name, err := c.split(id, c.models())
	if err != nil {
		return Model{}, err
	}
	for _, m := range c.Models() {
		if m.ID == provider+":"+name {
			return m, nil
		}
	}
	if _, ok := c.one(provider); !ok {
		return Model{}, unknownProvider(provider)
	}
	i := c.Info(provider + ":" + name)
	return Model{ID: i.ID, Name: i.Name, Provider: provider, Aliases: i.Aliases, Info: i}, nil
}

// choices are a provider's models: those built in, then those of the settings.
func (c *Catalog) choices(s settled, own map[string]ownModel) []Model {
	var names []string
	for _, k := range s.models {
		names = append(names, k.id)
	}
	builtin := len(names)
	for _, id := range s.entry.Models {
		if id != "" && !slices.Contains(names, id) {
			names = append(names, id)
		}
	}
	for _, full := range slices.Sorted(maps.Keys(own)) {
		if id, ok := strings.CutPrefix(full, s.id+":"); ok && id != "" && !slices.Contains(names, id) {
			names = append(names, id)
		}
	}
	out := make([]Model, 0, len(names))
	for n, name := range names {
		i := c.info(s, s.id, name, own)
		m := Model{ID: i.ID, Name: i.Name, Provider: s.id, Aliases: i.Aliases, First: i.row.first, Own: n >= builtin, Info: i}
		route, err := c.route(s, name)
		if m.Available = err == nil; route != "" {
			m.Via = viaCoder(route)
		}
		out = append(out, m)
	}
	return out
}

// Default is the model for whoever chose none: the setting if it is available, else the default of
// the first provider that is configured, else the demo.
func (c *Catalog) Default(setting string) string {
	all, own := c.settle(), c.models()
	if provider, name, err := c.split(setting, own); err == nil {
		reached := func(s settled) bool {
			_, no := c.route(s, name)
			return s.id == provider && no == nil
		}
		if provider == "demo" || slices.ContainsFunc(all, reached) {
			return provider + ":" + name
		}
	}
	for _, s := range all {
		list := c.choices(s, own)
		if len(list) == 0 {
			continue
		}
		i := slices.IndexFunc(list, func(m Model) bool { return m.First })
		if m := list[max(i, 0)]; m.Available {
			return m.ID
		}
	}
	return demo.ID
}

// Fallbacks are the models to try when a model, given as provider:id or by a short name, refuses to
// answer: the settings' chain, without repetition and without the model itself.
func (c *Catalog) Fallbacks(id string) []string {
	const most = 16
	own := c.models()
	provider, name, err := c.split(id, own)
	if err != nil {
		return nil
	}
	id = provider + ":" + name
	s, err := c.config.Settings()
	if err != nil {
		return nil
	}
	var out []string
	for _, next := range s.ModelFallbacks[id].Models {
		provider, name, err := c.split(next, own)
		if err != nil {
			continue
		}
		if next = provider + ":" + name; next != id && !slices.Contains(out, next) && len(out) < most {
			out = append(out, next)
		}
	}
	return out
}

// maxID is how long provider:id may be, in bytes: an ARN of Bedrock's has up to 2048.
const maxID = 2100

// split reads provider:id or a short name.
func (c *Catalog) split(id string, own map[string]ownModel) (provider, name string, err error) {
	id = strings.TrimSpace(id)
	provider, name, found := strings.Cut(id, ":")
	if id == "" {
		return "", "", &ConfigError{BadModel, "No model is named. Write it as provider:model, such as anthropic:claude-opus-5-5."}
	}
	if len(id) > maxID || strings.ContainsFunc(id, func(r rune) bool {
		return r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}) {
		return "", "", &ConfigError{BadModel, fmt.Sprintf("%q is no name of a model. Write it as provider:model, such as anthropic:claude-opus-5-5.", clip(id))}
	}
	if found && provider != "" && name != "" {
		return provider, name, nil
	}
	if provider, name, ok := c.alias(id, own); ok {
		return provider, name, nil
	}
	return "", "", &ConfigError{BadModel, fmt.Sprintf(
		"There is no model %q. Write it as provider:model, such as anthropic:claude-opus-5-5, or use a short name such as opus, sonnet, gpt or demo.", clip(id))}
}
