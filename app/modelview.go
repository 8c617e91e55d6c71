package app

// Provider is a model provider as settings show it.
type Provider struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Configured bool   `json:"configured"`
	KeySource  string `json:"keySource,omitempty"` // settings, file, or the environment variable's name
	BaseURL    string `json:"baseUrl,omitempty"`
	Wire       string `json:"wire"` // the API that it speaks, such as anthropic-messages; demo
	Custom     bool   `json:"custom,omitempty"`
	KeyPage    string `json:"keyPage,omitempty"` // where a person gets a key
	Error      string `json:"error,omitempty"`
	// What the settings say, where the provider has such a thing.
	Enabled     bool   `json:"enabled"`
	WireFormat  string `json:"wireFormat,omitempty"`  // responses or chatCompletions
	ServiceTier string `json:"serviceTier,omitempty"` // of OpenAI, such as flex, priority or ultrafast
	Speed       string `json:"speed,omitempty"`       // of Anthropic: fast
	CacheTTL    string `json:"cacheTtl,omitempty"`    // of Anthropic: 5m or 1h
	WebSearch   *bool  `json:"webSearch,omitempty"`   // the provider's own; absent is its default
	Cyber       bool   `json:"cyber,omitempty"`       // OpenAI's cyber programs may be chosen
	Region      string `json:"region,omitempty"`      // of Bedrock
	Preferred   bool   `json:"preferred,omitempty"`   // of Coder: it comes before keys of the person's own
}

// SetProvider changes a provider's settings. Nil leaves a field as it is, "" removes it.
type SetProvider struct {
	ID          string  `json:"id"`
	APIKey      *string `json:"apiKey,omitempty"`
	BaseURL     *string `json:"baseUrl,omitempty"`
	Enabled     *bool   `json:"enabled,omitempty"`
	WireFormat  *string `json:"wireFormat,omitempty"`
	ServiceTier *string `json:"serviceTier,omitempty"`
	Speed       *string `json:"speed,omitempty"`
	CacheTTL    *string `json:"cacheTtl,omitempty"`
	WebSearch   *bool   `json:"webSearch,omitempty"`
	Cyber       *bool   `json:"cyber,omitempty"`
	Region      *string `json:"region,omitempty"`
	Preferred   *bool   `json:"preferred,omitempty"`
}

// AddProvider adds a custom provider.
type AddProvider struct {
	ID           string `json:"id"` // lower-case letters, digits, _ and -
	ProviderType string `json:"providerType"`
	DisplayName  string `json:"displayName,omitempty"`
	BaseURL      string `json:"baseUrl"`
	APIKey       string `json:"apiKey,omitempty"`
}

// ProviderTest is how a small call to a provider went.
type ProviderTest struct {
	OK        bool   `json:"ok"`
	Problem   string `json:"problem,omitempty"` // what is wrong
	Mend      string `json:"mend,omitempty"`    // how to mend it
	Code      string `json:"code,omitempty"`
	LatencyMS int64  `json:"latencyMs"`
	Model     string `json:"model,omitempty"` // that was asked
}

// Suggestion is a model that a provider lists.
type Suggestion struct {
	ID      string `json:"id"` // provider:id
	Name    string `json:"name"`
	Context int64  `json:"context,omitempty"` // tokens
}

// Fallback says which models are asked, in turn, when one refuses to answer.
type Fallback struct {
	Model  string   `json:"model"`
	Models []string `json:"models"`
}

// Model is a model that can be chosen.
type Model struct {
	ID           string       `json:"id"` // provider:id
	Name         string       `json:"name"`
	Provider     string       `json:"provider"`
	Aliases      []string     `json:"aliases"`
	Available    bool         `json:"available"` // its provider is configured
	Demo         bool         `json:"demo,omitempty"`
	Own          bool         `json:"own,omitempty"`       // the settings name it: it can be removed
	Via          string       `json:"via,omitempty"`       // "coder:provider/model": the next request goes through Coder
	Route        string       `json:"route,omitempty"`     // what was chosen for it: coder or direct
	Context      int64        `json:"context,omitempty"`   // tokens; absent is unknown, as are the others
	MaxOutput    int64        `json:"maxOutput,omitempty"` // tokens
	Levels       []string     `json:"levels"`              // of thinking, ascending
	DefaultLevel string       `json:"defaultLevel,omitempty"`
	Images       bool         `json:"images,omitempty"`
	Pro          bool         `json:"pro,omitempty"`   // it has a pro mode
	Cyber        bool         `json:"cyber,omitempty"` // it has a cyber mode
	Prices       *ModelPrices `json:"prices,omitempty"`
}

// ModelPrices are US dollars per million tokens.
type ModelPrices struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
}
