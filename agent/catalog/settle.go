package catalog

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"carrel/agent/model/anthropic"
	"carrel/agent/model/chat"
	"carrel/agent/model/responses"
	"carrel/agent/model/wire"
	"carrel/store"
)

// settled is a provider with the person's settings and the environment applied.
type settled struct {
	builtin // of a custom provider, what its entry says
	key     key
	baseVar string // environment variable that the base URL is from
	org     string
	header  http.Header
	err     *ConfigError // why it can't be asked
}

// reserved are the ids of providers that are not there yet, and of what is not a provider.
var reserved = []string{"google", "bedrock", "github-copilot", "coder", "azure", "demo"}

var customID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// settle applies the settings to every provider. A broken entry breaks its own provider alone.
func (c *Catalog) settle() []settled {
	entries, err := c.config.Providers()
	entries = maps.Clone(entries)
	var out []settled
	for _, b := range builtins() {
		e, has := entries[b.id]
		s := c.builtin(b, e, has)
		if err != nil {
			s.err = &ConfigError{Unreadable, "The settings of the providers can't be read: " + err.Error() + ". Mend providers.jsonc."}
		}
		out = append(out, s)
		delete(entries, b.id)
	}
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		if !slices.Contains(reserved, id) || entries[id].ProviderType != "" {
			out = append(out, c.custom(id, entries[id]))
		}
	}
	return out
}

func (c *Catalog) builtin(b builtin, e store.ProviderConfig, has bool) settled {
	s := settled{builtin: b}
	if e.BaseURL != "" {
		s.base = e.BaseURL
	} else if v := c.lookup(b.baseEnv); v != "" {
		s.base, s.baseVar = v, b.baseEnv
	}
	if b.id == "ollama" { // its own API is at /api, the one that we speak beside it
		if root, ok := strings.CutSuffix(strings.TrimRight(s.base, "/"), "/api"); ok {
			s.base = root + "/v1"
		}
	}
	s.org = c.lookup(b.orgEnv)
	s.apply(c, e)
	if e.ProviderType != "" {
		s.fail(bad(BadProvider, b.id, "this id is built in, so it takes no providerType. Give the custom provider another id."))
	}
	switch e.WireFormat {
	case "", "responses":
	case "chatCompletions":
		if b.id == "openai" {
			s.wire = OpenAICompatible
		}
	default:
		s.fail(bad(BadProvider, b.id, "wireFormat must be responses or chatCompletions, not %q.", e.WireFormat))
	}
	switch {
	case b.keyless && !has:
		s.fail(&ConfigError{NoKey, "Ollama is not set up. Name its models, or its baseUrl, under \"ollama\" in providers.jsonc."})
	case !b.keyless && s.key.value == "" && !s.sendsKey():
		s.fail(noKey(b))
	}
	s.check()
	return s
}

func (c *Catalog) custom(id string, e store.ProviderConfig) settled {
	s := settled{builtin: builtin{id: id, name: e.DisplayName, wire: Wire(e.ProviderType), base: e.BaseURL}}
	if s.name == "" {
		s.name = id
	}
	s.apply(c, e)
	switch {
	case slices.Contains(reserved, id):
		s.fail(bad(BadProvider, id, "this id is reserved. Give the custom provider another one."))
	case !customID.MatchString(id):
		s.fail(bad(BadProvider, id, "an id has lower-case letters, digits, _ and - only and starts with a letter or digit, such as local-vllm. Rename it."))
	case s.wire != AnthropicMessages && s.wire != OpenAIResponses && s.wire != OpenAICompatible:
		s.fail(bad(BadProvider, id, "providerType must be openai-compatible, openai-responses or anthropic-messages, not %q.", e.ProviderType))
	case s.base == "":
		s.fail(bad(BadBaseURL, id, "baseUrl is missing, such as http://localhost:8000/v1."))
	}
	s.check()
	return s
}

// apply takes what entries of both kinds can have.
func (s *settled) apply(c *Catalog, e store.ProviderConfig) {
	for _, id := range e.Models {
		if id != "" && !slices.ContainsFunc(s.models, func(k known) bool { return k.id == id }) {
			s.models = append(slices.Clip(s.models), known{id: id, name: id})
		}
	}
	if e.Enabled != nil && !*e.Enabled {
		s.fail(bad(Disabled, s.id, "it is turned off. Turn it on under Settings, Providers, or remove \"enabled\": false."))
	}
	s.header = http.Header{}
	for name, value := range e.Headers {
		if !sendable(value) || !headerName.MatchString(name) {
			s.fail(bad(BadProvider, s.id, "the header %q can't be sent. Check its name and that its value is plain text on one line.", name))
			continue
		}
		s.header.Set(name, value)
	}
	var err *ConfigError
	if s.key, err = c.key(s.builtin, e); err != nil {
		s.fail(err)
	}
}

// fail keeps the first error.
func (s *settled) fail(err *ConfigError) {
	if s.err == nil {
		s.err = err
	}
}

// check tries the base URL.
func (s *settled) check() {
	if s.err != nil && s.err.Code != NoKey {
		return
	}
	_, err := s.client(nil)
	switch {
	case err == nil:
	case s.baseVar != "":
		s.err = &ConfigError{BadBaseURL, "The environment variable " + s.baseVar + ": " + err.Error() + "."}
	default:
		s.err = bad(BadBaseURL, s.id, "%v.", err)
	}
}

// sendsKey reports whether the headers hold a key.
func (s *settled) sendsKey() bool {
	return s.header.Get("Authorization") != "" || s.header.Get("X-Api-Key") != ""
}

// client makes the provider's client.
func (s *settled) client(h *http.Client) (*wire.Client, error) {
	switch s.wire {
	case AnthropicMessages:
		o := anthropic.Options{BaseURL: s.base, Header: s.header, Provider: s.id, HTTP: h}
		if s.key.token {
			o.AuthToken = s.key.value
		} else {
			o.Key = s.key.value
		}
		return anthropic.New(o)
	case OpenAIResponses:
		return responses.New(responses.Options{BaseURL: s.base, Key: s.key.value, Organization: s.org, Header: s.header, Provider: s.id, HTTP: h})
	case OpenAICompatible:
		return chat.New(chat.Options{BaseURL: s.base, Key: s.key.value, Organization: s.org, Header: s.header, Provider: s.id, HTTP: h, Quirks: s.quirks})
	case Demo:
	}
	return nil, bad(BadProvider, s.id, "it speaks no API that is known.")
}

func (s *settled) view() Provider {
	p := Provider{ID: s.id, Name: s.name, Configured: s.err == nil, KeySource: s.key.source, BaseURL: s.base, Wire: string(s.wire)}
	if s.err != nil && s.err.Code != NoKey && s.err.Code != Disabled { // these two are choices, no mistakes
		p.Error = s.err.Message
	}
	return p
}

func (s *settled) choices() []Model {
	var out []Model
	for _, k := range s.models {
		out = append(out, Model{ID: s.id + ":" + k.id, Name: k.name, Provider: s.id, Aliases: k.aliases, Available: s.err == nil})
	}
	return out
}

// favourite is the provider's default model.
func (s *settled) favourite() string {
	i := slices.IndexFunc(s.models, func(k known) bool { return k.first })
	return s.models[max(i, 0)].id
}
