package coder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
)

// Client is what a deployment knows this program by.
type Client struct {
	ID, Secret string
	// Address and Token are for taking the client back; "" where the deployment gives none.
	Address, Token string
}

// Token is a login.
type Token struct {
	Access, Refresh string
	Expires         time.Time // zero: never
}

// metadata says where a deployment's OAuth2 provider is.
type metadata struct {
	Authorize string `json:"authorization_endpoint"`
	Token     string `json:"token_endpoint"`
	Register  string `json:"registration_endpoint"`
	Revoke    string `json:"revocation_endpoint"`
}

// errNoProvider is the error of a deployment that lets nobody log in.
func errNoProvider() error {
	return &Error{Message: "This deployment lets no program log in. Its administrator has to start it with --experiments=oauth2."}
}

// metadata asks where the OAuth2 provider is. Nothing is sent elsewhere than to the deployment itself.
func (d Deployment) metadata(ctx context.Context) (metadata, error) {
	var m metadata
	err := d.call(ctx, http.MethodGet, d.URL+"/.well-known/oauth-authorization-server", "", nil, &m)
	switch {
	case status(err) == http.StatusNotFound, status(err) == http.StatusForbidden, err == nil && m.Register == "":
		return m, errNoProvider()
	case err != nil:
		return m, err
	}
	for _, address := range []string{m.Authorize, m.Token, m.Register, m.Revoke} {
		if u, err := url.Parse(address); address != "" && (err != nil || u.Host != d.host()) {
			return m, &Error{Message: "The deployment names itself otherwise. Log in at the address that it is known by, that of " + cut(address) + "."}
		}
	}
	if m.Authorize == "" || m.Token == "" {
		return m, errNoProvider()
	}
	return m, nil
}

// cut bounds a text that a deployment sent.
func cut(s string) string {
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return s
}

// Login is one that a person has to approve in the browser.
type Login struct {
	Address  string // to open in the browser
	State    string // that comes back with the code
	Client   Client
	config   oauth2.Config
	verifier string
}

// Begin registers this program as a client whose callback is redirect, and gives what has to be
// approved.
func (d Deployment) Begin(ctx context.Context, redirect string) (*Login, error) {
	m, err := d.metadata(ctx)
	if err != nil {
		return nil, err
	}
	c, err := d.register(ctx, m.Register, redirect)
	if err != nil {
		return nil, err
	}
	l := &Login{Client: c, State: oauth2.GenerateVerifier(), verifier: oauth2.GenerateVerifier(), config: d.config(m, c)}
	l.config.RedirectURL = redirect
	l.Address = l.config.AuthCodeURL(l.State, oauth2.S256ChallengeOption(l.verifier))
	return l, nil
}

func (d Deployment) config(m metadata, c Client) oauth2.Config {
	return oauth2.Config{ClientID: c.ID, ClientSecret: c.Secret,
		Endpoint: oauth2.Endpoint{AuthURL: m.Authorize, TokenURL: m.Token, AuthStyle: oauth2.AuthStyleInParams}}
}

// register makes a client (RFC 7591).
func (d Deployment) register(ctx context.Context, address, redirect string) (Client, error) {
	body, err := json.Marshal(map[string]any{"client_name": "Carrel", "redirect_uris": []string{redirect},
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
		"token_endpoint_auth_method": "client_secret_post"})
	if err != nil {
		return Client{}, err
	}
	var got struct {
		ID      string `json:"client_id"`
		Secret  string `json:"client_secret"`
		Token   string `json:"registration_access_token"`
		Address string `json:"registration_client_uri"`
	}
	err = d.call(ctx, http.MethodPost, address, "", bytes.NewReader(body), &got)
	switch {
	case status(err) == http.StatusBadRequest:
		return Client{}, &Error{Message: "Coder does not accept the callback address. A server that is not on this machine has to be reached over HTTPS.", Status: 400}
	case status(err)/100 == 4:
		return Client{}, errNoProvider()
	case err != nil:
		return Client{}, err
	case got.ID == "":
		return Client{}, &Error{Message: "Coder gave no client. Try again."}
	}
	if u, err := url.Parse(got.Address); err != nil || u.Host != d.host() {
		got.Address = ""
	}
	return Client{ID: got.ID, Secret: got.Secret, Address: got.Address, Token: got.Token}, nil
}

// Finish trades the code that came back for a token.
func (d Deployment) Finish(ctx context.Context, l *Login, code string) (Token, error) {
	ctx, cancel := d.within(ctx)
	defer cancel()
	t, err := l.config.Exchange(ctx, code, oauth2.VerifierOption(l.verifier))
	if err != nil {
		return Token{}, d.refused(err, "Coder did not accept the login. Try again.")
	}
	return Token{Access: t.AccessToken, Refresh: t.RefreshToken, Expires: t.Expiry}, nil
}

// Refresh renews a login. The old token is of no use then.
func (d Deployment) Refresh(ctx context.Context, c Client, refresh string) (Token, error) {
	ctx, cancel := d.within(ctx)
	defer cancel()
	m, err := d.metadata(ctx)
	if err != nil {
		return Token{}, err
	}
	config := d.config(m, c)
	t, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: refresh}).Token()
	if err != nil {
		return Token{}, d.refused(err, "The login at Coder has ended. Log in again under Settings, Providers.")
	}
	return Token{Access: t.AccessToken, Refresh: t.RefreshToken, Expires: t.Expiry}, nil
}

func (d Deployment) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, d.HTTP), callTime)
}

// refused tells a refusal, for which text is said, from a deployment that can't be reached. The
// library's own text could hold what was sent.
func (d Deployment) refused(err error, text string) error {
	var r *oauth2.RetrieveError
	if !errors.As(err, &r) {
		var network *url.Error
		if errors.As(err, &network) {
			return d.unreachable(network)
		}
		return &Error{Message: text}
	}
	e := &Error{Message: text}
	if r.Response != nil {
		e.Status = r.Response.StatusCode
	}
	e.Ended = e.Status/100 == 4
	if e.Status/100 == 5 {
		e.Message = "Coder answers with an error of its own. Try again in a few minutes."
	}
	return e
}

// End revokes a login and takes the client back, as far as the deployment has a way to.
func (d Deployment) End(ctx context.Context, c Client, t Token) error {
	m, err := d.metadata(ctx)
	if err != nil {
		return err
	}
	if m.Revoke != "" {
		for _, token := range []string{t.Refresh, t.Access} {
			if err = errors.Join(err, d.revoke(ctx, m.Revoke, c, token)); err != nil {
				break
			}
		}
	}
	if c.Address != "" && c.Token != "" {
		err = errors.Join(err, d.call(ctx, http.MethodDelete, c.Address, c.Token, nil, nil))
	}
	return err
}

// revoke takes a token back (RFC 7009).
func (d Deployment) revoke(ctx context.Context, address string, c Client, token string) error {
	if token == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	form := url.Values{"token": {token}, "client_id": {c.ID}, "client_secret": {c.Secret}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewBufferString(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := d.HTTP.Do(req)
	if err != nil {
		return d.unreachable(err)
	}
	_ = resp.Body.Close() // nothing of it is read
	if resp.StatusCode/100 != 2 {
		return &Error{Message: "Coder did not take the login back.", Status: resp.StatusCode}
	}
	return nil
}
