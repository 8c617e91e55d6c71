package catalog

import (
	"carrel/agent/model/anthropic"
	"carrel/agent/model/chat"
	"carrel/agent/model/demo"
	"carrel/agent/model/responses"
)

// Wire names the API that a provider speaks. The first three are also the values of providerType.
type Wire string

// The APIs.
const (
	AnthropicMessages Wire = "anthropic-messages"
	OpenAIResponses   Wire = "openai-responses"
	OpenAICompatible  Wire = "openai-compatible"
	Demo              Wire = "demo"
)

// builtin is a provider that needs no entry in providers.jsonc but a key.
type builtin struct {
	id, name string
	wire     Wire
	base     string
	keyEnv   string // environment variable of the key
	tokenEnv string // of a bearer token, instead of a key
	baseEnv  string // of another base URL
	orgEnv   string // of the organization's id
	keyless  bool
	quirks   chat.Quirks
	models   []known
}

// known is a model that we know of; first marks its provider's default.
type known struct {
	id, name string
	aliases  []string
	first    bool
}

// builtins lists the providers in the order in which one of them becomes the default. Adding one is
// one entry.
func builtins() []builtin {
	return []builtin{
		{id: "anthropic", name: "Anthropic", wire: AnthropicMessages, base: anthropic.DefaultBaseURL,
			keyEnv: "ANTHROPIC_API_KEY", tokenEnv: "ANTHROPIC_AUTH_TOKEN", baseEnv: "ANTHROPIC_BASE_URL",
			models: []known{
				{id: "claude-fable-5-1", name: "Fable 5.1", aliases: []string{"fable"}},
				{id: "claude-mythos-5-1", name: "Mythos 5.1", aliases: []string{"mythos"}},
				{id: "claude-opus-5-5", name: "Opus 5.5", aliases: []string{"opus"}, first: true},
				{id: "claude-sonnet-5-5", name: "Sonnet 5.5", aliases: []string{"sonnet"}},
				{id: "claude-haiku-5-5", name: "Haiku 5.5", aliases: []string{"haiku"}},
			}},
		{id: "openai", name: "OpenAI", wire: OpenAIResponses, base: responses.DefaultBaseURL,
			keyEnv: "OPENAI_API_KEY", baseEnv: "OPENAI_BASE_URL", orgEnv: "OPENAI_ORG_ID",
			quirks: chat.Quirks{MaxTokensField: "max_completion_tokens"},
			models: []known{
				{id: "gpt-6.1-sol", name: "GPT-6.1 Sol", aliases: []string{"gpt", "sol"}, first: true},
				{id: "gpt-6-luna", name: "GPT-6 Luna", aliases: []string{"luna"}},
				{id: "gpt-6-astra", name: "GPT-6 Astra", aliases: []string{"astra", "gpt-6-astra"}},
			}},
		{id: "xai", name: "xAI", wire: OpenAICompatible, base: "https://api.x.ai/v1",
			keyEnv: "XAI_API_KEY", baseEnv: "XAI_BASE_URL",
			models: []known{{id: "grok-4.7", name: "Grok 4.7", aliases: []string{"grok", "grok-4.7"}, first: true}}},
		{id: "deepseek", name: "DeepSeek", wire: OpenAICompatible, base: "https://api.deepseek.com/v1",
			keyEnv: "DEEPSEEK_API_KEY", quirks: chat.Quirks{Replay: chat.ReplayText},
			models: []known{
				{id: "deepseek-v4-pro", name: "DeepSeek V4 Pro", aliases: []string{"deepseek", "deepseek-pro", "deepseek-v4", "deepseek-v4-pro"}, first: true},
				{id: "deepseek-v4-flash", name: "DeepSeek V4 Flash", aliases: []string{"deepseek-flash", "deepseek-v4-flash"}},
			}},
		{id: "moonshotai", name: "Moonshot AI", wire: OpenAICompatible, base: "https://api.moonshot.ai/v1",
			keyEnv: "MOONSHOT_API_KEY", quirks: chat.Quirks{Replay: chat.ReplayText},
			models: []known{{id: "kimi-k3", name: "Kimi K3", aliases: []string{"kimi", "k3", "kimi-k3"}, first: true}}},
		{id: "zai", name: "Z.ai", wire: OpenAICompatible, base: "https://api.z.ai/api/paas/v4",
			keyEnv: "ZAI_API_KEY", quirks: chat.Quirks{Replay: chat.ReplayText},
			models: []known{{id: "glm-5.3-flash", name: "GLM 5.3 Flash", aliases: []string{"glm", "glm-flash", "glm-5.3-flash"}, first: true}}},
		{id: "openrouter", name: "OpenRouter", wire: OpenAICompatible, base: "https://openrouter.ai/api/v1",
			keyEnv: "OPENROUTER_API_KEY", quirks: chat.Quirks{Replay: chat.ReplayDetails}},
		{id: "ollama", name: "Ollama", wire: OpenAICompatible, base: "http://localhost:11434/v1", keyless: true},
	}
}

// demoProvider is the offline model's place in the lists.
func demoProvider() Provider {
	return Provider{ID: "demo", Name: "Demo (offline, scripted)", Configured: true, Wire: string(Demo)}
}

func demoModel() Model {
	return Model{ID: demo.ID, Name: "Demo (offline, scripted)", Provider: "demo", Available: true, Demo: true}
}
