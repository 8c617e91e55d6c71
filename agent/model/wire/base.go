package wire

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// OpenAIBase gives the base that "/responses" or "/chat/completions" is appended to: an address
// without a path gains /v1, a path of its own stays, and a bare trailing slash means the root.
func OpenAIBase(base string) (string, error) {
	u, err := parseBase(base)
	if err != nil {
		return "", err
	}
	if u.Path == "" {
		return base + "/v1", nil
	}
	return strings.TrimRight(base, "/"), nil
}

// AnthropicBase gives the base that "/messages" is appended to: the address without trailing
// slashes, ending in /v1.
func AnthropicBase(base string) (string, error) {
	if _, err := parseBase(base); err != nil {
		return "", err
	}
	base = strings.TrimRight(base, "/")
	if !strings.HasSuffix(base, "/v1") {
		base += "/v1"
	}
	return base, nil
}

func parseBase(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return nil, errors.New("base URL is not a URL; write it like https://host/v1")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("base URL %q must start with http:// or https:// and name a host", u.Redacted())
	case u.User != nil:
		return nil, errors.New("base URL must not hold a user name or password; set apiKey or headers instead")
	case strings.ContainsAny(base, "?#"):
		return nil, errors.New("base URL must not hold a query string or a fragment, since paths are appended to it; give the key as apiKey or apiKeyFile instead")
	}
	return u, nil
}
