// Package fakecoder is a Coder deployment for tests: its OAuth2 provider, which approves at once, and
// an AI Gateway whose models a fakewire.Server plays.
//
// It promises: a request that a real deployment would refuse (a wrong redirect, a code twice, a wrong
// verifier, a token that was renewed or revoked) is refused here too.
package fakecoder

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"carrel/agent/catalog/coder"
	"carrel/agent/model/fakewire"
)

// Deployment is a running one.
type Deployment struct {
	URL  string
	Wire *fakewire.Server // what its providers answer

	mu sync.Mutex
	state
}

// State is what a test can change by Set.
type State struct {
	Providers []coder.Provider
	Hidden    bool                // the list of providers is for administrators
	Models    map[string][]string // of each provider; one that is missing serves no list
	Broken    map[string]int      // status of a provider's list of models
	NoOAuth   bool                // nobody can log in
	Lifetime  int                 // of an access token, in seconds; 0 is an hour
	Deny      bool                // the person says no
}

type state struct {
	State
	n         int
	clients   map[string]string // redirect by client id
	codes     map[string]grant
	access    map[string]bool
	refresh   map[string]string // client by refresh token
	Refreshed int
}

type grant struct{ client, challenge, redirect string }

// New starts one that t ends.
func New(t *testing.T, script fakewire.Script) *Deployment {
	t.Helper()
	d, end := Start(fakewire.New(t, script))
	t.Cleanup(end)
	return d
}

// Start starts one whose models a server plays, until end is called.
func Start(wire *fakewire.Server) (d *Deployment, end func()) {
	d = &Deployment{Wire: wire, state: state{clients: map[string]string{}, codes: map[string]grant{},
		access: map[string]bool{}, refresh: map[string]string{}}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", d.metadata)
	mux.HandleFunc("POST /oauth2/register", d.register)
	mux.HandleFunc("DELETE /oauth2/clients/{id}", d.forget)
	mux.HandleFunc("GET /oauth2/authorize", d.authorize)
	mux.HandleFunc("POST /oauth2/tokens", d.tokens)
	mux.HandleFunc("POST /oauth2/revoke", d.revoke)
	mux.HandleFunc("GET /api/v2/ai/providers", d.authorized(d.providers))
	mux.HandleFunc("GET /api/v2/aibridge/{name}/v1/models", d.authorized(d.models))
	mux.HandleFunc("POST /api/v2/aibridge/{name}/v1/{rest...}", d.authorized(d.ask))
	s := httptest.NewServer(mux)
	d.URL = s.URL
	return d, s.Close
}

// Set changes the deployment.
func (d *Deployment) Set(change func(*State)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.State)
}

// Logins are how many access tokens are valid, Clients how many are registered, and Renewals how often
// a login was renewed.
func (d *Deployment) Logins() int  { d.mu.Lock(); defer d.mu.Unlock(); return len(d.access) }
func (d *Deployment) Clients() int { d.mu.Lock(); defer d.mu.Unlock(); return len(d.clients) }

// Renewals counts the renewals of logins.
func (d *Deployment) Renewals() int { d.mu.Lock(); defer d.mu.Unlock(); return d.Refreshed }

// Approve opens an address as the person's browser does.
func Approve(t *testing.T, address string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func (d *Deployment) metadata(w http.ResponseWriter, _ *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.NoOAuth {
		answer(w, http.StatusForbidden, map[string]string{"message": "OAuth2 provider functionality requires enabling the 'oauth2' experiment."})
		return
	}
	answer(w, http.StatusOK, map[string]string{"authorization_endpoint": d.URL + "/oauth2/authorize", "token_endpoint": d.URL + "/oauth2/tokens",
		"registration_endpoint": d.URL + "/oauth2/register", "revocation_endpoint": d.URL + "/oauth2/revoke"})
}

func (d *Deployment) register(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Redirects []string `json:"redirect_uris"`
		Method    string   `json:"token_endpoint_auth_method"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Redirects) != 1 {
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_client_metadata"})
		return
	}
	u, err := url.Parse(in.Redirects[0])
	if err != nil || u.Scheme == "http" && u.Hostname() != "127.0.0.1" && u.Hostname() != "localhost" {
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_client_metadata", "error_description": "must use https scheme for non-localhost URLs"})
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	id := fmt.Sprintf("client-%d", d.n)
	d.clients[id] = in.Redirects[0]
	answer(w, http.StatusCreated, map[string]any{"client_id": id, "client_secret": "secret-of-" + id,
		"registration_access_token": "manage-" + id, "registration_client_uri": d.URL + "/oauth2/clients/" + id})
}

func (d *Deployment) forget(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := r.PathValue("id")
	if r.Header.Get("Authorization") != "Bearer manage-"+id {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	delete(d.clients, id)
	w.WriteHeader(http.StatusNoContent)
}

func (d *Deployment) authorize(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := r.URL.Query()
	redirect := q.Get("redirect_uri")
	if d.clients[q.Get("client_id")] != redirect || redirect == "" || q.Get("code_challenge_method") != "S256" || q.Get("response_type") != "code" {
		http.Error(w, "invalid_request", http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}}
	if d.Deny {
		back.Set("error", "access_denied")
	} else {
		d.n++
		code := fmt.Sprintf("code-%d", d.n)
		d.codes[code] = grant{q.Get("client_id"), q.Get("code_challenge"), redirect}
		back.Set("code", code)
	}
	http.Redirect(w, r, redirect+"?"+back.Encode(), http.StatusFound)
}

func (d *Deployment) tokens(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := r.ParseForm(); err != nil {
		return
	}
	client := r.Form.Get("client_id")
	refuse := func(code string) { answer(w, http.StatusBadRequest, map[string]string{"error": code}) }
	if d.clients[client] == "" || r.Form.Get("client_secret") != "secret-of-"+client {
		refuse("invalid_client")
		return
	}
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		code := r.Form.Get("code")
		g, ok := d.codes[code]
		delete(d.codes, code)
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if !ok || g.client != client || g.redirect != r.Form.Get("redirect_uri") || g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			refuse("invalid_grant")
			return
		}
	case "refresh_token":
		old := r.Form.Get("refresh_token")
		if d.refresh[old] != client {
			refuse("invalid_grant")
			return
		}
		delete(d.refresh, old)
		clear(d.access) // one token per client and person
		d.Refreshed++
	default:
		refuse("unsupported_grant_type")
		return
	}
	d.n++
	access, refresh := fmt.Sprintf("access-token-%d", d.n), fmt.Sprintf("refresh-token-%d", d.n)
	d.access[access], d.refresh[refresh] = true, client
	life := d.Lifetime
	if life == 0 {
		life = 3600
	}
	answer(w, http.StatusOK, map[string]any{"access_token": access, "token_type": "Bearer", "refresh_token": refresh, "expires_in": life})
}

func (d *Deployment) revoke(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := r.ParseForm(); err != nil {
		return
	}
	delete(d.refresh, r.Form.Get("token"))
	delete(d.access, r.Form.Get("token"))
}

// authorized lets in who has a valid token.
func (d *Deployment) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		d.mu.Lock()
		ok := d.access[token]
		d.mu.Unlock()
		if !ok {
			answer(w, http.StatusUnauthorized, map[string]string{"message": "You are signed out or your session has expired. Please sign in again to continue."})
			return
		}
		next(w, r)
	}
}

func (d *Deployment) providers(w http.ResponseWriter, _ *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.Hidden {
		answer(w, http.StatusForbidden, map[string]string{"message": "Forbidden."})
		return
	}
	list := []map[string]any{}
	for _, p := range d.Providers {
		list = append(list, map[string]any{"name": p.Name, "type": p.Type, "enabled": true, "api_keys": []any{}})
	}
	list = append(list, map[string]any{"name": "off", "type": "openai", "enabled": false}, map[string]any{"name": "Odd Name", "type": "openai"})
	answer(w, http.StatusOK, list)
}

func (d *Deployment) models(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := r.PathValue("name")
	if status := d.Broken[name]; status != 0 {
		w.WriteHeader(status)
		return
	}
	ids, ok := d.Models[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	list := []map[string]string{}
	for _, id := range ids {
		list = append(list, map[string]string{"id": id})
	}
	answer(w, http.StatusOK, map[string]any{"data": list})
}

// ask hands a request on to the fake models, without the person's token.
func (d *Deployment) ask(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	known := d.Providers == nil || slices.ContainsFunc(d.Providers, func(p coder.Provider) bool { return p.Name == r.PathValue("name") })
	d.mu.Unlock()
	if !known {
		http.NotFound(w, r)
		return
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, d.Wire.URL+"/"+r.PathValue("name")+"/v1/"+r.PathValue("rest"), r.Body)
	if err != nil {
		return
	}
	out.Header = r.Header.Clone()
	resp, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = resp.Body.Close() }() // copied to its end
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body) // the client may be gone
}
