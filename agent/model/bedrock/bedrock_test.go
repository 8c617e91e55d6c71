package bedrock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"carrel/agent/model"
	"carrel/agent/model/anthropic"
	"carrel/agent/model/fakewire"
)

const (
	claudeID = "us.anthropic.claude-opus-4-6-v1:0"
	arn      = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123"
)

func keys(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "AKID", SecretAccessKey: "very-secret", SessionToken: "session-token"}, nil
}

func client(t testing.TB, o Options) model.Streamer {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(id string, messages ...model.Message) *model.Request {
	if messages == nil {
		messages = []model.Message{user("hi")}
	}
	return &model.Request{Model: id, Messages: messages, System: "s"}
}

func user(text string) model.Message {
	return model.Message{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: text}}}
}

func asError(t *testing.T, err error) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v", err)
	}
	return e
}

func TestRequestsAreSigned(t *testing.T) {
	for _, x := range []struct {
		id       string
		converse bool
		uri      string
	}{
		{claudeID, false, "/model/us.anthropic.claude-opus-4-6-v1%3A0/invoke-with-response-stream"},
		{"amazon.nova-pro-v1:0", true, "/model/amazon.nova-pro-v1%3A0/converse-stream"},
		{arn, true, "/model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012%3Aapplication-inference-profile%2Fabc123/converse-stream"},
	} {
		server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
		c := client(t, Options{Region: "eu-west-1", BaseURL: server.URL, Credentials: aws.CredentialsProviderFunc(keys), Claude: format(x.converse)})
		if _, err := c.Stream(t.Context(), ask(x.id), nil); err != nil {
			t.Fatal(err)
		}
		r := server.Last()
		if err := fakewire.Signed(r, "AKID", "very-secret", "bedrock", "eu-west-1"); err != nil || r.URI != x.uri || r.Model != x.id {
			t.Errorf("%s of %s: %v", r.URI, r.Model, err)
		}
		if r.Header.Get("X-Amz-Security-Token") != "session-token" || strings.Contains(fmt.Sprint(r.Header), "very-secret") {
			t.Errorf("%v", r.Header)
		}
	}
}

func TestABearerTokenComesFirst(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	c := client(t, Options{Region: "eu-west-1", BaseURL: server.URL, Bearer: "token", Credentials: aws.CredentialsProviderFunc(keys), Claude: anthropic.Format()})
	if _, err := c.Stream(t.Context(), ask(claudeID), nil); err != nil || server.Last().Header.Get("Authorization") != "Bearer token" {
		t.Errorf("%v, %v", err, server.Last().Header)
	}
}

func TestWithoutCredentialsNothingIsSent(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	nobody := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, errors.New("none here") })
	for _, from := range []aws.CredentialsProvider{nil, nobody} {
		_, err := client(t, Options{Region: "eu-west-1", BaseURL: server.URL, Credentials: from, Claude: anthropic.Format()}).Stream(t.Context(), ask(claudeID), nil)
		if e := asError(t, err); e.Kind != model.ErrAuth || e.Hint == "" || len(server.Requests()) != 0 {
			t.Errorf("%+v", e)
		}
	}
}

func TestRegionsHaveEndpointsOfTheirOwn(t *testing.T) {
	for _, x := range []struct{ region, id, want string }{
		{"us-east-1", claudeID, "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-opus-4-6-v1%3A0/x"},
		{"cn-north-1", "m", "https://bedrock-runtime.cn-north-1.amazonaws.com.cn/model/m/x"},
		{"us-gov-west-1", "m", "https://bedrock-runtime.us-gov-west-1.amazonaws.com/model/m/x"},
	} {
		o := Options{Region: x.region}
		if got := o.address(x.id, "x"); got != x.want {
			t.Errorf("%s", got)
		}
	}
	o := Options{Region: "us-east-1"}
	if got := o.address(arn, "x"); !strings.HasPrefix(got, "https://bedrock-runtime.eu-central-1.") {
		t.Errorf("an ARN's own region: %s", got)
	}
	req, err := http.NewRequest(http.MethodPost, o.address(arn, "x"), nil)
	if err != nil || o.regionOf(req.URL) != "eu-central-1" {
		t.Errorf("it is signed for %s", o.regionOf(req.URL))
	}
	for _, bad := range []Options{{}, {Region: "us east"}, {Region: "x.example.com/"}, {Region: "us-east-1", BaseURL: "localhost"}, {BaseURL: "http://u:p@h"}} {
		if _, err := New(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	for id, want := range map[string]bool{claudeID: true, "anthropic.claude-3-haiku": true, "global.anthropic.claude-x": true, "amazon.nova-pro-v1:0": false, arn: false} {
		if IsClaude(id) != want {
			t.Errorf("IsClaude(%q) is %v", id, !want)
		}
	}
}

func TestErrorsSayHowToMend(t *testing.T) {
	for _, x := range []struct {
		status     int
		name, text string
		kind       model.ErrorKind
		hint       string
	}{
		{429, "ThrottlingException", "Too many tokens, please wait before trying again.", model.ErrRateLimit, ""},
		{0, "throttlingException", "Too many tokens, please wait before trying again.", model.ErrRateLimit, ""},
		{429, "ThrottlingException", "Too many tokens per day, please wait before trying again.", model.ErrQuota, "Service Quotas"},
		{400, "ValidationException", "Input is too long for requested model.", model.ErrOverflow, ""},
		{400, "ValidationException", "The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum", model.ErrOverflow, ""},
		{400, "ValidationException", "Invocation of model ID anthropic.claude-x with on-demand throughput isn’t supported.", model.ErrNotFound, "global."},
		{400, "ValidationException", "The provided model identifier is invalid.", model.ErrNotFound, "prefix"},
		{400, "ValidationException", "max_tokens: bad", model.ErrBadRequest, ""},
		{403, "AccessDeniedException", "You don't have access to the model with the specified model ID.", model.ErrAuth, "Model access"},
		{403, "AccessDeniedException", "User: arn is not authorized to perform: bedrock:InvokeModelWithResponseStream", model.ErrAuth, "IAM"},
		{403, "AccessDeniedException", "Authentication failed: Please make sure your API Key is valid.", model.ErrAuth, "bearer"},
		{403, "ExpiredTokenException", "The security token included in the request is expired", model.ErrAuth, "aws sso login"},
		{403, "UnrecognizedClientException", "The security token included in the request is invalid.", model.ErrAuth, "clock"},
		{404, "ResourceNotFoundException", "no", model.ErrNotFound, "region"},
		{424, "ModelErrorException", "m", model.ErrServer, ""}, {408, "ModelTimeoutException", "m", model.ErrServer, ""},
		{503, "ServiceUnavailableException", "m", model.ErrOverloaded, ""}, {429, "ModelNotReadyException", "m", model.ErrOverloaded, ""},
		{0, "modelStreamErrorException", "m", model.ErrServer, ""},
	} {
		e := failure(x.status, x.name+":http://x", x.text)
		if e.Kind != x.kind || e.Code != x.name || !strings.Contains(e.Hint, x.hint) {
			t.Errorf("%s %q: %+v", x.name, x.text, e)
		}
	}
}

func TestASessionTokenIsNotInAnError(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		if r.URL.Path != "/model/"+claudeID+"/converse-stream" { // as a gateway repeats a request
			_, _ = fmt.Fprint(w, r.Header)
			return
		}
		_, _ = fmt.Fprintf(w, `{"__type":"com.amazon#InvalidSignatureException","Message":"The signature does not match.\n\nx-amz-security-token:%s"}`, r.Header.Get("X-Amz-Security-Token"))
	}))
	t.Cleanup(server.Close)
	c := client(t, Options{Region: "eu-west-1", BaseURL: server.URL, Credentials: aws.CredentialsProviderFunc(keys)})
	if _, err := c.Stream(t.Context(), ask("another"), nil); strings.Contains(fmt.Sprintf("%+v", err), "session-token") || !strings.Contains(err.Error(), "[key]") {
		t.Errorf("%+v", err)
	}
	_, err := c.Stream(t.Context(), ask(claudeID), nil)
	if e := asError(t, err); e.Kind != model.ErrAuth || e.Message != "The signature does not match." || strings.Contains(fmt.Sprintf("%+v", e), "session-token") {
		t.Errorf("%+v", e)
	}
}

// stream records the frames of a reply.
func stream(t *testing.T, converse bool) []byte {
	t.Helper()
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "Hello", Calls: []fakewire.Call{{Name: "read", Input: `{"path":"a"}`}}}))
	action, body := "invoke-with-response-stream", `{"anthropic_version":"bedrock-2023-05-31","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`
	if converse {
		action, body = "converse-stream", `{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`
	}
	resp, err := http.Post(server.URL+"/model/m/"+action, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err)
	}
	return b.Bytes()
}

// Whatever is damaged or missing of a stream before its end, the response is no whole one.
func TestDamagedAndCutFramesAreFailuresOfTheNetwork(t *testing.T) {
	for _, converse := range []bool{false, true} {
		whole := stream(t, converse)
		answer := func(raw []byte) error {
			server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Raw: raw}))
			c := client(t, Options{Region: "eu-west-1", BaseURL: server.URL, Bearer: "b", Claude: format(converse)})
			m, err := c.Stream(t.Context(), ask("m"), nil)
			if err != nil && model.Runnable(m) != nil {
				t.Errorf("a call may run: %+v", m)
			}
			return err
		}
		if err := answer(whole); err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(whole); at += 13 {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 0x10
			if e := asError(t, answer(damaged)); e.Kind != model.ErrNetwork {
				t.Errorf("byte %d: %+v", at, e)
			}
		}
		for at := 1; at < len(whole)-500; at += 61 {
			if e := asError(t, answer(whole[:at])); e.Kind != model.ErrNetwork {
				t.Errorf("cut at %d: %+v", at, e)
			}
		}
	}
}

// raw makes a stream of one frame.
func raw(t *testing.T, payload string, headers ...string) []byte {
	t.Helper()
	m := eventstream.Message{Payload: []byte(payload)}
	for i := 0; i+1 < len(headers); i += 2 {
		m.Headers.Set(headers[i], eventstream.StringValue(headers[i+1]))
	}
	var b bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestExceptionsInTheStream(t *testing.T) {
	for want, frame := range map[string][]byte{
		"broke: behind": raw(t, `{"message":"broke","originalMessage":"behind","originalStatusCode":500}`, ":message-type", "exception", ":exception-type", "modelStreamErrorException"),
		"told":          raw(t, ``, ":message-type", "error", ":error-code", "InternalServerException", ":error-message", "told"),
	} {
		server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Raw: frame}))
		_, err := client(t, Options{Region: "eu-west-1", BaseURL: server.URL, Bearer: "b"}).Stream(t.Context(), ask("m"), nil)
		if e := asError(t, err); e.Kind != model.ErrServer || e.Message != want || !e.Retryable() {
			t.Errorf("%+v", e)
		}
	}
}

func TestClaudeIsAskedForWhatBedrockHas(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	r := ask(claudeID)
	r.Tier, r.Native, r.CacheHour = "fast", []string{model.WebSearch}, true
	r.Params.Extra = map[string]json.RawMessage{"anthropic_beta": json.RawMessage(`["x"]`), "anthropic_version": json.RawMessage(`"y"`)}
	if _, err := client(t, Options{Region: "eu-west-1", BaseURL: server.URL, Bearer: "b", Claude: anthropic.Format()}).Stream(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	got := string(server.Last().Raw)
	if !strings.HasPrefix(got, `{"anthropic_version":"bedrock-2023-05-31","max_tokens":`) || !strings.Contains(got, `"anthropic_beta":["x"]`) || !strings.Contains(got, `"ttl":"1h"`) ||
		server.Last().Header.Get("Anthropic-Beta") != "" {
		t.Errorf("%s", got)
	}
}

func TestOtherMakersAreToldToThinkInTheirTerms(t *testing.T) {
	for id, want := range map[string]string{
		"us.amazon.nova-2-lite-v1:0": `{"reasoningConfig":{"type":"enabled","maxReasoningEffort":"high"},"top_k":5,"x":1}`,
		"openai.gpt-oss-120b-1:0":    `{"reasoning_effort":"high","top_k":5,"x":1}`,
		"meta.llama4":                `{"top_k":5,"x":1}`,
	} {
		server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
		r := ask(id)
		k := 5
		r.Thinking.Effort = "max"
		r.Params = model.Params{TopK: &k, Extra: map[string]json.RawMessage{"x": json.RawMessage("1"), "model": json.RawMessage("2")}}
		if _, err := client(t, Options{Region: "eu-west-1", BaseURL: server.URL, Bearer: "b"}).Stream(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		if got := string(server.Last().Raw); !strings.Contains(got, `"additionalModelRequestFields":`+want+`,"messages"`) {
			t.Errorf("%s: %s", id, got)
		}
	}
}

func TestAHistoryWithCallsHasTools(t *testing.T) {
	call := model.Message{Role: model.Assistant, Stop: model.StopTools, Parts: []model.Part{{Kind: model.ToolCall, CallID: "a", Name: "read", Input: "{}"}}}
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	if _, err := client(t, Options{Region: "eu-west-1", BaseURL: server.URL, Bearer: "b"}).Stream(t.Context(), ask("m", user("hi"), call), nil); err != nil {
		t.Errorf("%v", err)
	}
}

func TestDocumentsHaveLegalNames(t *testing.T) {
	pdf := user("read")
	pdf.Parts = append(pdf.Parts, model.Part{Kind: model.File, Mime: "application/pdf", Name: "Ünï/côde.pdf", Data: []byte("%PDF-1.4")},
		model.Part{Kind: model.File, Mime: "application/pdf", Name: "…", Data: []byte("%PDF-1.4")})
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	if _, err := client(t, Options{Region: "eu-west-1", BaseURL: server.URL, Bearer: "b"}).Stream(t.Context(), ask("m", pdf), nil); err != nil {
		t.Fatal(err)
	}
	if got := string(server.Last().Raw); !strings.Contains(got, `"name":"n-c-de-pdf"`) || !strings.Contains(got, `"name":"file"`) {
		t.Errorf("%s", got)
	}
}

func TestCachePointsGoToTheModelsThatTakeThem(t *testing.T) {
	say := func(role model.Role, text string) model.Message {
		return model.Message{Role: role, Parts: []model.Part{{Kind: model.Text, Text: text}}}
	}
	for _, x := range []struct {
		id, like string
		points   int
	}{
		{"eu.amazon.nova-pro-v1:0", "", 3}, {"amazon.nova-2-lite-v1:0", "", 0}, {"meta.llama4", "", 0}, {arn, "", 0},
		{"arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-lite-v1:0", "", 3},
	} {
		server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
		c := client(t, Options{Region: "eu-west-1", BaseURL: server.URL, Bearer: "b", Like: x.like})
		r := ask(x.id, say(model.User, "a"), say(model.Assistant, "b"), say(model.User, "c"), say(model.Assistant, "d"), say(model.User, "e"))
		if _, err := c.Stream(t.Context(), r, nil); err != nil {
			t.Fatal(x.id, err)
		}
		got := string(server.Last().Raw)
		if n := strings.Count(got, cachePoint); n != x.points {
			t.Errorf("%s: %d cache points in %s", x.id, n, got)
		}
		if x.points > 0 && (!strings.Contains(got, `"system":[{"text":"s"},`+cachePoint+`]`) || !strings.Contains(got, `{"text":"e"},`+cachePoint+`]`) ||
			strings.Contains(got, `{"text":"a"},`+cachePoint)) {
			t.Errorf("%s: %s", x.id, got)
		}
	}
}

func TestAnARNTellsItsModel(t *testing.T) {
	for id, want := range map[string]string{
		"amazon.nova-pro-v1:0": "amazon.nova-pro-v1:0",
		"arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1:0": "us.anthropic.claude-opus-4-6-v1:0",
		"arn:aws-cn:bedrock:cn-north-1::foundation-model/anthropic.claude-x-v1:0":                    "anthropic.claude-x-v1:0",
		"arn:aws:bedrock:us-east-1:1:custom-model/anthropic.claude-3-haiku-v1:0:200k/abc":            "anthropic.claude-3-haiku-v1:0:200k",
		arn:       "abc123",
		"arn:a:b": "arn:a:b", "arn:::::": "", "": "",
	} {
		if got := Named(id); got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}

// BenchmarkSignedRequest makes a signed request of about 200,000 tokens that has one step more than the
// one before.
func BenchmarkSignedRequest(b *testing.B) {
	for _, signed := range []bool{false, true} {
		b.Run(fmt.Sprint("signed ", signed), func(b *testing.B) {
			o := Options{Region: "eu-west-1", Credentials: aws.CredentialsProviderFunc(keys), Claude: anthropic.Format()}
			if !signed {
				o.Bearer = "token"
			}
			o.HTTP = &http.Client{Transport: refuses{}}
			c := client(b, o)
			r := ask(claudeID)
			r.CacheKey = "k"
			for i := 0; b.Loop(); i++ {
				if i%100 == 0 {
					b.StopTimer()
					r.Messages = r.Messages[:1]
					for range 250 {
						r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Parts: []model.Part{{Kind: model.Text, Text: "I look."}}}, user(strings.Repeat("x", 3200)))
					}
					_, _ = c.Stream(b.Context(), r, nil)
					b.StartTimer()
				}
				r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Parts: []model.Part{{Kind: model.Text, Text: "I look."}}}, user(strings.Repeat("x", 3200)))
				_, _ = c.Stream(b.Context(), r, nil)
			}
		})
	}
}

// refuses is a server that reads nothing.
type refuses struct{}

func (refuses) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("no") }
