package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"carrel/agent/model/bedrock"
	"carrel/agent/model/gemini"
	"carrel/agent/model/wire"
)

// Suggestion is a model that a provider lists. That it is listed does not mean that the account may
// use it, or that it can call tools.
type Suggestion struct {
	ID      string // provider:id
	Name    string // the provider's name for it, or its id
	Context int64  // tokens; 0 is unknown
}

// Limits of a list: how long it may take, how long it is kept, and how much of it is read.
const (
	listTime  = 15 * time.Second
	listKept  = 5 * time.Minute
	listBytes = 16 << 20
	listMost  = 2000
	nameMost  = 200 // bytes
)

// lists keeps what providers listed, by provider and settings.
type lists struct {
	mu   sync.Mutex
	kept map[string]list
}

type list struct {
	at    time.Time
	found []Suggestion
}

// Suggest asks a provider for its models, in the order of their ids: 2,000 at most. A list is kept
// for five minutes, or until the provider's settings change. Nothing is added to the settings. An
// error is a *ConfigError where the settings are wrong, else a *ListError.
func (c *Catalog) Suggest(ctx context.Context, provider string) ([]Suggestion, error) {
	s, ok := c.one(provider)
	switch {
	case !ok:
		return nil, unknownProvider(provider)
	case s.err != nil:
		return nil, s.err
	case s.azure.Endpoint != "":
		return nil, &ConfigError{NoList, "Azure's deployments can't be listed. Type the model's name."}
	}
	if s.wire == Coder {
		return s.gatewayModels()
	}
	mark := s.mark()
	c.lists.mu.Lock()
	old, ok := c.lists.kept[mark]
	c.lists.mu.Unlock()
	if ok && time.Since(old.at) < listKept {
		return slices.Clone(old.found), nil
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	found, err := c.list(ctx, s)
	if err != nil {
		return nil, err
	}
	found = tidy(s.id, found)
	c.lists.mu.Lock()
	defer c.lists.mu.Unlock()
	for key, l := range c.lists.kept {
		if time.Since(l.at) >= listKept {
			delete(c.lists.kept, key)
		}
	}
	if c.lists.kept == nil {
		c.lists.kept = map[string]list{}
	}
	c.lists.kept[mark] = list{at: time.Now(), found: found}
	return slices.Clone(found), nil
}

// mark tells one way in which a provider is set up from another, without holding its key.
func (s *settled) mark() string {
	h := sha256.New()
	for _, part := range []any{s.base, s.wire, s.region, s.key.value, s.header, s.entry.AccessKeyID, s.entry.SecretAccessKey, s.entry.Profile} {
		_, _ = fmt.Fprintf(h, "%q\n", part) // a hash takes everything
	}
	return s.id + fmt.Sprintf(" %x", h.Sum(nil))
}

// tidy sorts a list and leaves out what can't be a model's id.
func tidy(provider string, in []Suggestion) []Suggestion {
	seen := map[string]bool{}
	out := make([]Suggestion, 0, min(len(in), listMost))
	for _, s := range in {
		bad := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
		if s.ID == "" || len(s.ID) > nameMost || strings.ContainsFunc(s.ID, bad) || seen[s.ID] {
			continue
		}
		seen[s.ID] = true
		s.Name = strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return -1
			}
			return r
		}, s.Name)
		if s.Name == "" || len(s.Name) > nameMost {
			s.Name = s.ID
		}
		s.ID, s.Context = provider+":"+s.ID, max(s.Context, 0)
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Suggestion) int { return strings.Compare(a.ID, b.ID) })
	return out[:min(len(out), listMost)]
}

// ListError is a provider's list that could not be had. Message is a sentence for people.
type ListError struct {
	Message string
	Status  int // of HTTP; 0 when there was no answer
	Cause   error
}

// Error gives the message.
func (e *ListError) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *ListError) Unwrap() error { return e.Cause }

// list asks in the way of the provider.
func (c *Catalog) list(ctx context.Context, s settled) ([]Suggestion, error) {
	switch {
	case s.id == "ollama":
		root := strings.TrimSuffix(strings.TrimRight(s.base, "/"), "/v1")
		var v struct {
			Models []struct{ Name string }
		}
		err := c.get(ctx, s, root+"/api/tags", nil, &v)
		return each(v.Models, func(m struct{ Name string }) Suggestion { return Suggestion{ID: m.Name} }), err
	case s.wire == Gemini:
		return c.listGemini(ctx, s)
	case s.wire == Bedrock:
		return c.listBedrock(ctx, s)
	case s.wire == AnthropicMessages:
		base, err := wire.AnthropicBase(s.base)
		if err != nil {
			return nil, bad(BadBaseURL, s.id, "%v.", err)
		}
		return c.listData(ctx, s, base+"/models?limit=1000")
	}
	base, err := wire.OpenAIBase(s.base)
	if err != nil {
		return nil, bad(BadBaseURL, s.id, "%v.", err)
	}
	return c.listData(ctx, s, base+"/models")
}

// listed is a model in the form that most lists have.
type listed struct {
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	DisplayName  string          `json:"display_name"`
	Context      int64           `json:"context_length"`
	MaxInput     int64           `json:"max_input_tokens"`
	Capabilities json.RawMessage `json:"capabilities"` // Copilot's say what kind of model it is, others' much else
}

// listData reads a list of {"data": [...]}.
func (c *Catalog) listData(ctx context.Context, s settled, url string) ([]Suggestion, error) {
	var v struct{ Data []listed }
	if err := c.get(ctx, s, url, s.auth(), &v); err != nil {
		return nil, err
	}
	var out []Suggestion
	for _, m := range v.Data {
		if s.id == "openai" && !talks(m.ID) {
			continue
		}
		var kind struct{ Type string }
		if s.id == "github-copilot" && json.Unmarshal(m.Capabilities, &kind) == nil && kind.Type != "" && kind.Type != "chat" {
			continue
		}
		name := m.DisplayName
		if name == "" {
			name = m.Name
		}
		out = append(out, Suggestion{ID: m.ID, Name: name, Context: max(m.Context, m.MaxInput)})
	}
	return out, nil
}

// talks reports whether a model of OpenAI's list is one to talk with: the list has all kinds and does
// not say.
func talks(id string) bool {
	for _, word := range []string{"embedding", "whisper", "tts", "dall-e", "image", "moderation", "realtime", "audio", "transcribe", "sora", "babbage", "davinci"} {
		if strings.Contains(id, word) {
			return false
		}
	}
	return true
}

func (c *Catalog) listGemini(ctx context.Context, s settled) ([]Suggestion, error) {
	var v struct {
		Models []struct {
			Name, DisplayName          string
			InputTokenLimit            int64
			SupportedGenerationMethods []string
		}
	}
	base, err := gemini.Base(s.base)
	if err != nil {
		return nil, bad(BadBaseURL, s.id, "%v.", err)
	}
	if err := c.get(ctx, s, base+"/models?pageSize=1000", s.auth(), &v); err != nil {
		return nil, err
	}
	var out []Suggestion
	for _, m := range v.Models {
		if slices.Contains(m.SupportedGenerationMethods, "generateContent") {
			out = append(out, Suggestion{ID: strings.TrimPrefix(m.Name, "models/"), Name: m.DisplayName, Context: m.InputTokenLimit})
		}
	}
	return out, nil
}

// auth are the headers that carry the key.
func (s *settled) auth() http.Header {
	h := http.Header{}
	switch {
	case s.key.value == "":
	case s.wire == AnthropicMessages && !s.key.token:
		h.Set("X-Api-Key", s.key.value)
	case s.wire == Gemini:
		h.Set("X-Goog-Api-Key", s.key.value)
	default:
		h.Set("Authorization", "Bearer "+s.key.value)
	}
	if s.wire == AnthropicMessages {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	if s.org != "" {
		h.Set("Openai-Organization", s.org)
	}
	wire.Overlay(h, s.header)
	return h
}

// get reads a JSON document into v.
func (c *Catalog) get(ctx context.Context, s settled, url string, h http.Header, v any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return bad(BadBaseURL, s.id, "the address is not a URL.")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "carrel")
	wire.Overlay(req.Header, h)
	if s.aws != nil {
		if err := bedrock.Sign(ctx, s.aws, s.region, req); err != nil {
			return unsigned(s, err)
		}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		code, problem, _ := unreachable(err, req.URL.Host)
		return &ListError{Message: fmt.Sprintf("%s can't list its models: %s", s.name, problem), Cause: errors.New(code)}
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, listBytes+1))
	switch {
	case resp.StatusCode != http.StatusOK:
		return &ListError{Message: fmt.Sprintf("%s does not list its models (HTTP %d %s). Type the model's name.", s.name, resp.StatusCode,
			http.StatusText(resp.StatusCode)), Status: resp.StatusCode}
	case err != nil:
		return &ListError{Message: s.name + " stopped in the middle of its list of models. Try again.", Status: resp.StatusCode, Cause: err}
	case len(body) > listBytes:
		return &ListError{Message: s.name + " lists more than can be read. Type the model's name.", Status: resp.StatusCode}
	}
	if err := json.Unmarshal(body, v); err != nil {
		return &ListError{Message: s.name + " answers with something that is no list of models. Check its base URL, or type the model's name.",
			Status: resp.StatusCode}
	}
	return nil
}

// each maps a list.
func each[A, B any](in []A, f func(A) B) []B {
	var out []B
	for _, v := range in {
		out = append(out, f(v))
	}
	return out
}
