package coder

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Provider is one of the gateway's providers.
type Provider struct {
	Name string
	Type string // such as anthropic, openai or bedrock
}

// Bounds of the lists of a deployment.
const (
	maxProviders = 200
	maxModels    = 3000 // of one provider
	maxName      = 200  // bytes of a model's
)

var providerName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Valid reports whether a provider can be one of a gateway's.
func (p Provider) Valid() bool {
	return len(p.Name) <= maxName && providerName.MatchString(p.Name) && p.Protocol() != None
}

// Protocol is the format that a gateway speaks for a provider.
type Protocol int

// The protocols.
const (
	None      Protocol = iota // of no type that is known
	Anthropic                 // Messages
	OpenAI                    // Responses
	Chat                      // Chat Completions
)

// Protocol is decided by the provider's type.
func (p Provider) Protocol() Protocol {
	switch p.Type {
	case "anthropic", "bedrock":
		return Anthropic
	case "openai", "azure":
		return OpenAI
	case "google", "copilot", "openai-compat", "openrouter", "vercel":
		return Chat
	}
	return None
}

// Defaults are the providers of a deployment that does not list its own.
func Defaults() []Provider {
	return []Provider{{Name: "anthropic", Type: "anthropic"}, {Name: "openai", Type: "openai"}}
}

// Providers lists the gateway's providers. known is false when the person may not read the list.
func (d Deployment) Providers(ctx context.Context, token string) (list []Provider, known bool, err error) {
	for _, path := range []string{"/api/v2/ai-gateway/providers", "/api/v2/ai/providers"} {
		var got []struct {
			Name    string `json:"name"`
			Type    string `json:"type"`
			Enabled *bool  `json:"enabled"`
		}
		err := d.call(ctx, http.MethodGet, d.URL+path, token, nil, &got)
		switch s := status(err); {
		case s == http.StatusForbidden, s == http.StatusNotFound, s == http.StatusMethodNotAllowed:
			continue
		case err != nil:
			return nil, false, err
		}
		for _, g := range got {
			p := Provider{Name: g.Name, Type: g.Type}
			if p.Valid() && (g.Enabled == nil || *g.Enabled) && len(list) < maxProviders {
				list = append(list, p)
			}
		}
		return list, true, nil
	}
	return nil, false, nil
}

// Models lists a provider's models. has is false for one that serves no list.
func (d Deployment) Models(ctx context.Context, token, provider string) (list []string, has bool, err error) {
	var got struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	err = d.call(ctx, http.MethodGet, d.Gateway(provider)+"/v1/models?limit=1000", token, nil, &got)
	switch s := status(err); {
	case s == http.StatusNotFound, s == http.StatusMethodNotAllowed, s == http.StatusNotImplemented:
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	for _, m := range got.Data {
		id := strings.TrimPrefix(m.ID, "models/")
		odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
		if id != "" && len(id) <= maxName && !strings.ContainsFunc(id, odd) && len(list) < maxModels {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), true, nil
}
