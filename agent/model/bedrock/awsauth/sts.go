package awsauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// assumeRole takes on the role of a profile with other credentials.
func (c chain) assumeRole(ctx context.Context, region string, p section, from aws.Credentials) (aws.Credentials, error) {
	if p["mfa_serial"] != "" {
		return aws.Credentials{}, errors.New("the role wants a second factor, which can't be asked for here; use a profile without mfa_serial")
	}
	form := url.Values{"Action": {"AssumeRole"}, "RoleArn": {p["role_arn"]}, "RoleSessionName": {sessionName(p["role_session_name"])}}
	if id := p["external_id"]; id != "" {
		form.Set("ExternalId", id)
	}
	if n, err := strconv.Atoi(p["duration_seconds"]); err == nil {
		form.Set("DurationSeconds", strconv.Itoa(n))
	}
	return c.sts(ctx, region, form, &from)
}

// webIdentity takes on a role with a token that a cluster puts into a file.
func (c chain) webIdentity(ctx context.Context, region, role, file, session string) (aws.Credentials, error) {
	raw, err := os.ReadFile(c.home(file))
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("read the web identity token: %w", err)
	}
	return c.sts(ctx, region, url.Values{"Action": {"AssumeRoleWithWebIdentity"}, "RoleArn": {role},
		"RoleSessionName": {sessionName(session)}, "WebIdentityToken": {strings.TrimSpace(string(raw))}}, nil)
}

func sessionName(name string) string {
	if name == "" {
		return "carrel-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	}
	return name
}

// sts asks for a role; from, when not nil, signs.
func (c chain) sts(ctx context.Context, region string, form url.Values, from *aws.Credentials) (aws.Credentials, error) {
	form.Set("Version", "2011-06-15")
	body := form.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.service("AWS_ENDPOINT_URL_STS", "sts", region)+"/", strings.NewReader(body))
	if err != nil {
		return aws.Credentials{}, errors.New("the region of the role is no region")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	if from != nil {
		sum := sha256.Sum256([]byte(body))
		if err := v4.NewSigner().SignHTTP(ctx, *from, req, hex.EncodeToString(sum[:]), "sts", region, time.Now()); err != nil {
			return aws.Credentials{}, errors.New("the request for the role can't be signed")
		}
	}
	status, answer, err := c.call(req)
	if err != nil {
		return aws.Credentials{}, err
	}
	return readRole(form.Get("RoleArn"), status, answer)
}

// readRole reads the answer to either request, which is XML of five plain values. (Package
// encoding/xml costs every start of the program 0.05 ms.)
func readRole(role string, status int, answer []byte) (aws.Credentials, error) {
	if status != http.StatusOK {
		return aws.Credentials{}, fmt.Errorf("the role %q is not given: HTTP %d %s", role, status, value(answer, "Code"))
	}
	got := aws.Credentials{AccessKeyID: value(answer, "AccessKeyId"), SecretAccessKey: value(answer, "SecretAccessKey"),
		SessionToken: value(answer, "SessionToken"), CanExpire: true, Source: "sts"}
	expires, err := time.Parse(time.RFC3339, value(answer, "Expiration"))
	if got.AccessKeyID == "" || got.SecretAccessKey == "" || err != nil {
		return aws.Credentials{}, fmt.Errorf("the role %q comes without credentials", role)
	}
	got.Expires = expires
	return got, nil
}

// value is the text of the first element of that name, up to 8 KiB.
func value(doc []byte, name string) string {
	_, rest, ok := strings.Cut(string(doc), "<"+name+">")
	text, _, closed := strings.Cut(rest, "</"+name+">")
	if !ok || !closed || len(text) > 8<<10 {
		return ""
	}
	return html.UnescapeString(strings.TrimSpace(text))
}
