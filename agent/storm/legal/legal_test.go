package legal_test

import (
	"strings"
	"testing"

	"carrel/agent/storm/legal"
)

// formats are a legal request of each format, which has a call, its result and a tool. In them are the
// words that the cases below replace.
var formats = map[string]struct{ path, body string }{
	"anthropic": {"/v1/messages", `{"model":"m","max_tokens":10,"stream":true,"system":[{"type":"text","text":"sys"}],
		"tools":[{"name":"read","description":"d","input_schema":{"type":"object"}}],
		"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"ok"},{"type":"tool_use","id":"c1","name":"read","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"out"}]},{"type":"text","text":"more"}]}]}`},
	"responses": {"/v1/responses", `{"model":"m","stream":true,"store":false,"instructions":"sys",
		"tools":[{"type":"function","name":"read","description":"d","parameters":{"type":"object"},"strict":false}],
		"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]},
		{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]},
		{"type":"function_call","call_id":"c1","name":"read","arguments":"{}"},
		{"type":"function_call_output","call_id":"c1","output":"out"},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"more"}]}]}`},
	"chat": {"/v1/chat/completions", `{"model":"m","stream":true,"stream_options":{"include_usage":true},
		"tools":[{"type":"function","function":{"name":"read","description":"d","parameters":{"type":"object"}}}],
		"messages":[{"role":"system","content":"sys"},{"role":"user","content":"hello"},
		{"role":"assistant","content":"ok","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"out"},{"role":"user","content":"more"}]}`},
	"gemini": {"/v1beta/models/m:streamGenerateContent", `{"systemInstruction":{"parts":[{"text":"sys"}]},
		"tools":[{"functionDeclarations":[{"name":"read","description":"d","parametersJsonSchema":{"type":"object"}}]}],
		"contents":[{"role":"user","parts":[{"text":"hello"}]},
		{"role":"model","parts":[{"text":"ok"},{"functionCall":{"id":"c1","name":"read","args":{}},"thoughtSignature":"s"}]},
		{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"out"}}},{"text":"more"}]}]}`},
	"bedrock-claude": {"/model/m/invoke-with-response-stream", `{"anthropic_version":"bedrock-2023-05-31","max_tokens":10,
		"system":[{"type":"text","text":"sys"}],"tools":[{"name":"read","description":"d","input_schema":{"type":"object"}}],
		"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]},
		{"role":"assistant","content":[{"type":"text","text":"ok"},{"type":"tool_use","id":"c1","name":"read","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"out"},{"type":"text","text":"more"}]}]}`},
	"bedrock": {"/model/m/converse-stream", `{"system":[{"text":"sys"}],
		"toolConfig":{"tools":[{"toolSpec":{"name":"read","description":"d","inputSchema":{"json":{"type":"object"}}}}]},
		"messages":[{"role":"user","content":[{"text":"hello"}]},
		{"role":"assistant","content":[{"text":"ok"},{"toolUse":{"toolUseId":"c1","name":"read","input":{}}}]},
		{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"out"}],"status":"success"}},{"text":"more"}]}]}`},
}

func check(format, body string) (legal.Said, error) {
	return legal.Check(legal.Request{Path: formats[format].path, Body: []byte(body), Header: map[string][]string{
		"Content-Type": {"application/json"}, "Authorization": {"Bearer k"}, "Anthropic-Version": {"2023-06-01"}}})
}

func TestLegalRequestsAreTaken(t *testing.T) {
	for format, f := range formats {
		said, err := check(format, f.body)
		if err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if said.Format != format || said.Model != "m" || said.System != "sys" || strings.Join(said.Texts, ",") != "hello,more" || said.Calls != 1 {
			t.Errorf("%s: %+v", format, said)
		}
	}
}

var long = strings.Repeat("i", 65)

// illegal changes the legal request of some formats in one place each.
var illegal = []struct{ formats, old, now string }{
	{"all", `"hello"`, `"\ud83d"`},
	{"all", `"hello"`, "\"\xff\""},
	{"all", `"hello"`, `hello`},
	{"all", `"name":"read"`, `"name":"read","name":"read"`},
	{"all", `"name":"read"`, `"name":"re ad"`},
	{"all", `"type":"object"`, `"type":"string"`},
	{"all", `"role":"user"`, `"role":"nobody"`},
	{"anthropic bedrock chat gemini", `"hello"`, `""`},
	{"anthropic bedrock", `"hello"`, `"  "`},
	{"anthropic", `"max_tokens":10`, `"max_tokens":0`},
	{"anthropic", `"max_tokens":10`, `"max_tokens":10,"n":1`},
	{"anthropic", `"role":"user"`, `"role":"assistant"`},
	{"anthropic", `"signature":"s"`, `"signature":""`},
	{"anthropic", `{"type":"text","text":"ok"},{"type":"tool_use","id":"c1","name":"read","input":{}}`, ``},
	{"anthropic", `"tool_use_id":"c1"`, `"tool_use_id":"c2"`},
	{"anthropic", `"id":"c1"`, `"id":"c:1"`},
	{"anthropic", `"input":{}`, `"input":[]`},
	{"anthropic", `[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"out"}]},{"type":"text","text":"more"}]`,
		`[{"type":"text","text":"more"},{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"out"}]}]`},
	{"anthropic", `{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"out"}]},`, ``},
	{"anthropic", `[{"type":"text","text":"out"}]`, `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]`},
	{"anthropic", `[{"type":"text","text":"out"}]`, `[{"type":"image","source":{}}],"is_error":true`},
	{"anthropic", `"stream":true`, `"thinking":{"type":"enabled","budget_tokens":2000}`},
	{"anthropic", `"stream":true`, `"tool_choice":{"type":"tool","name":"none"}`},
	{"responses", `"call_id":"c1","output"`, `"call_id":"c2","output"`},
	{"responses", `"call_id":"c1"`, `"call_id":"` + long + `"`},
	{"responses", `"arguments":"{}"`, `"arguments":"{"`},
	{"responses", `{"type":"function_call_output","call_id":"c1","output":"out"},`, ``},
	{"responses", `"encrypted_content":"e"},`, `"encrypted_content":""},`},
	{"responses", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}`, `{"type":"message","role":"user","content":"x"}`},
	{"chat", `"id":"c1"`, `"id":"` + long[:41] + `"`},
	{"chat", `"tool_call_id":"c1"`, `"tool_call_id":"c2"`},
	{"chat", `{"role":"tool","tool_call_id":"c1","content":"out"},`, ``},
	{"chat", `,{"role":"user","content":"more"}`, `,{"role":"assistant","content":"more"}`},
	{"chat", `{"role":"tool","tool_call_id":"c1","content":"out"},`, `{"role":"user","content":"x"},{"role":"tool","tool_call_id":"c1","content":"out"},`},
	{"chat", `"arguments":"{}"`, `"arguments":"[]"`},
	{"chat", `"arguments":"{}"`, `"arguments":{}`},
	{"gemini", `{"functionResponse":{"id":"c1","name":"read","response":{"output":"out"}}},`, ``},
	{"gemini", `"response":{"output":"out"}`, `"response":"out"`},
	{"gemini", `{"role":"user","parts":[{"text":"hello"}]},`, ``},
	{"gemini", `[{"text":"hello"}]`, `[]`},
	{"bedrock", `{"toolResult":{"toolUseId":"c1","content":[{"text":"out"}],"status":"success"}},`, ``},
	{"bedrock", `"toolUseId":"c1"`, `"toolUseId":"c:1"`},
	{"bedrock", `{"role":"user","content":[{"text":"hello"}]},`, `{"role":"user","content":[{"text":"hello"}]},{"role":"user","content":[{"text":"hello"}]},`},
	{"bedrock-claude", `"anthropic_version":"bedrock-2023-05-31"`, `"model":"m"`},
	{"bedrock", `"toolConfig"`, `"requestMetadata"`},
	{"bedrock", `[{"text":"out"}]`, `[]`},
}

func TestWhatAProviderRefusesIsRefused(t *testing.T) {
	for _, c := range illegal {
		if c.formats == "all" {
			c.formats = "anthropic responses chat gemini bedrock bedrock-claude"
		}
		for _, format := range strings.Fields(c.formats) {
			body := strings.Replace(formats[format].body, c.old, c.now, 1)
			if body == formats[format].body {
				t.Errorf("%s has no %s", format, c.old)
			} else if _, err := check(format, body); err == nil {
				t.Errorf("%s: %s instead of %s is taken", format, c.now, c.old)
			}
		}
	}
}

func TestWhoAsksMustSayWho(t *testing.T) {
	for format, f := range formats {
		if _, err := legal.Check(legal.Request{Path: f.path, Body: []byte(f.body), Header: map[string][]string{"Content-Type": {"application/json"}}}); err == nil {
			t.Errorf("%s needs no key", format)
		}
	}
	if _, err := legal.Check(legal.Request{Path: "/v1/elsewhere", Body: []byte(`{}`)}); err == nil {
		t.Error("any path is taken")
	}
}
