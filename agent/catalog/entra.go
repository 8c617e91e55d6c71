package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// Microsoft Entra's own values.
const (
	entraAuthority = "https://login.microsoftonline.com"
	entraScope     = "https://cognitiveservices.azure.com/.default"
	entraAnswer    = 64 << 10 // bytes of an answer that are read
	entraWait      = 30 * time.Second
)

// entra is an application that logs in at Microsoft Entra by its secret.
type entra struct{ authority, tenant, client, secret string }

// fromEntra reads the environment's AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET.
func (c *Catalog) fromEntra() (entra, bool) {
	e := entra{authority: c.lookup("AZURE_AUTHORITY_HOST"), tenant: c.lookup("AZURE_TENANT_ID"),
		client: c.lookup("AZURE_CLIENT_ID"), secret: c.lookup("AZURE_CLIENT_SECRET")}
	if e.authority == "" {
		e.authority = entraAuthority
	}
	return e, e.tenant != "" && e.client != "" && e.secret != ""
}

// entraTokens keeps tokens until they are about to end.
type entraTokens struct {
	mu   sync.Mutex // held while one is asked for: all who need it wait
	kept map[entra]entraToken
}

type entraToken struct {
	value string
	until time.Time
}

// signEntra adds the login of an application to a request.
func (c *Catalog) signEntra(e entra) signature {
	return func(ctx context.Context, req *http.Request, _ *wire.Payload) error {
		token, err := c.entraToken(ctx, e)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}

// entraToken gives a token that lasts for a while. Its error is a *model.Error, or that of ctx.
func (c *Catalog) entraToken(ctx context.Context, e entra) (string, error) {
	c.entra.mu.Lock()
	defer c.entra.mu.Unlock()
	if t := c.entra.kept[e]; time.Until(t.until) > renewEarly {
		return t.value, nil
	}
	ctx, cancel := context.WithTimeout(ctx, entraWait)
	defer cancel()
	t, err := c.askEntra(ctx, e)
	if err != nil {
		return "", err
	}
	c.entra.kept = map[entra]entraToken{e: t} // the environment names one
	return t.value, nil
}

const entraMend = "Check AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, and that the application may use the resource, then start Carrel again."

func (c *Catalog) askEntra(ctx context.Context, e entra) (entraToken, error) {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {e.client}, "client_secret": {e.secret}, "scope": {entraScope}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost,
		strings.TrimRight(e.authority, "/")+"/"+url.PathEscape(e.tenant)+"/oauth2/v2.0/token", strings.NewReader(form.Encode()))
	if err != nil {
		return entraToken{}, &model.Error{Kind: model.ErrAuth, Message: "AZURE_AUTHORITY_HOST is no address", Hint: entraMend}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return entraToken{}, ctx.Err()
		}
		_, problem, mend := unreachable(err, req.URL.Host)
		return entraToken{}, &model.Error{Kind: model.ErrNetwork, Message: "can't log in at Microsoft Entra: " + problem, Hint: mend}
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, entraAnswer))
	var said struct {
		Token       string  `json:"access_token"`
		ExpiresIn   float64 `json:"expires_in"` // seconds
		Error       string  `json:"error"`
		Description string  `json:"error_description"`
	}
	bad := json.Unmarshal(body, &said)
	switch {
	case resp.StatusCode >= 500 || err != nil:
		return entraToken{}, &model.Error{Kind: model.ErrServer, Status: resp.StatusCode, Message: fmt.Sprintf("Microsoft Entra has trouble (HTTP %d)", resp.StatusCode)}
	case bad != nil || resp.StatusCode != http.StatusOK || said.Token == "" || !sendable(said.Token):
		text, _, _ := strings.Cut(said.Description, "\n") // what follows are ids for Microsoft's support
		if text == "" {
			text = fmt.Sprintf("HTTP %d %s", resp.StatusCode, said.Error)
		}
		text = strings.ReplaceAll(clip(strings.TrimSpace(text)), e.secret, "[key]")
		return entraToken{}, &model.Error{Kind: model.ErrAuth, Status: resp.StatusCode, Message: "no login at Microsoft Entra: " + text, Hint: entraMend}
	}
	return entraToken{said.Token, time.Now().Add(time.Duration(min(said.ExpiresIn, 86400)) * time.Second)}, nil
}
