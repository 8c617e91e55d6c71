package catalog

import (
	"encoding/json"
	"strings"
	"testing"

	"carrel/agent/model"
)

func parameters(t *testing.T, text string) map[string]map[string]json.RawMessage {
	t.Helper()
	var out map[string]map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func prepared(t *testing.T, c *Catalog, ch Choice) model.Request {
	t.Helper()
	r, err := c.Resolve(ch)
	if err != nil {
		t.Fatal(err)
	}
	var q model.Request
	r.Prepare(&q)
	return q
}

func TestTheFirstMatchingParametersCountAlone(t *testing.T) {
	c := catalog(nil, entries{"anthropic": {APIKey: "k", ModelParameters: parameters(t, `{
		"claude-sonnet-4-5-20250929": {"temperature": 0.1},
		"claude-sonnet-4-5": {"temperature": 0.2, "top_p": 0.5},
		"*": {"temperature": 0.3, "top_k": 5, "max_output_tokens": 8192}
	}`)}, "bedrock": {}})
	for id, want := range map[string]float64{
		"anthropic:claude-sonnet-4-5-20250929": 0.1, "anthropic:claude-sonnet-4-5": 0.2, "anthropic:claude-sonnet-4-5-20991231": 0.2, "opus": 0.3,
	} {
		q := prepared(t, c, Choice{Model: id})
		if *q.Params.Temperature != want || (q.Params.TopP != nil) != (want == 0.2) || (q.Params.TopK != nil) != (want == 0.3) {
			t.Errorf("%s: %+v", id, q.Params)
		}
		if limit := q.MaxTokens; (limit == 8192) != (want == 0.3) {
			t.Errorf("%s: %d tokens", id, limit)
		}
	}
	r, err := c.Resolve(Choice{Model: "opus"})
	if err != nil {
		t.Fatal(err)
	}
	q := model.Request{MaxTokens: 100}
	if r.Prepare(&q); q.MaxTokens != 100 {
		t.Errorf("the settings overrule a message: %d", q.MaxTokens)
	}
}

func TestParametersAreReadAndTheRestIsPassedOn(t *testing.T) {
	c := catalog(nil, entries{"deepseek": {APIKey: "k", ModelParameters: parameters(t, `{"*": {
		"temperature": 2, "top_p": 0, "top_k": 1, "max_output_tokens": 16, "seed": -7, "frequency_penalty": -1.5, "presence_penalty": 3,
		"custom": {"a": [1, "x"]}, "logprobs": true, "nothing": null}}`)}})
	p := prepared(t, c, Choice{Model: "deepseek"}).Params
	if *p.Temperature != 2 || *p.TopP != 0 || *p.TopK != 1 || *p.Seed != -7 || *p.FrequencyPenalty != -1.5 || *p.PresencePenalty != 3 {
		t.Errorf("%+v", p)
	}
	if len(p.Extra) != 2 || string(p.Extra["custom"]) != `{"a": [1, "x"]}` || string(p.Extra["logprobs"]) != "true" {
		t.Errorf("%s", p.Extra)
	}
}

func TestParametersOutOfRangeAreToldClearly(t *testing.T) {
	for text, want := range map[string]string{
		`{"temperature": 2.1}`: "from 0 to 2", `{"temperature": -0.1}`: "from 0 to 2", `{"temperature": "hot"}`: "from 0 to 2",
		`{"top_p": 1.5}`: "from 0 to 1", `{"top_k": 0}`: "above 0", `{"top_k": 1.5}`: "above 0", `{"top_k": 99999999999}`: "above 0",
		`{"max_output_tokens": -1}`: "above 0", `{"max_output_tokens": "8k"}`: "above 0", `{"seed": 1.5}`: "whole number", `{"seed": 1e40}`: "whole number",
		`{"frequency_penalty": []}`: "a number", `{"presence_penalty": "1"}`: "a number",
	} {
		c := catalog(map[string]string{"OPENAI_API_KEY": "k"}, entries{"zai": {APIKey: "k", ModelParameters: parameters(t, `{"m": `+text+`}`)}})
		_, err := c.Resolve(Choice{Model: "zai:other"})
		if code(err) != BadParameters || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"m"`) {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := c.Resolve(Choice{Model: "sol"}); err != nil {
			t.Errorf("%s spoils another provider: %v", text, err)
		}
	}
}

func TestAtAzureTheDeploymentsParametersCount(t *testing.T) {
	c := New(config{entries: entries{"openai": {ModelParameters: parameters(t, `{"mine": {"temperature": 0.1}, "gpt-6-luna": {"temperature": 0.2}}`)}}},
		env(map[string]string{"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com", "AZURE_OPENAI_DEPLOYMENT": "mine"}))
	if q := prepared(t, c, Choice{Model: "luna"}); *q.Params.Temperature != 0.1 || q.Model != "mine" {
		t.Errorf("%+v", q)
	}
}
