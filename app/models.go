package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"carrel/agent/catalog"
)

func (s settings) Models(context.Context) ([]Model, error) {
	all := s.app.catalog.Models()
	e, err := s.coderEntry()
	if err != nil {
		return nil, err
	}
	out := make([]Model, 0, len(all))
	for _, m := range all {
		v := modelView(m)
		v.Route = e.ModelRoutes[m.ID]
		out = append(out, v)
	}
	return out, nil
}

func (s settings) Model(_ context.Context, args ByID) (Model, error) {
	m, err := s.app.catalog.Describe(cmp.Or(args.ID, s.app.defaultModel()))
	if err != nil {
		return Model{}, userError(err)
	}
	return modelView(m), nil
}

func modelView(m catalog.Model) Model {
	i := m.Info
	v := Model{ID: m.ID, Name: m.Name, Provider: m.Provider, Aliases: m.Aliases, Available: m.Available, Demo: m.Demo,
		Own: m.Own, Via: m.Via, Context: i.Context, MaxOutput: i.MaxOutput, DefaultLevel: string(i.DefaultLevel), Images: i.Images,
		Pro: i.Pro, Cyber: i.Cyber}
	for _, l := range i.Levels {
		v.Levels = append(v.Levels, string(l))
	}
	if p := i.Prices; p != nil {
		v.Prices = &ModelPrices{Input: p.Input, Output: p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite}
	}
	return v
}

func (s settings) SuggestModels(ctx context.Context, args ByID) ([]Suggestion, error) {
	found, err := s.app.catalog.Suggest(ctx, args.ID)
	var failed *catalog.ListError
	if errors.As(err, &failed) {
		return nil, &Error{Code: "no_list", Message: failed.Message, Cause: err}
	}
	if err != nil {
		return nil, userError(err)
	}
	out := make([]Suggestion, 0, len(found))
	for _, f := range found {
		out = append(out, Suggestion{ID: f.ID, Name: f.Name, Context: f.Context})
	}
	return out, nil
}

// maxModelID bounds the id of a model, in bytes.
const maxModelID = 256

// AddModel adds provider:id to the provider's list.
func (s settings) AddModel(_ context.Context, args ByID) error {
	provider, id, ok := strings.Cut(strings.TrimSpace(args.ID), ":")
	if !ok || id == "" || len(id) > maxModelID || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return &Error{Code: "bad_model", Message: "Write the model as provider:id, such as openrouter:qwen/qwen3-coder."}
	}
	if err := s.known(provider); err != nil {
		return err
	}
	return s.changeModels(provider, func(list []string) []string {
		if slices.Contains(list, id) {
			return list
		}
		return append(list, id)
	})
}

// RemoveModel takes provider:id out of the provider's list.
func (s settings) RemoveModel(_ context.Context, args ByID) error {
	provider, id, _ := strings.Cut(args.ID, ":")
	if err := s.known(provider); err != nil {
		return err
	}
	return s.changeModels(provider, func(list []string) []string {
		return slices.DeleteFunc(list, func(m string) bool { return m == id })
	})
}

func (s settings) changeModels(provider string, change func([]string) []string) error {
	entries, err := s.app.root.Providers()
	if err != nil {
		return userError(err)
	}
	var list any // nil removes it
	if changed := change(slices.Clone(entries[provider].Models)); len(changed) > 0 {
		list = changed
	}
	if err := s.app.root.SetProvider(provider, []string{"models"}, list); err != nil {
		return userError(err)
	}
	s.app.settingsChanged()
	return nil
}

func (s settings) Fallbacks(context.Context) ([]Fallback, error) {
	var out []Fallback
	for _, m := range s.app.catalog.Models() {
		if chain := s.app.catalog.Fallbacks(m.ID); len(chain) > 0 {
			out = append(out, Fallback{Model: m.ID, Models: chain})
		}
	}
	return out, nil
}

// maxChain is how many models a chain of fallbacks has at most.
const maxChain = 8

func (s settings) SetFallback(_ context.Context, args Fallback) error {
	if len(args.Models) > maxChain {
		return &Error{Code: "bad_request", Message: fmt.Sprintf("A chain takes at most %d models.", maxChain)}
	}
	chain := make([]string, 0, len(args.Models))
	for _, m := range append([]string{args.Model}, args.Models...) {
		provider, id, ok := strings.Cut(m, ":")
		if !ok || provider == "" || id == "" || len(m) > maxModelID {
			return &Error{Code: "bad_model", Message: fmt.Sprintf("Write the model %q as provider:id.", short(m))}
		}
		chain = append(chain, m)
	}
	if slices.Contains(chain[1:], chain[0]) {
		return &Error{Code: "bad_request", Message: "A model can't fall back on itself."}
	}
	if err := s.app.root.SetSetting([]string{"modelFallbacks", chain[0]}, map[string][]string{"models": chain[1:]}); err != nil {
		return userError(err)
	}
	s.app.settingsChanged()
	return nil
}
