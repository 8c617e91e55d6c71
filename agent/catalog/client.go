package catalog

import (
	"cmp"
	"net/http"
	"strings"

	"carrel/agent/model/anthropic"
	"carrel/agent/model/bedrock"
	"carrel/agent/model/chat"
	"carrel/agent/model/gemini"
	"carrel/agent/model/responses"
	"carrel/agent/model/wire"
)

// client makes the provider's client for a model.
func (s *settled) client(row known, h *http.Client, cache *wire.Cache) (*wire.Client, error) {
	c, err := s.format(row, h, cache)
	if err == nil && s.sign != nil {
		c.Sign = s.sign
	}
	return c, err
}

func (s *settled) format(row known, h *http.Client, cache *wire.Cache) (*wire.Client, error) {
	switch s.wire {
	case AnthropicMessages:
		o := anthropic.Options{BaseURL: s.base, Header: s.header, Provider: s.id, HTTP: h, Cache: cache}
		if s.key.token {
			o.AuthToken = s.key.value
		} else {
			o.Key = s.key.value
		}
		return anthropic.New(o)
	case OpenAIResponses:
		return responses.New(responses.Options{BaseURL: s.base, Azure: s.azure, Key: s.key.value, Organization: s.org, Header: s.header,
			Provider: s.id, HTTP: h, Cache: cache})
	case OpenAICompatible:
		c, err := chat.New(chat.Options{BaseURL: s.base, Azure: s.azure, Key: s.key.value, Organization: s.org, Header: s.header,
			Provider: s.id, HTTP: h, Cache: cache, Quirks: s.modelQuirks(row)})
		if err == nil && s.id == "github-copilot" {
			c.Headers = wire.Copilot
		}
		return c, err
	case Gemini:
		return gemini.New(gemini.Options{BaseURL: s.base, Key: s.key.value, Header: s.header, Provider: s.id, Old: gemini.Old(row.id),
			HTTP: h, Cache: cache})
	case Bedrock:
		base := s.base
		if base == bedrock.Host(bedrockService, s.region) {
			base = "" // so that an ARN is asked in its own region
		}
		o := bedrock.Options{Region: s.region, BaseURL: base, Bearer: s.key.value, Credentials: s.aws, Header: s.header,
			Provider: s.id, HTTP: h, Cache: cache}
		o.Like = atBedrockLike(row.like)
		if bedrock.IsClaude(cmp.Or(o.Like, row.id)) {
			o.Claude = anthropic.Format()
		}
		return bedrock.New(o)
	case Coder, Demo: // a provider of Coder's has another
	}
	return nil, bad(BadProvider, s.id, "this version has no client for it.")
}

// atBedrockLike is what a model that the settings say to be like another one, of any provider, would be
// called at Bedrock.
func atBedrockLike(like string) string {
	provider, id, _ := strings.Cut(like, ":")
	if provider == "anthropic" {
		return "anthropic." + id
	}
	return bedrock.Named(id)
}

// modelQuirks are the server's ways for one of its models.
func (s *settled) modelQuirks(row known) chat.Quirks {
	q := s.quirks
	switch row.style {
	case styleSwitch:
		if q.Effort = chat.EffortSwitch; len(row.levels) > 2 {
			q.Effort = chat.EffortBoth
		}
	case styleRouter:
		q.Effort = chat.EffortObject
		q.CacheControl = strings.HasPrefix(row.id, "anthropic/") // the others cache by themselves
	case styleEffort, styleBudget, styleMinimal, styleBetween, styleNothing:
	}
	return q
}
