// Package gemini speaks the format of Google's Gemini API, streamGenerateContent.
//
// It promises what package wire does, and: the key travels in a header, never in the address;
// signatures go back on the part that they came with, to the model that made them; thoughts, which
// the format wants no more, never go back.
package gemini

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// DefaultBaseURL is Google's own address.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

// Options says how to reach a server. All fields are optional.
type Options struct {
	BaseURL  string      // gains /v1beta unless it ends in a version; "" is DefaultBaseURL
	Key      string      // sent as x-goog-api-key
	Header   http.Header // further headers, over those above
	Provider string      // id of the provider; signatures are not sent to another one
	// Old says that the models are from before Gemini 3; see Old.
	Old   bool
	HTTP  *http.Client
	Cache *wire.Cache   // share one; nil is one of its own
	Idle  time.Duration // see wire.Client.Idle
}

// Old reports whether a model is from before Gemini 3: it counts thinking in tokens, takes no
// pictures in a tool's result and can't search while it has tools. A name that nobody knows is new.
func Old(id string) bool {
	id = id[strings.LastIndexByte(id, '/')+1:]
	for _, old := range []string{"gemini-1.", "gemini-2.", "gemini-pro", "gemini-flash", "gemma-", "learnlm"} {
		if strings.HasPrefix(id, old) && !strings.HasSuffix(id, "-latest") {
			return true
		}
	}
	return false
}

// New makes a client. It fails when BaseURL is unusable.
func New(o Options) (*wire.Client, error) {
	if o.Cache == nil {
		o.Cache = wire.NewCache()
	}
	base, err := Base(o.BaseURL)
	if err != nil {
		return nil, err
	}
	h := http.Header{}
	if o.Key != "" {
		h.Set("X-Goog-Api-Key", o.Key)
	}
	wire.Overlay(h, o.Header)
	return &wire.Client{
		Format:   format{old: o.Old},
		URL:      base,
		Endpoint: func(r *model.Request) string { return base + "/" + path(r.Model) + ":streamGenerateContent?alt=sse" },
		Provider: o.Provider,
		Header:   h,
		Secrets:  wire.Secrets(o.Header, o.Key),
		HTTP:     o.HTTP,
		Cache:    o.Cache,
		Idle:     o.Idle,
	}, nil
}

// Base gives the address that "/models" is appended to: it ends in /v1beta unless it names a version
// itself. "" is DefaultBaseURL.
func Base(base string) (string, error) {
	if base == "" {
		base = DefaultBaseURL
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return "", fmt.Errorf("base URL is not a URL; write it like %s", DefaultBaseURL)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", fmt.Errorf("base URL %q must start with http:// or https:// and name a host", u.Redacted())
	case u.User != nil || strings.ContainsAny(base, "?#"):
		return "", fmt.Errorf("base URL must not hold a name, a password, a query string or a fragment; give the key as apiKey instead")
	}
	base = strings.TrimRight(base, "/")
	for _, version := range []string{"/v1", "/v1beta", "/v1alpha"} {
		if strings.HasSuffix(base, version) {
			return base, nil
		}
	}
	return base + "/v1beta", nil
}

// path is where a model is below the base: "models/NAME", or what its name says itself, as for a tuned
// model, which is "tunedModels/NAME".
func path(id string) string {
	kind, name, ok := strings.Cut(id, "/")
	if !ok || !slices.Contains([]string{"models", "tunedModels"}, kind) {
		kind, name = "models", id
	}
	return kind + "/" + url.PathEscape(name)
}

type format struct {
	old bool
}

func (format) Name() string { return "gemini" }

// Replays takes native tools alone: thoughts are not sent back.
func (format) Replays(p model.Part) bool { return p.Kind == model.Native && p.Opaque != nil }

func (format) Decoder() wire.Decoder { return &decoder{} }
