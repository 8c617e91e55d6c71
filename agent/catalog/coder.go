package catalog

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"carrel/agent/catalog/coder"
	"carrel/agent/model"
	"carrel/agent/model/chat"
	"carrel/agent/model/wire"
	"carrel/store"
)

// signature adds to a request what proves who asks.
type signature = func(ctx context.Context, req *http.Request, body *wire.Payload) error

// coderID is the provider's id.
const coderID = "coder"

// keeper is a Config that settings can be written to: a login that was renewed must be kept.
type keeper interface {
	SetProvider(id string, path []string, value any) error
}

// coder finds out whether somebody is logged in.
func (s *settled) coder() {
	if s.entry.Login == nil || s.base == "" {
		s.fail(&ConfigError{NoKey, "Coder is not connected. Log in under Settings, Providers, or run carrel provider login coder --url ADDRESS."})
		return
	}
	s.key.source = "settings"
	base, err := coder.Parse(s.base)
	if err != nil {
		s.fail(bad(BadBaseURL, s.id, "%v.", err))
		return
	}
	s.base = base
}

// Gateways are the providers of Coder's AI Gateway that are known: those that it lists, or where it
// lists none the usual ones, and those that the settings add.
func Gateways(e store.ProviderConfig) []coder.Provider {
	var out []coder.Provider
	add := func(list []store.GatewayProvider) {
		for _, g := range list {
			p := coder.Provider{Name: g.Name, Type: g.Type}
			i := slices.IndexFunc(out, func(o coder.Provider) bool { return o.Name == p.Name })
			if p.Valid() && i < 0 {
				out = append(out, p)
			}
		}
	}
	add(e.Further)
	if add(e.Discovered); e.Discovered == nil {
		for _, p := range coder.Defaults() {
			add([]store.GatewayProvider{{Name: p.Name, Type: p.Type}})
		}
	}
	return out
}

// through gives the way to a model, provider/model, of Coder's gateway, and the name that it has there.
func (c *Catalog) through(s settled, name string) (settled, string, error) {
	if s.err != nil {
		return s, "", s.err
	}
	gateway, id, ok := strings.Cut(name, "/")
	if !ok || id == "" {
		return s, "", &ConfigError{BadModel, "Write a model of Coder as coder:provider/model, such as coder:anthropic/claude-opus-5-5."}
	}
	all := Gateways(s.entry)
	i := slices.IndexFunc(all, func(p coder.Provider) bool { return p.Name == gateway })
	if i < 0 {
		return s, "", bad(BadModel, s.id, "the gateway has no provider %q that is known. Refresh the providers, or name it under additionalProviders.", clip(gateway))
	}
	s.base = coder.Deployment{URL: s.base}.Gateway(gateway)
	s.sign = c.signCoder
	switch all[i].Protocol() {
	case coder.Anthropic:
		s.wire = AnthropicMessages
	case coder.OpenAI:
		s.wire, s.base = OpenAIResponses, s.base+"/v1"
	case coder.Chat, coder.None:
		s.wire, s.base, s.quirks = OpenAICompatible, s.base+"/v1", chat.Quirks{}
	}
	return s, id, nil
}

// signCoder adds the login to a request.
func (c *Catalog) signCoder(ctx context.Context, req *http.Request, _ *wire.Payload) error {
	token, err := c.CoderToken(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		kind := model.ErrAuth
		var e *coder.Error
		if errors.As(err, &e) && !e.Ended {
			kind = model.ErrNetwork
		}
		return &model.Error{Kind: kind, Message: err.Error(), Hint: "Log in at Coder again under Settings, Providers.", Cause: err}
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return nil
}

// renewEarly is how long before its end a login is renewed.
const renewEarly = time.Minute

// CoderToken gives a token of the login at Coder, renewed when it is about to end. Its error is a
// *ConfigError when nobody is logged in, else a *coder.Error.
func (c *Catalog) CoderToken(ctx context.Context) (string, error) {
	c.logins.Lock() // a login can be renewed once: all who ask wait for it
	defer c.logins.Unlock()
	s, _ := c.one(coderID)
	if s.err != nil {
		return "", s.err
	}
	l := *s.entry.Login
	left := time.Until(l.ExpiresAt)
	if l.ExpiresAt.IsZero() || left > renewEarly || l.RefreshToken == "" && left > 0 {
		return l.AccessToken, nil
	}
	t, err := coder.Deployment{URL: s.base, HTTP: c.http}.Refresh(ctx, coder.Client{ID: l.ClientID, Secret: l.ClientSecret}, l.RefreshToken)
	var e *coder.Error
	switch {
	case err == nil:
	case left > 0 && errors.As(err, &e) && !e.Ended:
		return l.AccessToken, nil
	default:
		return "", err
	}
	l.AccessToken, l.ExpiresAt = t.Access, t.Expires
	if t.Refresh != "" {
		l.RefreshToken = t.Refresh
	}
	if k, ok := c.config.(keeper); ok {
		if err := k.SetProvider(coderID, []string{"login"}, l); err != nil {
			return "", &coder.Error{Message: "The renewed login at Coder could not be saved.", Cause: err}
		}
	}
	return l.AccessToken, nil
}

// native are the providers whose models can go through Coder.
var native = []string{"anthropic", "openai", "google"} // read only

// Route is the gateway's provider for the models of a native one: what the settings map, else the one
// of the same name for Anthropic and OpenAI. It is "" when there is none of the right type.
func Route(e store.ProviderConfig, provider string) string {
	name := e.Routes[provider]
	if name == "" && provider != "google" {
		name = provider
	}
	for _, p := range Gateways(e) {
		if p.Name == name && p.Type == provider {
			return name
		}
	}
	return ""
}

// The routes that a person can choose for one native model.
const (
	RouteCoder  = "coder"  // through Coder, also where there is a key
	RouteDirect = "direct" // never through Coder
)

// Native reports whether a provider's models can go through Coder.
func Native(provider string) bool { return slices.Contains(native, provider) }

// route gives provider/model of the gateway for a native model that goes through Coder: one whose own
// provider has no key, or any when the settings prefer Coder; what they say of the model itself comes
// first. A catalogue that is loaded has to list it. The error is why a model can't be asked.
func (c *Catalog) route(s settled, name string) (string, *ConfigError) {
	if !Native(s.id) || s.err != nil && s.err.Code != NoKey {
		return "", s.err
	}
	g, _ := c.one(coderID)
	e := g.entry
	chosen := e.ModelRoutes[s.id+":"+name]
	if g.err != nil || chosen == RouteDirect || s.err == nil && !e.Preferred && chosen != RouteCoder {
		return "", s.err
	}
	gateway := Route(e, s.id)
	id := gateway + "/" + name
	switch {
	case gateway != "" && (e.Catalog == nil || slices.Contains(e.Unlisted, gateway) || slices.Contains(e.Catalog, id)):
		return id, nil
	case chosen == RouteCoder: // another way is not what the person chose
		return "", &ConfigError{NoRoute, clip(name) + " is to go through Coder, which does not serve it. Choose another route under Settings, Models."}
	}
	return "", s.err
}

// viaCoder writes a route as people read it.
func viaCoder(route string) string { return coderID + ":" + route }

// gatewayModels are the models of the catalogue that was loaded.
func (s *settled) gatewayModels() ([]Suggestion, error) {
	if s.entry.Catalog == nil {
		return nil, &ConfigError{NoList, "Coder's catalogue is not loaded. Load it under Settings, Providers, or type provider/model."}
	}
	return tidy(s.id, each(s.entry.Catalog, func(id string) Suggestion { return Suggestion{ID: id} })), nil
}

// smallOfGateway is the model to try Coder with: a cheap one that its first provider has by all
// likelihood. "" when there is none.
func (s *settled) smallOfGateway() string {
	for _, p := range Gateways(s.entry) {
		switch p.Type {
		case "anthropic":
			return p.Name + "/claude-haiku-5-5"
		case "openai":
			return p.Name + "/gpt-6-luna"
		}
	}
	return ""
}
