package app

import (
	"context"
	"slices"

	"carrel/agent/catalog"
	"carrel/workspaces"
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
		if _, err := s.app.catalog.Resolve(args.DefaultModel); err != nil {
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
	if !slices.ContainsFunc(s.app.catalog.Providers(), func(p catalog.Provider) bool { return p.ID == args.ID }) {
		return &Error{Code: "not_found", Message: "There is no provider " + args.ID + ". Add a custom one in providers.jsonc."}
	}
	for _, change := range []struct {
		key   string
		value *string
	}{{"apiKey", args.APIKey}, {"baseUrl", args.BaseURL}} {
		if change.value == nil {
			continue
		}
		var v any
		if *change.value != "" {
			v = *change.value
		}
		if err := s.app.root.SetProvider(args.ID, []string{change.key}, v); err != nil {
			return userError(err)
		}
	}
	s.app.publish(SettingsChanged{})
	return nil
}

// modelOf is the model of a workspace's next turn.
func (a *App) modelOf(w workspaces.Workspace) string {
	if w.Model != "" {
		return w.Model
	}
	v, err := a.root.Settings()
	if err != nil {
		a.logger.Warn("read settings", "err", err)
	}
	return a.catalog.Default(v.DefaultModel)
}
