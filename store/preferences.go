package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"
)

// Settings are a person's preferences, from settings.jsonc. Fields that we don't know stay in the
// file.
type Settings struct {
	Theme   string `json:"theme"`   // system, light or dark; "" is system
	Density string `json:"density"` // comfortable or compact; "" is comfortable
	// Editor is the id of the preferred editor, such as vscode; "" is the first that is installed.
	Editor       string `json:"editor,omitempty"`
	DefaultModel string `json:"defaultModel"` // provider:id; "" lets us choose
	Vim          *bool  `json:"vim"`          // vim mode in the composer; nil is on
	GPU          string `json:"gpu"`          // auto, always or never: how the window draws; "" is auto
	OutputLevel  string `json:"outputLevel"`  // debug, info, warn or error: what the Output tab shows; "" is info
	// Models says what a person knows of models, by provider:id.
	Models map[string]ModelConfig `json:"models"`
	// ModelFallbacks are the models to try when one refuses to answer, by its provider:id.
	ModelFallbacks map[string]Fallback `json:"modelFallbacks"`
	Permissions    Permissions         `json:"permissions"`
	Sandbox        Sandbox             `json:"sandbox"`
	// Damaged says, in a sentence, what could not be read of what the file forbids, and how to mend it; ""
	// when all of it was. It holds until a file that was kept aside is moved back, replaced or deleted.
	Damaged string `json:"-"`
	// Keys are the keys of the page's commands, by a command's id, in place of the usual ones.
	Keys map[string][]string `json:"keys"`
}

// ModelConfig is what a person says of a model. What is left out is as it is built in.
type ModelConfig struct {
	Name         string       `json:"name"`
	Aliases      []string     `json:"aliases"` // short names, as in "/mine text"
	Like         string       `json:"like"`    // provider:id of a known model with the same limits, levels and prices
	Context      int64        `json:"context"` // tokens
	MaxOutput    int64        `json:"maxOutput"`
	Levels       []string     `json:"levels"` // of thinking that it allows
	DefaultLevel string       `json:"defaultLevel"`
	Images       *bool        `json:"images"` // it can see pictures
	Prices       *ModelPrices `json:"prices"`
}

// ModelPrices are in USD per million tokens; a price of the cache that is left out is that of the
// input.
type ModelPrices struct {
	Input          float64     `json:"input"`
	Output         float64     `json:"output"`
	CacheRead      *float64    `json:"cacheRead"`
	CacheWrite     *float64    `json:"cacheWrite"`
	CacheWriteHour *float64    `json:"cacheWriteHour"`
	Search         *float64    `json:"search"` // USD for a thousand web searches
	Long           *LongPrices `json:"long"`
}

// LongPrices apply to requests with more than Above tokens of input.
type LongPrices struct {
	Above          int64    `json:"above"`
	Input          float64  `json:"input"`
	Output         float64  `json:"output"`
	CacheRead      *float64 `json:"cacheRead"`
	CacheWrite     *float64 `json:"cacheWrite"`
	CacheWriteHour *float64 `json:"cacheWriteHour"`
}

// Fallback is a chain of models, each "provider:id", tried in turn.
type Fallback struct {
	Models []string `json:"models"`
}

// ProviderConfig is one entry of providers.jsonc.
type ProviderConfig struct {
	ProviderType string            `json:"providerType"` // of a custom provider: which API it speaks
	DisplayName  string            `json:"displayName"`
	BaseURL      string            `json:"baseUrl"`
	APIKey       string            `json:"apiKey"`
	APIKeyFile   string            `json:"apiKeyFile"` // a file that holds the key; ~ is the home folder
	WireFormat   string            `json:"wireFormat"`
	Models       []string          `json:"models"`
	Headers      map[string]string `json:"headers"`
	Enabled      *bool             `json:"enabled"` // nil is true

	// ModelParameters are a model's parameters by its id, or by "*" for all others; each value is an
	// object of them.
	ModelParameters map[string]map[string]json.RawMessage `json:"modelParameters"`
	WebSearch       *bool                                 `json:"webSearch"` // the provider's own web search; nil is the provider's default

	// Anthropic.
	Speed    string `json:"speed"`    // "fast", or "" for the usual speed
	CacheTTL string `json:"cacheTtl"` // "5m" or "1h"
	NoBeta   bool   `json:"disableBetaFeatures"`

	// OpenAI.
	ServiceTier string `json:"serviceTier"`
	Cyber       bool   `json:"cyber"` // the cyber programs may be chosen

	// OpenRouter's choice between those that run a model, sent as it is.
	Order          []string `json:"order"`
	AllowFallbacks *bool    `json:"allow_fallbacks"`
	Only           []string `json:"only"`
	Ignore         []string `json:"ignore"`
	DataCollection string   `json:"data_collection"` // allow or deny

	// xAI.
	SearchParameters map[string]json.RawMessage `json:"searchParameters"`

	// Bedrock.
	Region          string `json:"region"`
	Profile         string `json:"profile"`
	BearerToken     string `json:"bearerToken"`
	AccessKeyID     string `json:"accessKeyId"`
	SecretAccessKey string `json:"secretAccessKey"`
	SessionToken    string `json:"sessionToken"`

	// Coder, whose BaseURL is the deployment.
	Login     *CoderLogin       `json:"login"`           // nil: nobody is logged in
	Routes    map[string]string `json:"canonicalRoutes"` // the gateway's provider for models of a native one
	Preferred bool              `json:"preferred"`       // native models go through Coder also where there is a key for them
	// ModelRoutes says it of one native model, by provider:id: "coder" or "direct".
	ModelRoutes map[string]string `json:"modelRoutes"`
	// Further are providers of the gateway that it does not list, Discovered those that it does.
	Further    []GatewayProvider `json:"additionalProviders"`
	Discovered []GatewayProvider `json:"discoveredProviders"`
	// Catalog are the gateway's models as provider/model; nil is not loaded. Unlisted are the providers
	// that serve no list.
	Catalog  []string `json:"discoveredModels"`
	Unlisted []string `json:"discoveredModelsUnlisted"`
}

// GatewayProvider is one of the providers of Coder's AI Gateway.
type GatewayProvider struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// CoderLogin is a login at a Coder deployment. All but ExpiresAt is secret.
type CoderLogin struct {
	ClientID      string    `json:"clientId"`
	ClientSecret  string    `json:"clientSecret"`
	ClientAddress string    `json:"clientAddress,omitempty"` // for taking the client back
	ClientToken   string    `json:"clientToken,omitempty"`
	AccessToken   string    `json:"accessToken"`
	RefreshToken  string    `json:"refreshToken"`
	ExpiresAt     time.Time `json:"expiresAt,omitzero"`
}

const fallbacksKey = "modelFallbacks"

// newFallbacks are the chains that a new settings.jsonc begins with. An existing one is never changed.
func newFallbacks() map[string]Fallback {
	return map[string]Fallback{
		"anthropic:claude-fable-5-1":  {Models: []string{"anthropic:claude-opus-5"}},
		"anthropic:claude-sonnet-5-5": {Models: []string{"anthropic:claude-sonnet-5"}},
	}
}

// Settings reads settings.jsonc. A missing file is the settings of a new install: empty, but for the
// fallbacks that it begins with. A damaged one is kept aside and reported, then the same; a value of
// the wrong type is reported and ignored.
func (r *Root) Settings() (Settings, error) {
	var s Settings
	m, err := r.read(settingsFile)
	if err != nil {
		return s, fmt.Errorf("read settings: %w", err)
	}
	r.decode(settingsFile, m, "theme", &s.Theme)
	r.decode(settingsFile, m, "density", &s.Density)
	r.decode(settingsFile, m, "editor", &s.Editor)
	r.decode(settingsFile, m, "defaultModel", &s.DefaultModel)
	r.decode(settingsFile, m, "vim", &s.Vim)
	r.decode(settingsFile, m, "gpu", &s.GPU)
	r.decode(settingsFile, m, "outputLevel", &s.OutputLevel)
	s.Damaged = r.settingsAside()
	for key, out := range map[string]any{"permissions": &s.Permissions, "sandbox": &s.Sandbox} {
		if _, ok := m[key]; ok && !r.decode(settingsFile, m, key, out) {
			s.Damaged = fmt.Sprintf("%q in %s can't be read; mend it there.", key, r.Path(settingsFile))
		}
	}
	s.Keys = decodeEach[[]string](r, m, "keys")
	s.Models = decodeEach[ModelConfig](r, m, "models")
	s.ModelFallbacks = decodeEach[Fallback](r, m, fallbacksKey)
	if len(m) == 0 && !exists(r.Path(settingsFile)) {
		s.ModelFallbacks = newFallbacks()
	}
	return s, nil
}

// settingsAside is what Damaged says when the file was kept aside and no other took its place.
func (r *Root) settingsAside() string {
	file := r.Path(settingsFile)
	if exists(file) {
		return ""
	}
	kept, err := filepath.Glob(file + ".corrupt-*")
	if err != nil || len(kept) == 0 {
		return ""
	}
	return fmt.Sprintf("%s could not be read; mend it and move it back to %s, or delete it.", kept[len(kept)-1], file)
}

// decodeEach reads an object member by member, so that a wrong one spoils no other.
func decodeEach[T any](r *Root, m map[string]json.RawMessage, key string) map[string]T {
	var raw map[string]json.RawMessage
	if !r.decode(settingsFile, m, key, &raw) {
		return nil
	}
	out := make(map[string]T, len(raw))
	for _, id := range slices.Sorted(maps.Keys(raw)) {
		var v T
		if r.decode(settingsFile, raw, id, &v) {
			out[id] = v
		}
	}
	return out
}
