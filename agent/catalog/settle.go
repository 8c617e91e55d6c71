package catalog

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"carrel/agent/model/wire"
	"carrel/store"
)

// settled is a provider with the person's settings and the environment applied.
type settled struct {
	builtin // of a custom provider, what its entry says
	custom  bool
	entry   store.ProviderConfig
	key     key
	azure   wire.Azure              // OpenAI's, when it is behind the provider
	region  string                  // Bedrock's
	aws     aws.CredentialsProvider // who signs, where Bedrock has no bearer token
	sign    signature               // what proves who asks, where a key does not
	baseVar string                  // environment variable that the base URL is from
	org     string
	header  http.Header
	err     *ConfigError // why it can't be asked
}

// reserved are ids that are not custom providers'.
var reserved = []string{"azure", "demo"}

var customID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// settle applies the settings to every provider. A broken entry breaks its own provider alone.
func (c *Catalog) settle() []settled {
	entries, err := c.config.Providers()
	entries = maps.Clone(entries)
	var out []settled
	for _, b := range builtins() {
		e, has := entries[b.id]
		out = append(out, c.builtin(b, e, has, err))
		delete(entries, b.id)
	}
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		if !slices.Contains(reserved, id) || entries[id].ProviderType != "" {
			out = append(out, c.own(id, entries[id]))
		}
	}
	return out
}

// one does it for one provider alone.
func (c *Catalog) one(id string) (settled, bool) {
	entries, err := c.config.Providers()
	e, has := entries[id]
	all := builtins()
	if i := slices.IndexFunc(all, func(b builtin) bool { return b.id == id }); i >= 0 {
		return c.builtin(all[i], e, has, err), true
	}
	if !has || slices.Contains(reserved, id) && e.ProviderType == "" {
		return settled{builtin: builtin{id: id}}, false
	}
	return c.own(id, e), true
}

// builtin settles a built-in provider; wrong is why the settings can't be read.
func (c *Catalog) builtin(b builtin, e store.ProviderConfig, has bool, wrong error) settled {
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
	if wrong != nil {
		s.err = &ConfigError{Unreadable, "The settings of the providers can't be read: " + wrong.Error() + ". Mend providers.jsonc."}
	}
	if e.ProviderType != "" {
		s.fail(bad(BadProvider, b.id, "this id is built in, so it takes no providerType. Give the custom provider another id."))
	}
	s.checkChoices(e)
	if b.id == "openai" && s.key.value == "" && e.BaseURL == "" && !s.sendsKey() {
		if a, k, sign, ok := c.fromAzure(); ok {
			s.azure, s.key, s.sign, s.baseVar = a, k, sign, "AZURE_OPENAI_ENDPOINT"
			s.base = a.Endpoint
		}
	}
	switch {
	case b.id == "bedrock":
		s.bedrock(c, has)
	case b.id == "coder":
		s.coder()
	case b.keyless && !has:
		s.fail(&ConfigError{NoKey, "Ollama is not set up. Name its models, or its baseUrl, under \"ollama\" in providers.jsonc."})
	case !b.keyless && s.key.value == "" && s.sign == nil && !s.sendsKey():
		s.fail(noKey(b))
	}
	s.check()
	return s
}

// checkChoices looks at the settings that take one of a few words.
func (s *settled) checkChoices(e store.ProviderConfig) {
	switch e.WireFormat {
	case "", "responses":
	case "chatCompletions":
		if s.chat {
			s.wire = OpenAICompatible
		}
	default:
		s.fail(bad(BadProvider, s.id, "wireFormat must be responses or chatCompletions, not %q.", clip(e.WireFormat)))
	}
	for _, w := range []struct {
		name, value string
		allowed     []string
	}{
		{"speed", e.Speed, []string{"", "fast", "standard"}},
		{"serviceTier", e.ServiceTier, []string{"", "auto", "default", "flex", "priority", "fast", "ultrafast"}},
		{"cacheTtl", e.CacheTTL, []string{"", "5m", "1h"}},
		{"data_collection", e.DataCollection, []string{"", "allow", "deny"}},
	} {
		if !slices.Contains(w.allowed, w.value) {
			s.fail(bad(BadProvider, s.id, "%s must be one of %s, not %q.", w.name, strings.Join(w.allowed[1:], ", "), clip(w.value)))
		}
	}
}

// own settles a custom provider.
func (c *Catalog) own(id string, e store.ProviderConfig) settled {
	s := settled{custom: true, builtin: builtin{id: id, name: e.DisplayName, wire: Wire(e.ProviderType), base: e.BaseURL}}
	if s.name == "" {
		s.name = id
	}
	s.apply(c, e)
	if err := badCustom(id, e); err != nil {
		s.fail(err)
	}
	s.check()
	return s
}

// CheckCustom says whether an entry can be that of a custom provider of that id. Its error is a
// *ConfigError.
func CheckCustom(id string, e store.ProviderConfig) error {
	if err := badCustom(id, e); err != nil {
		return err
	}
	return nil
}

func badCustom(id string, e store.ProviderConfig) *ConfigError {
	wire := Wire(e.ProviderType)
	switch {
	case slices.Contains(reserved, id):
		return bad(BadProvider, id, "this id is reserved. Give the custom provider another one.")
	case !customID.MatchString(id):
		return bad(BadProvider, clip(id), "an id has lower-case letters, digits, _ and - only and starts with a letter or digit, such as local-vllm. Rename it.")
	case wire != AnthropicMessages && wire != OpenAIResponses && wire != OpenAICompatible:
		return bad(BadProvider, id, "providerType must be openai-compatible, openai-responses or anthropic-messages, not %q.", clip(e.ProviderType))
	case e.BaseURL == "":
		return bad(BadBaseURL, id, "baseUrl is missing, such as http://localhost:8000/v1.")
	}
	return nil
}

// apply takes what entries of both kinds can have.
func (s *settled) apply(c *Catalog, e store.ProviderConfig) {
	s.entry = e
	if e.Enabled != nil && !*e.Enabled {
		s.fail(bad(Disabled, s.id, "it is turned off. Turn it on under Settings, Providers, or remove \"enabled\": false."))
	}
	s.header = http.Header{}
	for name, value := range e.Headers {
		if !sendable(value) || !headerName.MatchString(name) {
			s.fail(bad(BadProvider, s.id, "the header %q can't be sent. Check its name and that its value is plain text on one line.", clip(name)))
			continue
		}
		s.header.Set(name, value)
	}
	var err *ConfigError
	if s.key, err = c.key(s.builtin, e); err != nil {
		s.fail(err)
	}
	s.checkParameters()
}

// fail keeps the first error.
func (s *settled) fail(err *ConfigError) {
	if s.err == nil {
		s.err = err
	}
}

// check tries the base URL.
func (s *settled) check() {
	if s.wire == Coder || s.err != nil && (s.err.Code != NoKey || s.wire == Bedrock) {
		return
	}
	_, err := s.client(known{}, nil, nil)
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
	return s.header.Get("Authorization") != "" || s.header.Get("X-Api-Key") != "" || s.header.Get("X-Goog-Api-Key") != ""
}

// sent is the name under which the provider knows a model.
func (s *settled) sent(name string) string {
	if s.azure.Endpoint != "" && s.azure.Deployment != "" {
		return s.azure.Deployment
	}
	return name
}

// direct reports whether OpenAI itself is asked, in the format that has everything.
func (s *settled) direct() bool {
	return s.id == "openai" && s.wire == OpenAIResponses && s.azure.Endpoint == "" && s.err == nil
}

// searches reports whether the provider can search the web over the route that is set up.
func (s *settled) searches() bool {
	switch s.id {
	case "anthropic", "google", "openrouter", "zai":
		return true
	case "openai", "xai":
		return s.wire == OpenAIResponses && s.azure.Endpoint == ""
	}
	return false
}

// tiers are the service tiers that can be asked for, for a model.
func (s *settled) tiers(k known) []string {
	switch s.id {
	case "openai":
		if k.found || s.azure.Endpoint != "" {
			return slices.Clone(k.tiers)
		}
		return []string{"flex", "priority"} // a new one, or one of the person's own
	case "anthropic":
		if u, err := url.Parse(s.base); k.fast && !s.entry.NoBeta && err == nil && strings.EqualFold(u.Host, "api.anthropic.com") {
			return []string{"fast"}
		}
	}
	return nil
}

func (s *settled) view() Provider {
	p := Provider{ID: s.id, Name: s.name, Configured: s.err == nil, KeySource: s.key.source, BaseURL: s.base, Wire: string(s.wire),
		Custom: s.custom, KeyPage: s.keyPage}
	if s.err != nil && s.err.Code != NoKey && s.err.Code != Disabled { // these two are choices, no mistakes
		p.Error = s.err.Message
	}
	return p
}
