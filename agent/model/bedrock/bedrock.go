// Package bedrock asks the models of Amazon Bedrock: Claude in Anthropic's format
// (invoke-with-response-stream), all others in Bedrock's own (converse-stream), both in frames of
// AWS's event stream.
//
// It promises what package wire does, and: a frame that arrives damaged or cut is a failure of the
// network, never a response; a request carries a bearer token or is signed (Signature Version 4),
// and neither a secret key nor a session token is in an error.
package bedrock

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// Options says how to reach Bedrock.
type Options struct {
	Region  string // such as us-east-1; an ARN as the model's id has its own
	BaseURL string // another endpoint than the region's; "" is that
	// Bearer is an API key of Bedrock. Without one requests are signed with Credentials.
	Bearer      string
	Credentials aws.CredentialsProvider
	// Claude is Anthropic's format, in which a Claude is asked (see IsClaude); nil is Bedrock's own.
	Claude Messages
	// Like is the id of the model that is behind an ARN which does not say it; "" is unknown.
	Like     string
	Header   http.Header // further headers
	Provider string      // id of the provider; reasoning is not sent to another one
	HTTP     *http.Client
	Cache    *wire.Cache   // share one; nil is one of its own
	Idle     time.Duration // see wire.Client.Idle
}

// Messages is Anthropic's format.
type Messages interface {
	wire.Format
	wire.Trimmer
}

// IsClaude reports whether a model's id is that of a Claude, of which Bedrock takes Anthropic's own
// format. The ARN of a profile of one's own does not say.
func IsClaude(id string) bool { return strings.Contains(id, "anthropic.claude") }

// Named is the model's id in an ARN, as far as that says it, such as us.anthropic.claude-opus-4-6-v1 in
// arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1. Any other id
// is itself.
func Named(id string) string {
	parts := strings.SplitN(id, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" {
		return id
	}
	_, name, _ := strings.Cut(parts[5], "/")
	name, _, _ = strings.Cut(name, "/") // a customised model's own name follows
	return name
}

var regionName = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}$`)

// New makes a client. It fails when Region or BaseURL is unusable.
func New(o Options) (*wire.Client, error) {
	if o.Cache == nil {
		o.Cache = wire.NewCache()
	}
	if o.BaseURL != "" {
		if err := checkBase(o.BaseURL); err != nil {
			return nil, err
		}
	} else if !regionName.MatchString(o.Region) {
		return nil, fmt.Errorf("region must be like us-east-1, not %q", o.Region)
	}
	h := http.Header{}
	if o.Bearer != "" {
		h.Set("Authorization", "Bearer "+o.Bearer)
	}
	wire.Overlay(h, o.Header)
	c := &wire.Client{
		URL:      o.base(o.Region),
		Format:   converse{o.Like},
		Endpoint: func(r *model.Request) string { return o.address(r.Model, "converse-stream") },
		Provider: o.Provider,
		Header:   h,
		Secrets:  wire.Secrets(o.Header, o.Bearer),
		HTTP:     o.HTTP,
		Cache:    o.Cache,
		Idle:     o.Idle,
	}
	if o.Claude != nil {
		c.Format = claude{o.Claude}
		c.Endpoint = func(r *model.Request) string { return o.address(r.Model, "invoke-with-response-stream") }
	}
	if o.Bearer == "" && h.Get("Authorization") == "" {
		signer := v4.NewSigner() // it keeps the day's key
		c.Sign = func(ctx context.Context, req *http.Request, body *wire.Payload) error {
			return sign(ctx, signer, o.Credentials, o.regionOf(req.URL), req, body)
		}
	}
	return c, nil
}

func checkBase(base string) error {
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("base URL must be like https://bedrock-runtime.us-east-1.amazonaws.com")
	case u.User != nil || strings.ContainsAny(base, "?#"):
		return errors.New("base URL must not hold a name, a password, a query string or a fragment")
	}
	return nil
}

// Host is the endpoint of one of AWS's services in a region.
func Host(service, region string) string {
	domain := "amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		domain = "amazonaws.com.cn"
	}
	return "https://" + service + "." + region + "." + domain
}

func (o Options) base(region string) string {
	if o.BaseURL != "" {
		return strings.TrimRight(o.BaseURL, "/")
	}
	return Host("bedrock-runtime", region)
}

// address is where a model is asked. The name is one segment of the path, also when it is an ARN.
func (o Options) address(id, action string) string {
	region := o.Region
	if r := arnRegion(id); r != "" {
		region = r
	}
	return o.base(region) + "/model/" + segment(id) + "/" + action
}

// segment escapes a name as AWS does: all but letters, digits and -._~.
func segment(id string) string {
	return strings.NewReplacer("+", "%20", "%7E", "~").Replace(url.QueryEscape(id))
}

// arnRegion is the region in an ARN, "" in anything else.
func arnRegion(id string) string {
	parts := strings.Split(id, ":")
	if len(parts) < 6 || parts[0] != "arn" || !regionName.MatchString(parts[3]) {
		return ""
	}
	return parts[3]
}

// regionOf is the region that a request is signed for: that of its address, or the one that is set.
func (o Options) regionOf(u *url.URL) string {
	if parts := strings.Split(u.Hostname(), "."); len(parts) > 2 && parts[0] == "bedrock-runtime" {
		return parts[1]
	}
	return o.Region
}

// Sign signs a request without a body to Bedrock. Its error is a *model.Error of kind auth, or that of ctx.
func Sign(ctx context.Context, from aws.CredentialsProvider, region string, req *http.Request) error {
	return sign(ctx, v4.NewSigner(), from, region, req, new(wire.Payload))
}

func sign(ctx context.Context, signer *v4.Signer, from aws.CredentialsProvider, region string, req *http.Request, body *wire.Payload) error {
	if from == nil {
		return &model.Error{Kind: model.ErrAuth, Message: "Bedrock has no credentials", Hint: noCredentials}
	}
	c, err := from.Retrieve(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return &model.Error{Kind: model.ErrAuth, Message: "no AWS credentials: " + err.Error(), Hint: noCredentials, Cause: err}
	}
	sum := body.SHA256()
	return signer.SignHTTP(ctx, c, req, hex.EncodeToString(sum[:]), "bedrock", region, time.Now())
}

const noCredentials = "Log in with `aws sso login`, or set bearerToken, or accessKeyId and secretAccessKey, under \"bedrock\" in providers.jsonc."
