package catalog

import (
	"carrel/agent/model/anthropic"
	"carrel/agent/model/chat"
	"carrel/agent/model/demo"
	"carrel/agent/model/gemini"
	"carrel/agent/model/responses"
)

// Wire names the API that a provider speaks. The first three are also the values of providerType.
type Wire string

// The APIs.
const (
	AnthropicMessages Wire = "anthropic-messages"
	OpenAIResponses   Wire = "openai-responses"
	OpenAICompatible  Wire = "openai-compatible"
	Gemini            Wire = "gemini"
	Bedrock           Wire = "bedrock"
	Coder             Wire = "coder" // each of its providers has a format of its own
	Demo              Wire = "demo"
)

// builtin is a provider that needs no entry in providers.jsonc but a key.
type builtin struct {
	id, name string
	wire     Wire
	base     string
	keyEnv   []string // environment variables of the key; the first that is set counts
	tokenEnv string   // of a bearer token, instead of a key
	baseEnv  string   // of another base URL
	orgEnv   string   // of the organization's id
	keyPage  string   // where a person gets a key
	keyless  bool
	chat     bool // it also speaks Chat Completions, by wireFormat
	quirks   chat.Quirks
	models   []known
}

// builtins lists the providers in the order in which one of them becomes the default. Adding one is
// one entry.
func builtins() []builtin {
	return []builtin{
		{id: "anthropic", name: "Anthropic", wire: AnthropicMessages, base: anthropic.DefaultBaseURL, keyPage: "console.anthropic.com",
			keyEnv: []string{"ANTHROPIC_API_KEY"}, tokenEnv: "ANTHROPIC_AUTH_TOKEN", baseEnv: "ANTHROPIC_BASE_URL", models: anthropicModels()},
		{id: "openai", name: "OpenAI", wire: OpenAIResponses, base: responses.DefaultBaseURL, keyPage: "platform.openai.com",
			keyEnv: []string{"OPENAI_API_KEY"}, baseEnv: "OPENAI_BASE_URL", orgEnv: "OPENAI_ORG_ID", chat: true,
			quirks: chat.Quirks{MaxTokensField: "max_completion_tokens", CacheKey: true}, models: openaiModels()},
		{id: "google", name: "Google", wire: Gemini, base: gemini.DefaultBaseURL, keyPage: "aistudio.google.com",
			keyEnv: []string{"GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY"}, baseEnv: "GOOGLE_BASE_URL", models: googleModels()},
		{id: "xai", name: "xAI", wire: OpenAIResponses, base: "https://api.x.ai/v1", keyPage: "console.x.ai",
			keyEnv: []string{"XAI_API_KEY"}, baseEnv: "XAI_BASE_URL", chat: true, models: xaiModels()},
		{id: "deepseek", name: "DeepSeek", wire: OpenAICompatible, base: "https://api.deepseek.com/v1", keyPage: "platform.deepseek.com",
			keyEnv: []string{"DEEPSEEK_API_KEY"}, quirks: chat.Quirks{Replay: chat.ReplayText}, models: deepseekModels()},
		{id: "moonshotai", name: "Moonshot AI", wire: OpenAICompatible, base: "https://api.moonshot.ai/v1", keyPage: "platform.moonshot.ai",
			keyEnv: []string{"MOONSHOT_API_KEY"}, quirks: chat.Quirks{Replay: chat.ReplayText}, models: moonshotModels()},
		{id: "zai", name: "Z.ai", wire: OpenAICompatible, base: "https://api.z.ai/api/paas/v4", keyPage: "z.ai/model-api",
			keyEnv: []string{"ZAI_API_KEY"}, quirks: chat.Quirks{Replay: chat.ReplayText, Search: chat.SearchTool}, models: zaiModels()},
		{id: "openrouter", name: "OpenRouter", wire: OpenAICompatible, base: "https://openrouter.ai/api/v1", keyPage: "openrouter.ai/keys",
			keyEnv: []string{"OPENROUTER_API_KEY"}, quirks: chat.Quirks{Replay: chat.ReplayDetails, Search: chat.SearchPlugin}},
		{id: "github-copilot", name: "GitHub Copilot", wire: OpenAICompatible, base: "https://api.githubcopilot.com/", keyPage: "github.com/features/copilot",
			keyEnv: []string{"GITHUB_COPILOT_TOKEN"}},
		{id: "bedrock", name: "Bedrock", wire: Bedrock, keyPage: "console.aws.amazon.com", keyEnv: []string{"AWS_BEARER_TOKEN_BEDROCK"}, baseEnv: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", keyless: true},
		{id: "coder", name: "Coder", wire: Coder, keyless: true},
		{id: "ollama", name: "Ollama", wire: OpenAICompatible, base: "http://localhost:11434/v1", keyless: true},
	}
}

// demoProvider is the offline model's place in the lists.
func demoProvider() Provider {
	return Provider{ID: "demo", Name: "Demo (offline, scripted)", Configured: true, Wire: string(Demo)}
}

func demoModel() Model {
	i := demoInfo()
	return Model{ID: demo.ID, Name: i.Name, Provider: "demo", Available: true, Demo: true, Info: i}
}

func demoInfo() Info {
	return Info{ID: demo.ID, Name: "Demo (offline, scripted)", Context: 200_000, Images: true, Prices: &Prices{}, Known: true}
}
