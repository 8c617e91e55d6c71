package awsauth

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// token is what `aws sso login` leaves below ~/.aws/sso/cache.
type token struct {
	AccessToken   string    `json:"accessToken"`
	ExpiresAt     time.Time `json:"expiresAt"`
	RefreshToken  string    `json:"refreshToken,omitempty"`
	ClientID      string    `json:"clientId,omitempty"`
	ClientSecret  string    `json:"clientSecret,omitempty"`
	ClientExpires time.Time `json:"registrationExpiresAt,omitzero"`
	Region        string    `json:"region,omitempty"`
	StartURL      string    `json:"startUrl,omitempty"`
}

// sso gives the credentials of a profile that logs in at an identity centre.
func (c chain) sso(ctx context.Context, f files, name string, p section) (aws.Credentials, error) {
	cacheName, region := p["sso_start_url"], p["sso_region"]
	if session := p["sso_session"]; session != "" {
		s, ok := f.sessions[session]
		if !ok {
			return aws.Credentials{}, fmt.Errorf("profile %q: there is no sso-session %q", name, session)
		}
		cacheName, region = session, s["sso_region"]
	}
	if region == "" || p["sso_account_id"] == "" || p["sso_role_name"] == "" {
		return aws.Credentials{}, fmt.Errorf("profile %q lacks sso_region, sso_account_id or sso_role_name", name)
	}
	t, err := c.token(ctx, cacheName, region)
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("profile %q: %w; run `aws sso login --profile %s`", name, err, name)
	}
	address := c.service("AWS_ENDPOINT_URL_SSO", "portal.sso", region) + "/federation/credentials?" +
		url.Values{"account_id": {p["sso_account_id"]}, "role_name": {p["sso_role_name"]}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return aws.Credentials{}, errors.New("sso_region is no region")
	}
	req.Header.Set("X-Amz-Sso_bearer_token", t.AccessToken)
	var got struct {
		Role struct {
			ID         string `json:"accessKeyId"`
			Secret     string `json:"secretAccessKey"`
			Token      string `json:"sessionToken"`
			Expiration int64  `json:"expiration"` // ms since 1970
		} `json:"roleCredentials"`
	}
	status, body, err := c.call(req)
	switch {
	case err != nil:
		return aws.Credentials{}, err
	case status == http.StatusUnauthorized:
		return aws.Credentials{}, fmt.Errorf("profile %q: the login has expired; run `aws sso login --profile %s`", name, name)
	case status != http.StatusOK || json.Unmarshal(body, &got) != nil || got.Role.ID == "":
		return aws.Credentials{}, fmt.Errorf("profile %q: no credentials for the role %q in the account (HTTP %d)", name, p["sso_role_name"], status)
	}
	return aws.Credentials{AccessKeyID: got.Role.ID, SecretAccessKey: got.Role.Secret, SessionToken: got.Role.Token, CanExpire: true,
		Expires: time.UnixMilli(got.Role.Expiration), Source: "sso"}, nil
}

// token reads a login and renews it when it is about to end.
func (c chain) token(ctx context.Context, name, region string) (token, error) {
	sum := sha1.Sum([]byte(name))
	path := filepath.Join(c.Env("HOME"), ".aws", "sso", "cache", hex.EncodeToString(sum[:])+".json")
	raw, err := os.ReadFile(path)
	if err != nil {
		return token{}, errors.New("nobody is logged in")
	}
	var t token
	if json.Unmarshal(raw, &t) != nil || t.AccessToken == "" {
		return token{}, errors.New("the login is unreadable")
	}
	left := time.Until(t.ExpiresAt)
	if left > 5*time.Minute {
		return t, nil
	}
	err = c.renew(ctx, &t, region)
	switch {
	case err == nil:
		keep(path, raw, t)
		return t, nil
	case left > 0:
		return t, nil
	}
	return token{}, errors.New("the login has expired")
}

func (c chain) renew(ctx context.Context, t *token, region string) error {
	if t.RefreshToken == "" || t.ClientID == "" || time.Now().After(t.ClientExpires) {
		return errors.New("the login can't be renewed")
	}
	body, err := json.Marshal(map[string]string{"clientId": t.ClientID, "clientSecret": t.ClientSecret,
		"grantType": "refresh_token", "refreshToken": t.RefreshToken})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.service("AWS_ENDPOINT_URL_SSO_OIDC", "oidc", region)+"/token", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	status, answer, err := c.call(req)
	var got struct {
		AccessToken  string `json:"accessToken"`
		RefreshToken string `json:"refreshToken"`
		ExpiresIn    int64  `json:"expiresIn"` // seconds
	}
	if err != nil || status != http.StatusOK || json.Unmarshal(answer, &got) != nil || got.AccessToken == "" {
		return errors.New("the login can't be renewed")
	}
	t.AccessToken, t.ExpiresAt = got.AccessToken, time.Now().Add(time.Duration(got.ExpiresIn)*time.Second).UTC().Truncate(time.Second)
	if got.RefreshToken != "" {
		t.RefreshToken = got.RefreshToken
	}
	return nil
}

// keep writes a renewed login back, with whatever else was in its file, so that AWS's own tools go on
// with it. When that fails the login is renewed again the next time.
func keep(path string, raw []byte, t token) {
	all := map[string]any{}
	now, err := json.Marshal(t)
	if err != nil || json.Unmarshal(raw, &all) != nil || json.Unmarshal(now, &all) != nil {
		return
	}
	out, err := json.Marshal(all)
	if err != nil {
		return
	}
	next, err := os.CreateTemp(filepath.Dir(path), ".carrel-*") // mode 0600
	if err != nil {
		return
	}
	_, err = next.Write(out)
	if closed := next.Close(); err != nil || closed != nil || os.Rename(next.Name(), path) != nil {
		_ = os.Remove(next.Name()) // nothing is lost
	}
}

// service is the address of one of AWS's services, or what the environment says instead.
func (c chain) service(variable, name, region string) string {
	if own := c.Env(variable); own != "" {
		return own
	}
	domain := ".amazonaws.com"
	if len(region) > 3 && region[:3] == "cn-" {
		domain += ".cn"
	}
	return "https://" + name + "." + region + domain
}

// call sends a request and reads what it brings, up to 1 MiB.
func (c chain) call(req *http.Request) (status int, body []byte, err error) {
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("can't reach %s", req.URL.Host)
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	body, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return 0, nil, fmt.Errorf("%s broke off", req.URL.Host)
	}
	return resp.StatusCode, body, nil
}
