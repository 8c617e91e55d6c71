// Package awsauth finds AWS credentials where AWS's own tools do: the environment, the files below
// ~/.aws with profiles, SSO, roles and processes, the container, and the machine.
//
// It promises the order of AWS's SDK. It is not the SDK's package config because that costs every
// start of the program 0.8 ms, as much as starting a program at all; what of the SDK costs nothing
// (containers, machines, processes, the cache) is used. Errors hold no secret.
package awsauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Options says where to look.
type Options struct {
	Env     func(string) string // environment variables; HOME among them
	Profile string              // comes before keys in the environment; "" is AWS_PROFILE, then default
	Region  string              // for the services that give credentials, where the profile has none
	HTTP    *http.Client        // for them; nil is one of its own
}

// New gives the credentials that are found at each time they are asked for. They are kept while they
// are valid; those that are in a file, for a minute.
func New(o Options) aws.CredentialsProvider {
	if o.HTTP == nil {
		o.HTTP = &http.Client{Timeout: callTime}
	}
	return aws.NewCredentialsCache(chain{o}, func(c *aws.CredentialsCacheOptions) { c.ExpiryWindow = early })
}

// How long a call for credentials may take, how long before their end they are renewed, and how long
// those of a file are kept.
const (
	callTime = 15 * time.Second
	early    = time.Minute
	fileKept = 2 * time.Minute // a minute of it is early
)

type chain struct{ Options }

// Retrieve looks in the order of AWS's SDK.
func (c chain) Retrieve(ctx context.Context) (aws.Credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*callTime)
	defer cancel()
	if c.Profile == "" {
		if id, secret := c.Env("AWS_ACCESS_KEY_ID"), c.Env("AWS_SECRET_ACCESS_KEY"); id != "" && secret != "" {
			return aws.Credentials{AccessKeyID: id, SecretAccessKey: secret, SessionToken: c.Env("AWS_SESSION_TOKEN"), Source: "environment"}, nil
		}
		if file, role := c.Env("AWS_WEB_IDENTITY_TOKEN_FILE"), c.Env("AWS_ROLE_ARN"); file != "" && role != "" {
			return c.webIdentity(ctx, c.region(nil), role, file, c.Env("AWS_ROLE_SESSION_NAME"))
		}
	}
	files, err := c.load()
	if err != nil {
		return aws.Credentials{}, err
	}
	name, chosen := c.profile()
	p, ok := files.profiles[name]
	switch {
	case ok:
		found, err := c.fromProfile(ctx, files, name, p, nil)
		if !errors.Is(err, errNothing) {
			return found, err
		}
	case chosen:
		return aws.Credentials{}, fmt.Errorf("there is no profile %q in ~/.aws/config", name)
	}
	return c.fromMachine(ctx)
}

// profile is the name of the profile, and whether somebody chose it.
func (c chain) profile() (name string, chosen bool) {
	for _, name := range []string{c.Profile, c.Env("AWS_PROFILE"), c.Env("AWS_DEFAULT_PROFILE")} {
		if name != "" {
			return name, true
		}
	}
	return "default", false
}

// region is that of a profile, of the environment or of the options.
func (c chain) region(p section) string {
	for _, r := range []string{p["region"], c.Env("AWS_REGION"), c.Env("AWS_DEFAULT_REGION"), c.Region} {
		if r != "" {
			return r
		}
	}
	return "us-east-1"
}

// errNothing is the error of a profile that says nothing of credentials.
var errNothing = errors.New("the profile has no credentials")

// maxRoles is how many roles may stand behind each other.
const maxRoles = 5

// fromProfile gives the credentials of a profile. seen are the profiles that lead to it.
func (c chain) fromProfile(ctx context.Context, f files, name string, p section, seen []string) (aws.Credentials, error) {
	if len(seen) > maxRoles {
		return aws.Credentials{}, fmt.Errorf("profile %q: too many roles behind each other", name)
	}
	static := p["aws_access_key_id"] != "" && p["aws_secret_access_key"] != ""
	switch {
	case p["role_arn"] != "" && p["web_identity_token_file"] != "":
		return c.webIdentity(ctx, c.region(p), p["role_arn"], p["web_identity_token_file"], p["role_session_name"])
	case p["role_arn"] != "" && (p["source_profile"] != "" || p["credential_source"] != ""):
		from, err := c.behind(ctx, f, name, p, seen)
		if err != nil {
			return from, err
		}
		return c.assumeRole(ctx, c.region(p), p, from)
	case static:
		return aws.Credentials{AccessKeyID: p["aws_access_key_id"], SecretAccessKey: p["aws_secret_access_key"],
			SessionToken: p["aws_session_token"], CanExpire: true, Expires: time.Now().Add(fileKept), Source: "profile " + name}, nil
	case p["sso_account_id"] != "" || p["sso_session"] != "":
		return c.sso(ctx, f, name, p)
	case p["credential_process"] != "":
		return c.process(ctx, p["credential_process"])
	case p["login_session"] != "": // aws login
		return c.exported(ctx, name)
	}
	return aws.Credentials{}, errNothing
}

// behind gives the credentials that may take on the role of a profile.
func (c chain) behind(ctx context.Context, f files, name string, p section, seen []string) (aws.Credentials, error) {
	switch p["credential_source"] {
	case "Environment":
		return aws.Credentials{AccessKeyID: c.Env("AWS_ACCESS_KEY_ID"), SecretAccessKey: c.Env("AWS_SECRET_ACCESS_KEY"),
			SessionToken: c.Env("AWS_SESSION_TOKEN"), Source: "environment"}, nil
	case "EcsContainer", "Ec2InstanceMetadata":
		return c.fromMachine(ctx)
	}
	source := p["source_profile"]
	q, ok := f.profiles[source]
	if !ok {
		return aws.Credentials{}, fmt.Errorf("profile %q: there is no source_profile %q", name, source)
	}
	if source == name { // its own keys are meant
		q = section{"aws_access_key_id": q["aws_access_key_id"], "aws_secret_access_key": q["aws_secret_access_key"],
			"aws_session_token": q["aws_session_token"], "credential_process": q["credential_process"]}
	}
	got, err := c.fromProfile(ctx, f, source, q, append(seen, name))
	if errors.Is(err, errNothing) {
		return got, fmt.Errorf("profile %q: its source_profile %q has no credentials", name, source)
	}
	return got, err
}

// unproxied reaches what is only on this machine's own network.
func unproxied() *http.Client {
	return &http.Client{Timeout: callTime, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: (&net.Dialer{Timeout: time.Second}).DialContext}}
}
