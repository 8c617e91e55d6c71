// Package coder talks to a Coder deployment: it logs in (dynamic client registration, an
// authorization code with PKCE), renews and revokes tokens, and asks the deployment's AI Gateway for
// its providers and their models.
//
// It promises: tokens and secrets go to the deployment alone, over its own addresses, and are in no
// error; whatever a deployment sends is bounded.
package coder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Bounds of what a deployment may send, and how long it may take.
const (
	callTime  = 20 * time.Second
	maxAnswer = 16 << 20 // bytes
)

// gatewayPath is where the AI Gateway is.
const gatewayPath = "/api/v2/aibridge"

// Deployment is one that can be asked.
type Deployment struct {
	// URL is its address, as Parse gives it.
	URL  string
	HTTP *http.Client
}

// New gives the deployment at an address as Parse gives it.
func New(address string) Deployment {
	return Deployment{URL: address, HTTP: &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, TLSHandshakeTimeout: callTime},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Parse reads an address that a person typed, such as https://coder.example.com.
func Parse(text string) (string, error) {
	text = strings.TrimRight(strings.TrimSpace(text), "/")
	if text != "" && !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("the deployment's address must be like https://coder.example.com")
	case u.User != nil || strings.ContainsAny(text, "?#"):
		return "", errors.New("the deployment's address must not hold a name, a password, ? or #")
	}
	return text, nil
}

// Gateway is the address of one of the gateway's providers, without the version.
func (d Deployment) Gateway(provider string) string {
	return d.URL + gatewayPath + "/" + url.PathEscape(provider)
}

// Error is a request that a deployment did not grant. Message is a sentence for people.
type Error struct {
	Message string
	Status  int  // of HTTP; 0 without an answer
	Ended   bool // the login has ended: only a new one helps
	Cause   error
}

// Error gives the message.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// call asks for a JSON document and reads it into v, if that is not nil.
func (d Deployment) call(ctx context.Context, method, address, token string, body io.Reader, v any) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return &Error{Message: "The deployment's address is not a URL."}
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "carrel")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := d.HTTP.Do(req)
	if err != nil {
		return d.unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }() // it is read to its end or given up
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case resp.StatusCode/100 != 2:
		return &Error{Message: fmt.Sprintf("Coder answers HTTP %d %s.", resp.StatusCode, http.StatusText(resp.StatusCode)), Status: resp.StatusCode,
			Ended: token != "" && resp.StatusCode == http.StatusUnauthorized}
	case err != nil || len(text) > maxAnswer:
		return &Error{Message: "Coder's answer broke off or is too long. Try again.", Status: resp.StatusCode, Cause: err}
	case v == nil:
		return nil
	}
	if err := json.Unmarshal(text, v); err != nil {
		return &Error{Message: "What answers at " + d.host() + " is no Coder deployment. Check its address.", Status: resp.StatusCode, Cause: err}
	}
	return nil
}

func (d Deployment) unreachable(err error) error {
	return &Error{Message: "Coder can't be reached at " + d.host() + ". Check the address and the network.", Cause: err}
}

func (d Deployment) host() string {
	if u, err := url.Parse(d.URL); err == nil {
		return u.Host
	}
	return "the deployment"
}

// status is the HTTP status of an error, 0 for any other.
func status(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}
