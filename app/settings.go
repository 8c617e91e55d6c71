package app

import (
	"cmp"
	"context"
	"slices"

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
	if v.Density != "compact" {
		v.Density = "comfortable"
	}
	vim := v.Vim == nil || *v.Vim
	return Settings{Theme: v.Theme, Density: v.Density, DefaultModel: v.DefaultModel, Vim: &vim, Keys: v.Keys}, nil
}

func (s settings) Set(_ context.Context, args Settings) error {
	if !slices.Contains([]string{"system", "light", "dark"}, args.Theme) {
		return &Error{Code: "bad_request", Message: "The theme must be system, light or dark."}
	}
	if !slices.Contains([]string{"", "comfortable", "compact"}, args.Density) {
		return &Error{Code: "bad_request", Message: "The density must be comfortable or compact."}
	}
	if args.DefaultModel != "" {
		if _, err := s.app.catalog.Resolve(catalog.Choice{Model: args.DefaultModel}); err != nil {
			return userError(err)
		}
	}
	before, err := s.app.root.Settings()
	if err != nil {
		return userError(err)
	}
	// What is as it was is not written: it would no longer be the default.
	for _, v := range []struct{ key, before, now string }{
		{"theme", cmp.Or(before.Theme, "system"), args.Theme},
		{"density", cmp.Or(before.Density, "comfortable"), cmp.Or(args.Density, before.Density, "comfortable")},
		{"defaultModel", before.DefaultModel, args.DefaultModel},
	} {
		if v.before == v.now {
			continue
		}
		if err := s.app.root.SetSetting([]string{v.key}, v.now); err != nil {
			return userError(err)
		}
	}
	if args.Vim != nil && *args.Vim != (before.Vim == nil || *before.Vim) {
		if err := s.app.root.SetSetting([]string{"vim"}, *args.Vim); err != nil {
			return userError(err)
		}
	}
	s.app.settingsChanged()
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
