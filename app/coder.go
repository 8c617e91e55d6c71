package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"carrel/agent/catalog"
	"carrel/agent/catalog/coder"
	"carrel/store"
)

// coderID is the provider's id.
const coderID = "coder"

// maxCatalog is how many models are kept of a deployment: they are in providers.jsonc.
const maxCatalog = 6000

func (s settings) Coder(context.Context) (CoderState, error) {
	e, err := s.coderEntry()
	if err != nil {
		return CoderState{}, err
	}
	out := CoderState{URL: e.BaseURL, Connected: e.Login != nil && e.BaseURL != "", Providers: []CoderProvider{}, Loaded: e.Catalog != nil, Models: len(e.Catalog)}
	for _, p := range catalog.Gateways(e) {
		own := slices.ContainsFunc(e.Further, func(g store.GatewayProvider) bool { return g.Name == p.Name })
		out.Providers = append(out.Providers, CoderProvider{Name: p.Name, Type: p.Type, Own: own})
	}
	for _, native := range []string{"anthropic", "openai", "google"} {
		r := CoderRoute{Native: native, Mapped: e.Routes[native]}
		if out.Connected {
			r.Provider = catalog.Route(e, native)
		}
		out.Routes = append(out.Routes, r)
	}
	return out, nil
}

func (s settings) coderEntry() (store.ProviderConfig, error) {
	entries, err := s.app.root.Providers()
	if err != nil {
		return store.ProviderConfig{}, userError(err)
	}
	return entries[coderID], nil
}

// setCoder writes fields of Coder's entry; nil removes one.
func (s settings) setCoder(fields map[string]any) error {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := s.app.root.SetProvider(coderID, []string{name}, fields[name]); err != nil {
			return userError(err)
		}
	}
	return nil
}

// coderError is what a person is told of a deployment's refusal.
func coderError(err error) error {
	var e *coder.Error
	if errors.As(err, &e) {
		code := "coder"
		if e.Ended {
			code = "login_ended"
		}
		return &Error{Code: code, Message: e.Message, Cause: err}
	}
	return userError(err)
}

// asked gives the deployment and a token for it.
func (s settings) asked(ctx context.Context) (coder.Deployment, string, store.ProviderConfig, error) {
	token, err := s.app.catalog.CoderToken(ctx)
	if err != nil {
		return coder.Deployment{}, "", store.ProviderConfig{}, coderError(err)
	}
	e, err := s.coderEntry()
	if err != nil {
		return coder.Deployment{}, "", e, err
	}
	base, err := coder.Parse(e.BaseURL)
	if err != nil {
		return coder.Deployment{}, "", e, &Error{Code: "bad_base_url", Message: "The address of the Coder deployment is not one. Log in again."}
	}
	return coder.New(base), token, e, nil
}

func (s settings) RefreshCoder(ctx context.Context) (CoderState, error) {
	d, token, e, err := s.asked(ctx)
	if err != nil {
		return CoderState{}, err
	}
	if err := s.discover(ctx, d, token, e); err != nil {
		return CoderState{}, coderError(err)
	}
	s.app.settingsChanged()
	return s.Coder(ctx)
}

// discover keeps the deployment's providers. The models of those that are gone, or of another type
// now, leave the catalogue.
func (s settings) discover(ctx context.Context, d coder.Deployment, token string, e store.ProviderConfig) error {
	found, known, err := d.Providers(ctx, token)
	if err != nil {
		return err
	}
	if !known { // not for this person: what the settings say is left
		return s.setCoder(map[string]any{"discoveredProviders": nil})
	}
	before := catalog.Gateways(e)
	list := make([]store.GatewayProvider, 0, len(found))
	for _, p := range found {
		list = append(list, store.GatewayProvider{Name: p.Name, Type: p.Type})
	}
	fields := map[string]any{"discoveredProviders": list}
	e.Discovered = list
	if e.Catalog != nil {
		after := catalog.Gateways(e)
		same := func(id string) bool {
			name, _, _ := strings.Cut(id, "/")
			i := slices.IndexFunc(before, func(p coder.Provider) bool { return p.Name == name })
			return i >= 0 && slices.Contains(after, before[i])
		}
		left := []string{}
		for _, id := range e.Catalog {
			if same(id) {
				left = append(left, id)
			}
		}
		fields["discoveredModels"] = left
	}
	return s.setCoder(fields)
}

func (s settings) LoadCoderCatalog(ctx context.Context) (CoderState, error) {
	d, token, e, err := s.asked(ctx)
	if err != nil {
		return CoderState{}, err
	}
	if err := s.discover(ctx, d, token, e); err != nil {
		return CoderState{}, coderError(err)
	}
	if e, err = s.coderEntry(); err != nil {
		return CoderState{}, err
	}
	all, unlisted := []string{}, []string{}
	var failed error
	for _, p := range catalog.Gateways(e) {
		list, has, err := d.Models(ctx, token, p.Name)
		switch {
		case err != nil && ctx.Err() != nil:
			return CoderState{}, ctx.Err()
		case err != nil && e.Catalog == nil: // the first time all of them have to answer
			return CoderState{}, &Error{Code: "coder", Message: fmt.Sprintf("The models of %s could not be listed, so the catalogue was not loaded. Try again.", short(p.Name)), Cause: err}
		case err != nil:
			failed = err
			for _, id := range e.Catalog {
				if strings.HasPrefix(id, p.Name+"/") {
					all = append(all, id)
				}
			}
		case !has:
			unlisted = append(unlisted, p.Name)
		}
		for _, id := range list {
			all = append(all, p.Name+"/"+id)
		}
	}
	if failed != nil {
		s.app.logger.Warn("list the models of a provider of Coder's", "err", failed)
	}
	if err := s.setCoder(map[string]any{"discoveredModels": all[:min(len(all), maxCatalog)], "discoveredModelsUnlisted": unlisted}); err != nil {
		return CoderState{}, err
	}
	s.app.settingsChanged()
	return s.Coder(ctx)
}

func (s settings) SetCoderRoute(ctx context.Context, args SetCoderRoute) (CoderState, error) {
	e, err := s.coderEntry()
	if err != nil {
		return CoderState{}, err
	}
	if !catalog.Native(args.Native) {
		return CoderState{}, &Error{Code: "bad_request", Message: "Only Anthropic, OpenAI and Google can be mapped."}
	}
	var value any
	if args.Provider != "" {
		fits := func(p coder.Provider) bool { return p.Name == args.Provider && p.Type == args.Native }
		if !slices.ContainsFunc(catalog.Gateways(e), fits) {
			return CoderState{}, &Error{Code: "bad_request", Message: fmt.Sprintf("%s is no provider of the type %s. Choose one that is, or refresh the providers.", short(args.Provider), args.Native)}
		}
		value = args.Provider
	}
	if err := s.app.root.SetProvider(coderID, []string{"canonicalRoutes", args.Native}, value); err != nil {
		return CoderState{}, userError(err)
	}
	s.app.settingsChanged()
	return s.Coder(ctx)
}

func (s settings) SetModelRoute(_ context.Context, args SetModelRoute) error {
	provider, id, _ := strings.Cut(args.Model, ":")
	if !catalog.Native(provider) || id == "" || len(args.Model) > maxModelID {
		return &Error{Code: "bad_request", Message: "Only models of Anthropic, OpenAI and Google can go through Coder."}
	}
	var value any // nil removes it
	if args.Route != "" {
		if err := oneOf(catalog.RouteCoder, catalog.RouteDirect)(args.Route); err != nil {
			return err
		}
		value = args.Route
	}
	if err := s.app.root.SetProvider(coderID, []string{"modelRoutes", args.Model}, value); err != nil {
		return userError(err)
	}
	s.app.settingsChanged()
	return nil
}

// LogoutCoder forgets the login also where the deployment can't be told.
func (s settings) LogoutCoder(ctx context.Context) (CoderState, error) {
	e, err := s.coderEntry()
	if err != nil {
		return CoderState{}, err
	}
	if err := s.setCoder(map[string]any{"login": nil, "discoveredProviders": nil, "discoveredModels": nil, "discoveredModelsUnlisted": nil}); err != nil {
		return CoderState{}, err
	}
	s.app.settingsChanged()
	s.endLogin(ctx, e)
	return s.Coder(ctx)
}

// endLogin revokes the login of an entry, as far as that works.
func (s settings) endLogin(ctx context.Context, e store.ProviderConfig) {
	base, err := coder.Parse(e.BaseURL)
	if e.Login == nil || err != nil {
		return
	}
	l := e.Login
	err = coder.New(base).End(ctx, coder.Client{ID: l.ClientID, Secret: l.ClientSecret, Address: l.ClientAddress, Token: l.ClientToken},
		coder.Token{Access: l.AccessToken, Refresh: l.RefreshToken})
	if err != nil {
		s.app.logger.Warn("revoke the login at Coder", "err", err)
	}
}

// checkOrigin refuses what is no page's origin.
func checkOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return &Error{Code: "bad_request", Message: "The page's origin must be like https://carrel.example.com."}
	}
	return nil
}
