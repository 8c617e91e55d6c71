package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"carrel/agent/catalog"
	"carrel/store"
)

func (s settings) Providers(context.Context) ([]Provider, error) {
	all := s.app.catalog.Providers()
	entries, err := s.app.root.Providers()
	if err != nil {
		return nil, userError(err)
	}
	out := make([]Provider, 0, len(all))
	for _, p := range all {
		e := entries[p.ID]
		out = append(out, Provider{ID: p.ID, Name: p.Name, Configured: p.Configured, KeySource: p.KeySource,
			BaseURL: p.BaseURL, Wire: p.Wire, Custom: p.Custom, KeyPage: p.KeyPage, Error: p.Error,
			Enabled: e.Enabled == nil || *e.Enabled, WireFormat: e.WireFormat, ServiceTier: e.ServiceTier, Speed: e.Speed,
			CacheTTL: e.CacheTTL, WebSearch: e.WebSearch, Cyber: e.Cyber, Region: e.Region, Preferred: e.Preferred})
	}
	return out, nil
}

// known refuses a provider that has no settings.
func (s settings) known(id string) error {
	for _, p := range s.app.catalog.Providers() {
		if p.ID == id && p.Wire != string(catalog.Demo) {
			return nil
		}
	}
	return &Error{Code: "not_found", Message: fmt.Sprintf("There is no provider %q to set up. Add a custom one under Settings, Providers.", short(id))}
}

func (s settings) SetProvider(_ context.Context, args SetProvider) error {
	if err := s.known(args.ID); err != nil {
		return err
	}
	changes := []providerChange{
		textChange("apiKey", args.APIKey, checkKey), textChange("baseUrl", args.BaseURL, checkBaseURL),
		textChange("wireFormat", args.WireFormat, oneOf("responses", "chatCompletions")),
		textChange("serviceTier", args.ServiceTier, checkWord), textChange("speed", args.Speed, oneOf("fast")),
		textChange("cacheTtl", args.CacheTTL, oneOf("5m", "1h")), textChange("region", args.Region, checkWord),
		boolChange("enabled", args.Enabled), boolChange("webSearch", args.WebSearch), boolChange("cyber", args.Cyber),
		boolChange("preferred", args.Preferred),
	}
	changes = slices.DeleteFunc(changes, func(c providerChange) bool { return c.name == "" })
	for _, c := range changes { // all are looked at before one is written
		if c.err != nil {
			return c.err
		}
	}
	for _, c := range changes {
		if err := s.app.root.SetProvider(args.ID, []string{c.name}, c.value); err != nil {
			return userError(err)
		}
	}
	s.app.settingsChanged()
	return nil
}

func (s settings) AddProvider(_ context.Context, args AddProvider) error {
	id := strings.TrimSpace(args.ID)
	if slices.ContainsFunc(s.app.catalog.Providers(), func(p catalog.Provider) bool { return p.ID == id }) {
		return &Error{Code: "taken", Message: fmt.Sprintf("There is a provider %s already. Choose another id.", short(id))}
	}
	key, base := strings.TrimSpace(args.APIKey), strings.TrimSpace(args.BaseURL)
	if err := catalog.CheckCustom(id, store.ProviderConfig{ProviderType: args.ProviderType, BaseURL: base}); err != nil {
		return userError(err)
	}
	if err := errors.Join(checkKey(key), checkBaseURL(base)); err != nil {
		return err
	}
	entry := map[string]any{"providerType": args.ProviderType, "baseUrl": base}
	if name := label(args.DisplayName); name != "" {
		entry["displayName"] = name
	}
	if key != "" {
		entry["apiKey"] = key
	}
	if err := s.app.root.SetProvider(id, nil, entry); err != nil {
		return userError(err)
	}
	s.app.settingsChanged()
	return nil
}

func (s settings) RemoveProvider(_ context.Context, args ByID) error {
	if err := s.known(args.ID); err != nil {
		return err
	}
	if err := s.app.root.SetProvider(args.ID, nil, nil); err != nil {
		return userError(err)
	}
	s.app.settingsChanged()
	return nil
}

func (s settings) TestProvider(ctx context.Context, args ByID) (ProviderTest, error) {
	r := s.app.catalog.Test(ctx, args.ID)
	if err := ctx.Err(); err != nil {
		return ProviderTest{}, err
	}
	return ProviderTest{OK: r.OK, Problem: r.Problem, Mend: r.Mend, Code: r.Code, LatencyMS: r.Latency.Milliseconds(), Model: r.Model}, nil
}

// settingsChanged tells hosts, and conversations that stopped because of settings, and takes from running
// commands what they may no longer reach.
func (a *App) settingsChanged() {
	a.boxes.recheck()
	a.publish(SettingsChanged{})
	a.mendAll()
}

// providerChange is one field that SetProvider may change; without a name it is left as it is.
type providerChange struct {
	name  string // in providers.jsonc
	value any    // nil removes it
	err   error
}

func textChange(name string, value *string, check func(string) error) providerChange {
	if value == nil {
		return providerChange{}
	}
	text := strings.TrimSpace(*value)
	if text == "" {
		return providerChange{name: name}
	}
	return providerChange{name: name, value: text, err: check(text)}
}

func boolChange(name string, value *bool) providerChange {
	if value == nil {
		return providerChange{}
	}
	return providerChange{name: name, value: *value}
}

// maxSecret bounds keys and addresses, in bytes.
const maxSecret = 16 << 10

// checkKey refuses a key that no header can carry. The message does not repeat it.
func checkKey(key string) error {
	if len(key) > maxSecret || strings.ContainsFunc(key, func(r rune) bool { return r < '!' || r > '~' }) {
		return &Error{Code: "bad_key", Message: "The key has blanks or characters that can't be sent. Copy it again, on one line."}
	}
	return nil
}

// checkBaseURL refuses what is no plain http or https address. A name and password in it would be
// shown wherever the address is. The message does not repeat it.
func checkBaseURL(text string) error {
	u, err := url.Parse(text)
	bad := err != nil || len(text) > maxSecret || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != ""
	if bad {
		return &Error{Code: "bad_base_url", Message: "The base URL must be an address such as https://api.example.com/v1, without a name, password, ? or #."}
	}
	return nil
}

// maxWord bounds a region or a tier, in bytes.
const maxWord = 64

// checkWord refuses what is no plain word, such as a region.
func checkWord(s string) error {
	if len(s) > maxWord || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return &Error{Code: "bad_request", Message: fmt.Sprintf("%q is not a plain word.", short(s))}
	}
	return nil
}

func oneOf(words ...string) func(string) error {
	return func(s string) error {
		if slices.Contains(words, s) {
			return nil
		}
		return &Error{Code: "bad_request", Message: fmt.Sprintf("%q must be one of: %s.", short(s), strings.Join(words, ", "))}
	}
}
