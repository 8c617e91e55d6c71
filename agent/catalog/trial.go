package catalog

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// TestResult is what came of asking a provider something small.
type TestResult struct {
	OK      bool
	Problem string // what is wrong, a sentence; "" when OK
	Mend    string // how to mend it, a sentence
	Code    string // of the problem, such as "dns", "auth" or a ConfigError's; "" when OK
	Latency time.Duration
	Model   string // provider:id that was asked; "" when none was
}

// testTime bounds a test.
const testTime = 45 * time.Second

// Test asks a provider for a few words, which costs next to nothing, and says what is wrong when that
// fails. No key is in the result.
func (c *Catalog) Test(ctx context.Context, provider string) TestResult {
	ctx, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	if provider == "demo" {
		return TestResult{OK: true, Model: "demo:demo"}
	}
	s, ok := c.one(provider)
	if !ok {
		return misconfigured(unknownProvider(provider))
	}
	if s.err != nil {
		return misconfigured(s.err)
	}
	id, found := c.cheapest(ctx, s)
	if id == "" {
		return found
	}
	return c.try(ctx, s, id)
}

// misconfigured is the result for settings that can't work: their sentence, cut in two.
func misconfigured(e *ConfigError) TestResult {
	problem, mend, ok := strings.Cut(e.Message, ". ")
	switch {
	case ok:
		problem += "."
	case e.Code == BadKey:
		mend = "Check the file's path and that you may read it."
	default:
		mend = "Mend it in providers.jsonc."
	}
	return TestResult{Problem: problem, Mend: mend, Code: e.Code}
}

// cheapest chooses the model to ask: the first of the settings, else the cheapest that is known, else
// the first that the provider lists.
func (c *Catalog) cheapest(ctx context.Context, s settled) (id string, failed TestResult) {
	for _, id := range s.entry.Models {
		if id != "" {
			return id, failed
		}
	}
	best := Info{}
	for _, k := range s.models {
		i := s.describe(s.id, k)
		if best.Prices == nil || i.Prices != nil && i.Prices.Output < best.Prices.Output {
			best = i
			id = k.id
		}
	}
	switch {
	case id != "":
		return id, failed
	case s.id == "openrouter":
		return "openai/gpt-6-luna", failed
	case s.wire == Coder && s.smallOfGateway() != "":
		return s.smallOfGateway(), failed
	}
	list, err := c.Suggest(ctx, s.id)
	var wrong *ConfigError
	switch {
	case errors.As(err, &wrong):
		return "", misconfigured(wrong)
	case err != nil:
		return "", c.diagnoseList(ctx, s, err)
	case len(list) == 0:
		return "", TestResult{Code: "no_model", Problem: s.name + " answers, but has no model.", Mend: "Name a model under \"models\" in providers.jsonc, or install one."}
	}
	for _, name := range []string{"gpt-5-mini", "gpt-4.1", "gpt-4o"} { // Copilot does not count these
		if slices.ContainsFunc(list, func(l Suggestion) bool { return s.id == "github-copilot" && l.ID == s.id+":"+name }) {
			return name, failed
		}
	}
	first := list[0].ID
	if s.wire == Bedrock {
		first = smallAtBedrock(list)
	}
	return strings.TrimPrefix(first, s.id+":"), failed
}

// try asks a model.
func (c *Catalog) try(ctx context.Context, s settled, id string) TestResult {
	full := s.id + ":" + id
	r, err := c.Resolve(Choice{Model: full, Level: "0"})
	var wrong *ConfigError
	if errors.As(err, &wrong) {
		return misconfigured(wrong)
	}
	const enough = 64 // tokens: the answer may be cut, it is not read
	q := &model.Request{MaxTokens: enough, Messages: []model.Message{{Role: model.User,
		Parts: []model.Part{{Kind: model.Text, Text: "Answer with the word OK."}}}}}
	r.Prepare(q)
	q.Native = nil
	start := time.Now()
	_, err = r.Streamer.Stream(ctx, q, func(model.Event) {})
	out := TestResult{Model: full, Latency: time.Since(start)}
	var e *model.Error
	switch {
	case err == nil:
		out.OK = true
	case errors.As(err, &e):
		out.Code, out.Problem, out.Mend = c.diagnose(ctx, s, id, e)
	default:
		out.Code, out.Problem = "unknown", s.name+" could not be asked."
	}
	return out
}

// diagnose says what a failed request means, looking once more at the server where that tells more.
func (c *Catalog) diagnose(ctx context.Context, s settled, id string, e *model.Error) (code, problem, mend string) {
	code, problem, mend = c.meaning(ctx, s, id, e)
	if s.wire == Coder && (code == "auth" || code == "forbidden") {
		mend = "Log in at Coder again under Settings, Providers, or ask its administrator for the AI Gateway."
	}
	if s.wire == Bedrock && e.Hint != "" && (code == "auth" || code == "forbidden" || code == "quota" || code == "model_not_found") {
		return code, s.name + " says: " + sentence(e.Message), e.Hint // AWS has its own ways
	}
	return code, problem, mend
}

func (c *Catalog) meaning(ctx context.Context, s settled, id string, e *model.Error) (code, problem, mend string) {
	said := s.name + " says: " + sentence(e.Message)
	switch {
	case e.Kind == model.ErrNetwork && ctx.Err() != nil, e.Kind == model.ErrCancelled:
		return "timeout", s.name + " did not answer within " + testTime.String() + ".", "Try again; if it stays so, check the base URL and the network."
	case e.Kind == model.ErrNetwork:
		return c.probe(ctx, s, e)
	case e.Status/100 == 3:
		return "redirect", s.name + "'s address leads elsewhere.", "Set baseUrl to where it leads."
	case e.Kind == model.ErrNotFound, e.Status == http.StatusMethodNotAllowed:
		return c.notFound(ctx, s, id, said)
	case e.Status == http.StatusOK && e.Kind == model.ErrBadRequest:
		return "not_api", "What answers at " + s.host() + " is a web page or another kind of server, no API of " + s.name + ".",
			"Check baseUrl, and whether a proxy or a login page stands before it."
	case e.Status == http.StatusForbidden:
		return "forbidden", said, "The key is known but may not do this: check its rights, the organization, the region, and whether the model is open to it."
	case e.Kind == model.ErrAuth:
		return "auth", said, "Make a new key at " + s.place() + " and put it in under Settings, Providers."
	case e.Kind == model.ErrQuota:
		return "quota", said, "Add credit or raise the limit at " + s.place() + "."
	case e.Kind == model.ErrRateLimit:
		return "rate_limit", said, "The key works. Wait a moment, or ask for a higher limit."
	case e.Kind == model.ErrOverloaded, e.Kind == model.ErrServer:
		return "server", said, "The trouble is at the provider's. Try again in a few minutes."
	}
	return "bad_request", said, "Check the model's name and modelParameters."
}

// place is where a person looks after the account.
func (s *settled) place() string {
	if s.keyPage != "" {
		return s.keyPage
	}
	return s.name
}

func (s *settled) host() string {
	if u, err := url.Parse(s.base); err == nil && u.Host != "" {
		return u.Host
	}
	return s.name
}

// sentence ends a text that a provider sent, and bounds it.
func sentence(text string) string {
	const most = 300
	if r := []rune(strings.TrimSpace(text)); len(r) > most {
		text = string(r[:most]) + "…"
	}
	if text = strings.TrimSpace(text); text == "" {
		return "nothing."
	}
	if strings.ContainsAny(text[len(text)-1:], ".!?") || strings.HasSuffix(text, "…") {
		return text
	}
	return text + "."
}

// probe asks the bare address, without a key, to find out why it can't be reached.
func (c *Catalog) probe(ctx context.Context, s settled, e *model.Error) (code, problem, mend string) {
	status, err := c.look(ctx, s.base, nil)
	switch {
	case err != nil:
		return unreachable(err, s.host())
	case status > 0:
		return "network", s.name + " can be reached, but the connection broke: " + sentence(e.Message), "Try again; a proxy or a firewall may cut long answers."
	}
	return "network", sentence(e.Message), "Check the network and the base URL, then try again."
}

// notFound tells a wrong address from a model that is not there.
func (c *Catalog) notFound(ctx context.Context, s settled, id, said string) (code, problem, mend string) {
	noModel := func() (string, string, string) {
		return "model_not_found", s.name + " has no model " + clip(id) + " for this key.", "Choose another model, or check the name under Settings, Models."
	}
	base, path := s.base, "/models"
	switch s.wire {
	case AnthropicMessages:
		base, _ = wire.AnthropicBase(base) // it was good for the request
	case OpenAIResponses, OpenAICompatible:
		if s.azure.Endpoint != "" {
			return "model_not_found", said, "Check AZURE_OPENAI_DEPLOYMENT and AZURE_OPENAI_API_VERSION."
		}
		base, _ = wire.OpenAIBase(base)
	case Gemini, Bedrock, Coder, Demo:
		return noModel()
	}
	status, err := c.look(ctx, base+path, s.auth())
	if err == nil && (status == http.StatusOK || status == http.StatusUnauthorized) {
		return noModel()
	}
	if !strings.HasSuffix(base, "/v1") {
		if status, err := c.look(ctx, base+"/v1"+path, s.auth()); err == nil && (status == http.StatusOK || status == http.StatusUnauthorized) {
			return "missing_v1", "The base URL lacks /v1.", "Set baseUrl to " + base + "/v1."
		}
	}
	if !s.custom && s.base == builtinBase(s.id) {
		return noModel()
	}
	return "wrong_path", "There is no such API at " + s.host() + " under the base URL's path.", "Check the path of baseUrl; most servers want it to end in /v1."
}

func builtinBase(id string) string {
	for _, b := range builtins() {
		if b.id == id {
			return b.base
		}
	}
	return ""
}

// diagnoseList says why a server that had to be asked for its models gave none.
func (c *Catalog) diagnoseList(ctx context.Context, s settled, err error) TestResult {
	var e *ListError
	if !errors.As(err, &e) {
		return TestResult{Code: "unknown", Problem: s.name + " could not be asked for its models."}
	}
	out := TestResult{Problem: e.Message, Mend: "Name a model under \"models\" in providers.jsonc.", Code: "no_model"}
	switch {
	case e.Status == 0:
		out.Code, out.Problem, out.Mend = c.probe(ctx, s, &model.Error{Message: e.Message})
	case e.Status == http.StatusUnauthorized && s.aws != nil:
		out.Code, out.Mend = "auth", "Log in with `aws sso login`, or set bearerToken, or keys, under \"bedrock\" in providers.jsonc."
	case e.Status == http.StatusUnauthorized:
		out.Code, out.Problem, out.Mend = "auth", s.name+" refuses the key.", "Make a new key at "+s.place()+" and put it in under Settings, Providers."
	case e.Status == http.StatusForbidden:
		out.Code, out.Mend = "forbidden", "Check what the key may do."
	case e.Status == http.StatusNotFound:
		out.Code, out.Problem, out.Mend = c.notFound(ctx, s, "", e.Message)
		if out.Code == "model_not_found" {
			out.Code = "no_model"
		}
	}
	return out
}

// look asks for an address and gives the status alone.
func (c *Catalog) look(ctx context.Context, address string, h http.Header) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("User-Agent", "carrel")
	wire.Overlay(req.Header, h)
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}
