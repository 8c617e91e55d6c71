package catalog

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
	"carrel/store"
)

func TestAKeyIsReadFromItsFileAsThatIsNow(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "OK"}))
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	c := catalog(map[string]string{"HOME": dir, "ANTHROPIC_API_KEY": "from the environment"},
		entries{"anthropic": {BaseURL: server.URL, APIKeyFile: "~/key"}})
	ask := func() (sent string, err error) {
		r, err := c.Resolve(Choice{Model: "opus"})
		if err != nil {
			return "", err
		}
		q := &model.Request{Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "hi"}}}}}
		r.Prepare(q)
		_, err = r.Streamer.Stream(t.Context(), q, nil)
		return server.Last().Header.Get("X-Api-Key"), err
	}
	for _, x := range []struct{ what, text, sent, problem string }{
		{"missing", "", "", "no such file"},
		{"a key", "first-key", "first-key", ""},
		{"with a newline", "second-key\n", "second-key", ""},
		{"with spaces around, as Windows writes it", "  third-key \r\n", "third-key", ""},
		{"of two lines", "fourth-key\nsecret-line", "", "characters that can't be sent"},
		{"empty", " \n", "", "empty"},
		{"huge", strings.Repeat("x", maxKey+1), "", "64 KiB"},
		{"again a key", "fifth-key", "fifth-key", ""},
	} {
		if x.text != "" {
			if err := os.WriteFile(path, []byte(x.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		switch sent, err := ask(); {
		case x.problem == "" && (err != nil || sent != x.sent):
			t.Errorf("%s: sent %q, %v", x.what, sent, err)
		case x.problem != "" && (code(err) != BadKey || !strings.Contains(err.Error(), x.problem) || strings.Contains(err.Error(), "secret-line")):
			t.Errorf("%s: %v", x.what, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(); code(err) != BadKey { // the environment's key is not what the person asked for
		t.Errorf("removed: %v", err)
	}
	for _, bad := range []string{dir, "relative/key", "~other/key"} {
		c := catalog(map[string]string{"HOME": dir}, entries{"anthropic": {APIKeyFile: bad}})
		if _, err := c.Resolve(Choice{Model: "opus"}); code(err) != BadKey {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if os.Getuid() != 0 {
		if err := os.WriteFile(path, []byte("k"), 0o000); err != nil {
			t.Fatal(err)
		}
		if _, err := ask(); code(err) != BadKey || !strings.Contains(err.Error(), "permission") {
			t.Errorf("unreadable: %v", err)
		}
	}
}

func TestAModelsNameStaysInItsPlaceOfTheAddress(t *testing.T) {
	server := fakewire.New(t, fakewire.Steps(fakewire.Reply{Text: "OK"}))
	vars := map[string]string{"GOOGLE_GENERATIVE_AI_API_KEY": "k", "AWS_REGION": "eu-west-1", "AWS_BEARER_TOKEN_BEDROCK": "b", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": server.URL}
	c := catalog(vars, entries{"google": {BaseURL: server.URL + "/v1beta"}, "bedrock": store.ProviderConfig{}})
	for _, id := range []string{"a/b", "../../v1/messages", "a?b=c#d", "modèle 日本", strings.Repeat("x", 2000)} {
		for _, provider := range []string{"google", "bedrock"} {
			r, err := c.Resolve(Choice{Model: provider + ":" + id})
			if err != nil {
				t.Errorf("%s:%.30s: %v", provider, id, err)
				continue
			}
			q := &model.Request{Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "hi"}}}}}
			r.Prepare(q)
			_, err = r.Streamer.Stream(t.Context(), q, nil)
			asked := strings.Split(server.Last().URI, "/") // of which the name is one element
			name, bad := url.PathUnescape(strings.TrimSuffix(asked[map[string]int{"google": 3, "bedrock": 2}[provider]], ":streamGenerateContent?alt=sse"))
			if err != nil || bad != nil || name != id || len(asked) != 4 {
				t.Errorf("%s:%.30s: asked at %s, %v", provider, id, server.Last().URI, err)
			}
		}
	}
}
