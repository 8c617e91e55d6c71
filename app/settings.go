package app

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"carrel/agent/catalog"
)

// settings implements SettingsAPI.
type settings struct{ app *App }

func (s settings) Get(context.Context) (Settings, error) {
	v, err := s.app.root.Settings()
	if err != nil {
		return Settings{}, userError(err)
	}
	if v.Theme == "" {
		v.Theme = "system"
	}
	return Settings{Theme: v.Theme, DefaultModel: v.DefaultModel}, nil
}

func (s settings) Set(_ context.Context, args Settings) error {
	if !slices.Contains([]string{"system", "light", "dark"}, args.Theme) {
		return &Error{Code: "bad_request", Message: "The theme must be system, light or dark."}
	}
	if args.DefaultModel != "" {
		if _, err := s.app.catalog.Resolve(catalog.Choice{Model: args.DefaultModel}); err != nil {
			return userError(err)
		}
	}
	if err := s.app.root.SetSetting([]string{"theme"}, args.Theme); err != nil {
		return userError(err)
	}
	if err := s.app.root.SetSetting([]string{"defaultModel"}, args.DefaultModel); err != nil {
		return userError(err)
	}
	s.app.publish(SettingsChanged{})
	return nil
}

func (s settings) Models(context.Context) ([]Model, error) {
	all := s.app.catalog.Models()
	out := make([]Model, 0, len(all))
	for _, m := range all {
		out = append(out, Model{ID: m.ID, Name: m.Name, Provider: m.Provider, Available: m.Available, Demo: m.Demo})
	}
	return out, nil
}

func (s settings) Providers(context.Context) ([]Provider, error) {
	all := s.app.catalog.Providers()
	out := make([]Provider, 0, len(all))
	for _, p := range all {
		out = append(out, Provider{ID: p.ID, Name: p.Name, Configured: p.Configured, KeySource: p.KeySource,
			BaseURL: p.BaseURL, Wire: p.Wire, Error: p.Error})
	}
	return out, nil
}

func (s settings) SetProvider(_ context.Context, args SetProvider) error {
	known := slices.ContainsFunc(s.app.catalog.Providers(), func(p catalog.Provider) bool {
		return p.ID == args.ID && p.Wire != string(catalog.Demo)
	})
	if !known {
		return &Error{Code: "not_found", Message: fmt.Sprintf("There is no provider %q to set up. Add a custom one in providers.jsonc.", short(args.ID))}
	}
	changes := []providerChange{{"apiKey", args.APIKey, checkKey}, {"baseUrl", args.BaseURL, checkBaseURL}}
	for _, c := range changes { // all are looked at before one is written
		if c.value == nil {
			continue
		}
		if err := c.check(strings.TrimSpace(*c.value)); err != nil {
			return err
		}
	}
	for _, c := range changes {
		if c.value == nil {
			continue
		}
		var v any // nil removes it
		if text := strings.TrimSpace(*c.value); text != "" {
			v = text
		}
		if err := s.app.root.SetProvider(args.ID, []string{c.name}, v); err != nil {
			return userError(err)
		}
	}
	s.app.publish(SettingsChanged{})
	return nil
}

// providerChange is one field that SetProvider may change.
type providerChange struct {
	name  string // in providers.jsonc
	value *string
	check func(string) error
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
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	bad := err != nil || len(text) > maxSecret || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != ""
	if bad {
		return &Error{Code: "bad_base_url", Message: "The base URL must be an address such as https://api.example.com/v1, without a name, password, ? or #."}
	}
	return nil
}

// defaultModel is the model of workspaces for which none was chosen.
func (a *App) defaultModel() string {
	v, err := a.root.Settings()
	if err != nil {
		a.logger.Warn("read settings", "err", err)
	}
	return a.catalog.Default(v.DefaultModel)
}
