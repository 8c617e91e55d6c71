package catalog

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"

	"carrel/agent/model"
	"carrel/agent/model/bedrock"
	"carrel/agent/model/bedrock/awsauth"
)

// bedrockService is the service that runs models, and bedrockControl the one that lists them.
const (
	bedrockService = "bedrock-runtime"
	bedrockControl = "bedrock"
)

// bedrock finds the region and the credentials, and whether the provider is meant to be used.
func (s *settled) bedrock(c *Catalog, has bool) {
	s.region = s.entry.Region
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if s.region == "" {
			s.region = c.lookup(name)
		}
	}
	if s.entry.BearerToken != "" && (s.key.value == "" || s.key.source == "AWS_BEARER_TOKEN_BEDROCK") {
		s.key = key{value: strings.TrimSpace(s.entry.BearerToken), source: "settings"}
	}
	switch {
	case s.region == "" && !has && s.key.value == "":
		s.fail(&ConfigError{NoKey, "Bedrock is not set up. Name its region under \"bedrock\" in providers.jsonc, or set AWS_REGION."})
		return
	case s.region == "":
		s.fail(&ConfigError{NoRegion, "Bedrock has no region. Set \"region\" under \"bedrock\" in providers.jsonc, such as us-east-1, or set AWS_REGION."})
		return
	case !customID.MatchString(s.region):
		s.fail(bad(BadProvider, s.id, "region must be like us-east-1, not %q.", clip(s.region)))
		return
	case (s.entry.AccessKeyID == "") != (s.entry.SecretAccessKey == ""):
		s.fail(bad(BadKey, s.id, "accessKeyId and secretAccessKey go together. Set both or neither."))
		return
	case !sendable(s.key.value) || !sendable(s.entry.AccessKeyID) || !sendable(s.entry.SessionToken):
		s.fail(bad(BadKey, s.id, "a key has characters that can't be sent. Copy it again, on one line."))
		return
	}
	if s.base == "" {
		s.base = bedrock.Host(bedrockService, s.region)
	}
	switch e := s.entry; {
	case s.key.value != "":
	case e.AccessKeyID != "":
		s.key.source = "settings"
		given := aws.Credentials{AccessKeyID: e.AccessKeyID, SecretAccessKey: e.SecretAccessKey, SessionToken: e.SessionToken, Source: "settings"}
		s.aws = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return given, nil })
	default:
		s.aws = c.chains.of(c, e.Profile, s.region)
	}
}

// chains keeps what was found of AWS credentials, so that a login is not asked for each request.
type chains struct {
	mu   sync.Mutex
	kept map[string]aws.CredentialsProvider // by profile and region
}

// maxChains is how many are kept: settings change now and then.
const maxChains = 16

func (k *chains) of(c *Catalog, profile, region string) aws.CredentialsProvider {
	k.mu.Lock()
	defer k.mu.Unlock()
	name := profile + "\n" + region
	if p := k.kept[name]; p != nil {
		return p
	}
	if k.kept == nil || len(k.kept) >= maxChains {
		k.kept = map[string]aws.CredentialsProvider{}
	}
	k.kept[name] = awsauth.New(awsauth.Options{Env: c.lookup, Profile: profile, Region: region})
	return k.kept[name]
}

// smallAtBedrock is the model to try Bedrock with, of those that it lists: a small one that needs no
// agreement with its maker, if there is one.
func smallAtBedrock(list []Suggestion) string {
	for _, word := range []string{"amazon.nova-micro", "amazon.nova-lite", "claude-haiku"} {
		i := slices.IndexFunc(list, func(l Suggestion) bool { return strings.Contains(l.ID, word) })
		if i >= 0 {
			return list[i].ID
		}
	}
	return list[0].ID
}

// controlPlane is where Bedrock's models are listed.
func (s *settled) controlPlane(c *Catalog) string {
	switch own := c.lookup("AWS_ENDPOINT_URL_BEDROCK"); {
	case own != "":
		return strings.TrimRight(own, "/")
	case s.base != bedrock.Host(bedrockService, s.region):
		return strings.TrimRight(s.base, "/") // a gateway
	}
	return bedrock.Host(bedrockControl, s.region)
}

// unsigned is the error of a list for which there were no credentials.
func unsigned(s settled, err error) error {
	text := "the request can't be signed"
	var e *model.Error
	if errors.As(err, &e) {
		text = e.Message
	}
	return &ListError{Message: s.name + " can't be asked: " + sentence(text), Status: http.StatusUnauthorized, Cause: err}
}
