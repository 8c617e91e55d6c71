package catalog

import (
	"slices"
	"testing"
)

func TestTheEnvironmentSetsProvidersUp(t *testing.T) {
	for _, x := range []struct{ id, name, source string }{
		{"anthropic", "ANTHROPIC_API_KEY", ""}, {"anthropic", "ANTHROPIC_AUTH_TOKEN", ""}, {"openai", "OPENAI_API_KEY", ""},
		{"google", "GOOGLE_GENERATIVE_AI_API_KEY", ""}, {"google", "GOOGLE_API_KEY", ""}, {"xai", "XAI_API_KEY", ""}, {"openrouter", "OPENROUTER_API_KEY", ""},
		{"deepseek", "DEEPSEEK_API_KEY", ""}, {"moonshotai", "MOONSHOT_API_KEY", ""}, {"zai", "ZAI_API_KEY", ""}, {"github-copilot", "GITHUB_COPILOT_TOKEN", ""},
	} {
		none, _ := catalog(nil, nil).one(x.id)
		if none.err == nil || none.err.Code != NoKey || none.view().Error != "" {
			t.Errorf("%s without a key: %v", x.id, none.err)
		}
		s, ok := catalog(map[string]string{x.name: "k"}, nil).one(x.id)
		if !ok || s.key.source != x.name || s.err != nil && s.err.Code == NoKey {
			t.Errorf("%s: %+v, %v", x.name, s.key, s.err)
		}
	}
	for _, x := range []struct{ id, name, key string }{
		{"anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"}, {"openai", "OPENAI_BASE_URL", "OPENAI_API_KEY"},
		{"google", "GOOGLE_BASE_URL", "GOOGLE_API_KEY"}, {"xai", "XAI_BASE_URL", "XAI_API_KEY"},
	} {
		vars := map[string]string{x.name: "http://localhost:9/x", x.key: "k"}
		if s, _ := catalog(vars, nil).one(x.id); s.base != "http://localhost:9/x" || s.baseVar != x.name {
			t.Errorf("%s: %s", x.name, s.base)
		}
		if s, _ := catalog(vars, entries{x.id: {BaseURL: "http://localhost:8"}}).one(x.id); s.base != "http://localhost:8" {
			t.Errorf("%s comes before the settings", x.name)
		}
	}
}

func TestBedrockWantsARegion(t *testing.T) {
	for _, x := range []struct {
		what string
		vars map[string]string
		e    entries
		code Code
	}{
		{"nothing", nil, nil, NoKey},
		{"an entry alone", nil, entries{"bedrock": {}}, NoRegion},
		{"a token alone", map[string]string{"AWS_BEARER_TOKEN_BEDROCK": "t"}, nil, NoRegion},
		{"half a key", nil, entries{"bedrock": {Region: "us-east-1", AccessKeyID: "a"}}, BadKey},
		{"no region", nil, entries{"bedrock": {Region: "us east/1"}}, BadProvider},
	} {
		if s, _ := catalog(x.vars, x.e).one("bedrock"); s.err == nil || s.err.Code != x.code {
			t.Errorf("%s: %v, want %s", x.what, s.err, x.code)
		}
	}
	for _, x := range []struct {
		vars           map[string]string
		e              entries
		region, source string
	}{
		{map[string]string{"AWS_REGION": "eu-west-1"}, nil, "eu-west-1", ""},
		{map[string]string{"AWS_DEFAULT_REGION": "eu-west-1"}, nil, "eu-west-1", ""},
		{map[string]string{"AWS_REGION": "eu-west-1", "AWS_BEARER_TOKEN_BEDROCK": "t"}, nil, "eu-west-1", "AWS_BEARER_TOKEN_BEDROCK"},
		{map[string]string{"AWS_REGION": "eu-west-1", "AWS_BEARER_TOKEN_BEDROCK": "t"}, entries{"bedrock": {Region: "us-east-1", BearerToken: "b"}}, "us-east-1", "settings"},
	} {
		s, _ := catalog(x.vars, x.e).one("bedrock")
		if s.region != x.region || s.key.source != x.source || s.err != nil && slices.Contains([]Code{NoKey, NoRegion, BadKey}, s.err.Code) {
			t.Errorf("%+v: region %q, key from %q, %v", x, s.region, s.key.source, s.err)
		}
	}
}

func TestWordsInTheSettingsAreChecked(t *testing.T) {
	for id, e := range (entries{
		"anthropic": {APIKey: "k", Speed: "faster"}, "openai": {APIKey: "k", ServiceTier: "turbo"}, "deepseek": {APIKey: "k", CacheTTL: "2h"},
		"openrouter": {APIKey: "k", DataCollection: "maybe"}, "xai": {APIKey: "k", WireFormat: "soap"},
	}) {
		if _, err := catalog(nil, entries{id: e}).Resolve(Choice{Model: id + ":m"}); code(err) != BadProvider {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestCustomProvidersIDs(t *testing.T) {
	for id, good := range map[string]bool{
		"local-vllm": true, "llama_cpp": true, "lm-studio": true, "0k": true, "Local": false, "-x": false, "_x": false, "a.b": false, "a:b": false, "a/b": false, "a b": false,
		"anthropic": false, "bedrock": false, "google": false, "github-copilot": false, "ollama": false, "coder": false, "demo": false, "": false, "ü": false,
	} {
		e := entries{id: {ProviderType: "openai-compatible", BaseURL: "http://localhost:1"}}
		if s, _ := catalog(nil, e).one(id); (s.err == nil) != good {
			t.Errorf("%q: %v", id, s.err)
		}
	}
}
