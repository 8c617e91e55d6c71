package model

import "encoding/json"

// Request asks for one response. Its bytes on the wire are a function of its fields alone. The parts of
// its messages must not change once it was sent: the next request of the conversation may be compared
// with it by their memory.
type Request struct {
	Model     string // the provider's own id
	System    string
	Messages  []Message
	Tools     []Tool
	MaxTokens int    // of output; 0: that of Params, else the format's default
	CacheKey  string // stable per conversation, for providers that route by it

	Thinking Thinking
	// Force names the tool that must be called; "" leaves the choice to the model.
	Force string
	// OneTool allows one call per response at most, where the format can say so.
	OneTool bool
	// CacheHour keeps cache entries for an hour instead of five minutes, where the provider can.
	CacheHour bool
	Params    Params
	// Native lists the provider's own tools to switch on; formats ignore those that they don't have.
	Native []string
	// Tier asks for a service tier in the provider's word: "fast" at Anthropic, "flex", "priority" or
	// "ultrafast" at OpenAI; "" is the account's default.
	Tier string
	// Cyber is the value of OpenAI's access_programs.cyber; "" sends none.
	Cyber string
}

// WebSearch is the name of providers' own web search in Request.Native.
const WebSearch = "web_search"

// Thinking says how much a model thinks, in the provider's own terms. The zero value says nothing,
// so that the provider's default holds.
type Thinking struct {
	Off    bool
	Effort string // the provider's word, such as "low" or "max"
	Budget int    // tokens, for models that take no effort
	Pro    bool   // OpenAI's pro mode
}

// Params are a person's settings for a model. What is nil or empty is not sent.
type Params struct {
	Temperature, TopP                 *float64
	TopK, MaxOutput                   *int // MaxOutput in tokens; Request.MaxTokens comes before it
	Seed                              *int64
	FrequencyPenalty, PresencePenalty *float64
	// Extra are further fields of the body, valid JSON. They can't replace what a format builds of
	// the other fields of a Request.
	Extra map[string]json.RawMessage
}
