package fakewire

import (
	"strings"
	"testing"
)

// What Gemini and Bedrock refuse is refused.
func TestBodiesThatGeminiAndBedrockRefuse(t *testing.T) {
	const (
		gemini   = "/v1beta/models/m:streamGenerateContent"
		old      = "/old/v1beta/models/m:streamGenerateContent"
		claude   = "/model/m/invoke-with-response-stream"
		converse = "/model/m/converse-stream"
		ask      = `"contents":[{"role":"user","parts":[{"text":"x"}]}`
		said     = `"messages":[{"role":"user","content":[{"text":"x"}]}`
		call     = `,{"role":"model","parts":[{"functionCall":{"id":"a","name":"n","args":{}}SIG}]},{"role":"user","parts":[{"functionResponse":{"id":"a","name":"n","response":{"output":"o"}PARTS}}]}`
		marked   = `,"thoughtSignature":"skip_thought_signature_validator"`
		picture  = `,"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAAC0lEQVR4nGNgAAIAAAUAAXpeqz8AAAAASUVORK5CYII="}}]`
	)
	calls := func(sig, parts string) string {
		return `{` + ask + strings.NewReplacer("SIG", sig, "PARTS", parts).Replace(call) + `]}`
	}
	for name, x := range map[string]struct{ path, body, want string }{
		"gemini field":        {gemini, `{` + ask + `],"messages":[]}`, "messages"},
		"gemini no signature": {gemini, calls("", ""), "thought_signature"},
		"gemini signature":    {gemini, calls(`,"thoughtSignature":"wrong"`, ""), "signature"},
		"gemini picture":      {old, calls(marked, picture), "multimodal"},
		"gemini both":         {gemini, `{` + ask + `],"generationConfig":{"thinkingConfig":{"thinkingLevel":"low","thinkingBudget":1000}}}`, "only one"},
		"gemini search":       {gemini, `{` + ask + `],"tools":[{"functionDeclarations":[{"name":"n","parametersJsonSchema":{"type":"object"}}]},{"googleSearch":{}}]}`, "built-in"},
		"gemini thought":      {gemini, `{` + ask + `,{"role":"model","parts":[{"text":"t","thought":true}]}]}`, "thoughts"},
		"gemini role":         {gemini, `{"contents":[{"role":"assistant","parts":[{"text":"x"}]}]}`, "role"},
		"gemini orphan":       {gemini, `{"contents":[{"role":"user","parts":[{"functionResponse":{"id":"a","name":"n","response":{}}}]}]}`, "without calls"},
		"claude version":      {claude, `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`, "anthropic_version"},
		"claude model":        {claude, `{"anthropic_version":"bedrock-2023-05-31","model":"m","max_tokens":1,"messages":[]}`, "model"},
		"converse field":      {converse, `{` + said + `],"model":"m"}`, "model"},
		"converse blank":      {converse, `{"messages":[{"role":"user","content":[{"text":""}]}]}`, "blank"},
		"converse no tools":   {converse, `{` + said + `,{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"n","input":{}}}]}]}`, "toolConfig"},
		"converse two":        {converse, `{"messages":[{"role":"user","content":[{"text":"x","image":{}}]}]}`, "exactly one"},
	} {
		if err := Check(x.path, []byte(x.body)); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for path, body := range map[string]string{
		gemini: calls(marked, picture), old: calls("", ""), converse: `{` + said + `]}`,
		claude: `{"anthropic_version":"bedrock-2023-05-31","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`,
	} {
		if err := Check(path, []byte(body)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
