package catalog

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
	"carrel/store"
)

// askBedrock asks a model once and gives what arrived.
func askBedrock(t *testing.T, c *Catalog, server *fakewire.Server, ch Choice) (fakewire.Request, error) {
	t.Helper()
	r, err := c.Resolve(ch)
	if err != nil {
		t.Fatal(err)
	}
	q := &model.Request{Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "hi"}}}}}
	r.Prepare(q)
	_, err = r.Streamer.Stream(t.Context(), q, nil)
	return server.Last(), err
}

func TestBedrockTriesItsKeysInOrder(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "OK"}))
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".aws"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := "[default]\naws_access_key_id = FILE\naws_secret_access_key = s\n[work]\naws_access_key_id = WORK\naws_secret_access_key = s\n"
	if err := os.WriteFile(filepath.Join(home, ".aws", "credentials"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"HOME": home, "AWS_REGION": "eu-west-1", "AWS_EC2_METADATA_DISABLED": "true"}
	key := store.ProviderConfig{BaseURL: server.URL, AccessKeyID: "GIVEN", SecretAccessKey: "s", SessionToken: "session"}
	both := key
	both.BearerToken = "bearer-token"
	for _, x := range []struct {
		what string
		e    store.ProviderConfig
		want string
	}{
		{"a bearer token", both, "Bearer bearer-token"},
		{"keys of the settings", key, "Credential=GIVEN/"},
		{"the chain", store.ProviderConfig{BaseURL: server.URL}, "Credential=FILE/"},
		{"a profile", store.ProviderConfig{BaseURL: server.URL, Profile: "work"}, "Credential=WORK/"},
	} {
		r, err := askBedrock(t, catalog(vars, entries{"bedrock": x.e}), server, Choice{Model: "bedrock:eu.anthropic.claude-opus-4-6-v1"})
		if err != nil || !strings.Contains(r.Header.Get("Authorization"), x.want) || r.Format != "bedrock" {
			t.Errorf("%s: %s %v, %v", x.what, r.Format, r.Header, err)
		}
		if !strings.HasPrefix(x.want, "Bearer") {
			id := strings.Trim(strings.TrimPrefix(x.want, "Credential="), "/")
			if err := fakewire.Signed(r, id, "s", "bedrock", "eu-west-1"); err != nil {
				t.Errorf("%s: %v", x.what, err)
			}
		}
	}
	_, err := askBedrock(t, catalog(vars, entries{"bedrock": {BaseURL: server.URL, Profile: "nobody"}}), server, Choice{Model: "bedrock:m"})
	if err == nil || !strings.Contains(err.Error(), `no profile "nobody"`) {
		t.Errorf("%v", err)
	}
}

func TestBedrocksModelsAreAskedInTheirFormats(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "OK"}))
	c := catalog(map[string]string{"AWS_REGION": "us-east-1", "AWS_BEARER_TOKEN_BEDROCK": secret, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": server.URL}, nil)
	for id, want := range map[string]string{
		"us.anthropic.claude-sonnet-4-6":             `bedrock "output_config":{"effort":"high"}`,
		"global.anthropic.claude-opus-4-6-v1":        `bedrock "type":"adaptive"`,
		"us.anthropic.claude-opus-4-5-20251101-v1:0": `bedrock "budget_tokens":20000`,
		"amazon.nova-pro-v1:0":                       `converse "content":[{"text":"hi"},{"cachePoint":{"type":"default"}}]`,
	} {
		r, err := askBedrock(t, c, server, Choice{Model: "bedrock:" + id, Level: High})
		format, body, _ := strings.Cut(want, " ")
		if err != nil || r.Format != format || !strings.Contains(string(r.Raw), body) || r.Model != id {
			t.Errorf("%s: %s %s, %v", id, r.Format, r.Raw, err)
		}
	}
}

func TestBedrockListsModelsAndProfiles(t *testing.T) {
	status, code := http.StatusOK, ""
	fake := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "OK"}))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signed := fakewire.Signed(fakewire.Request{Method: r.Method, Host: r.Host, URI: r.RequestURI, Header: r.Header}, "GIVEN", "s", "bedrock", "us-east-1")
		switch {
		case signed != nil && r.Method == http.MethodGet:
			t.Error(signed)
		case status != http.StatusOK:
			w.Header().Set("X-Amzn-Errortype", code)
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, `{"message":"You don't have access to the model."}`)
		case r.URL.Path == "/foundation-models":
			_, _ = fmt.Fprint(w, `{"modelSummaries":[{"modelId":"amazon.nova-micro-v1:0","modelName":"Nova Micro","inputModalities":["TEXT"],"outputModalities":["TEXT"],"inferenceTypesSupported":["ON_DEMAND"]},
				{"modelId":"anthropic.claude-x","modelName":"X","inputModalities":["TEXT"],"outputModalities":["TEXT"],"inferenceTypesSupported":["INFERENCE_PROFILE"]},
				{"modelId":"amazon.canvas","inputModalities":["TEXT"],"outputModalities":["IMAGE"],"inferenceTypesSupported":["ON_DEMAND"]}]}`)
		case r.URL.Path == "/inference-profiles":
			_, _ = fmt.Fprint(w, `{"inferenceProfileSummaries":[{"inferenceProfileId":"us.anthropic.claude-x","inferenceProfileName":"US X","status":"ACTIVE","models":[{"modelArn":"arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-x"}]},
				{"inferenceProfileId":"us.amazon.canvas","status":"ACTIVE","models":[{"modelArn":"arn:aws:bedrock:us-east-1::foundation-model/amazon.canvas"}]}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	vars := map[string]string{"AWS_ENDPOINT_URL_BEDROCK": server.URL, "AWS_EC2_METADATA_DISABLED": "true"}
	e := store.ProviderConfig{Region: "us-east-1", BaseURL: fake.URL, AccessKeyID: "GIVEN", SecretAccessKey: "s"}
	c := catalog(vars, entries{"bedrock": e})
	list, err := c.Suggest(t.Context(), "bedrock")
	if err != nil || len(list) != 2 || list[0].ID != "bedrock:amazon.nova-micro-v1:0" || list[1] != (Suggestion{ID: "bedrock:us.anthropic.claude-x", Name: "US X"}) {
		t.Errorf("%+v, %v", list, err)
	}
	got := c.Test(t.Context(), "bedrock")
	if check(t, "a test", got, ""); got.Model != "bedrock:amazon.nova-micro-v1:0" {
		t.Errorf("%+v", got)
	}
	status, code = http.StatusForbidden, "AccessDeniedException"
	e.Models, e.BaseURL = []string{"anthropic.claude-x"}, server.URL
	if got := catalog(vars, entries{"bedrock": e}).Test(t.Context(), "bedrock"); got.Code != "forbidden" && got.Code != "auth" || !strings.Contains(got.Mend, "Model access") {
		t.Errorf("%+v", got)
	}
	nobody := catalog(vars, entries{"bedrock": {Region: "us-east-1", BaseURL: server.URL}})
	check(t, "no credentials", nobody.Test(t.Context(), "bedrock"), "auth")
}

func TestAnARNIsAskedAsTheModelThatItStandsFor(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "OK"}))
	const account = "arn:aws:bedrock:eu-west-1:123456789012:"
	named, own, nova := "bedrock:"+account+"inference-profile/eu.anthropic.claude-opus-4-6-v1:0", "bedrock:"+account+"application-inference-profile/abc", "bedrock:"+account+"application-inference-profile/def"
	c := New(config{
		entries: entries{"bedrock": {BaseURL: server.URL, Region: "eu-west-1", BearerToken: "b"}},
		settings: store.Settings{Models: map[string]store.ModelConfig{
			own: {Like: "bedrock:eu.anthropic.claude-opus-4-6-v1"}, nova: {Like: "bedrock:amazon.nova-pro-v1:0"},
		}},
	}, env(nil))
	for id, format := range map[string]string{named: "bedrock", own: "bedrock", nova: "converse", own + "x": "converse"} {
		r, err := askBedrock(t, c, server, Choice{Model: id})
		if err != nil || r.Format != format || "bedrock:"+r.Model != id {
			t.Errorf("%s: %s of %s, %v", id, r.Format, r.Model, err)
		}
		if points := strings.Contains(string(r.Raw), "cachePoint"); points != (id == nova) {
			t.Errorf("%s: cache points %v", id, points)
		}
	}
	for id, plain := range map[string]string{named: "bedrock:eu.anthropic.claude-opus-4-6-v1:0", own: "bedrock:eu.anthropic.claude-opus-4-6-v1"} {
		want := c.Info(plain)
		if i := c.Info(id); i.Context != want.Context || len(i.Levels) == 0 || i.row.style != want.row.style || i.ID != id {
			t.Errorf("%s: %+v", id, i)
		}
	}
}
