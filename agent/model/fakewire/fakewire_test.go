package fakewire

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

const anthropicStart = `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}`

func post(t *testing.T, s *Server, path, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestStepsFollowTheRoundsSinceThePrompt(t *testing.T) {
	call := Message{Role: "assistant", Calls: []Call{{ID: "a"}, {ID: "b"}}}
	back := Message{Role: "tool", Results: []Result{{ID: "a"}, {ID: "b"}}}
	images := Message{Role: "user", Text: "[file from read, call a]"}
	prompt := Message{Role: "user", Text: "go"}
	script := Turns(Steps(Reply{Text: "1.0"}, Reply{Text: "1.1"}, Reply{Text: "1.2"}), Steps(Reply{Text: "2.0"}, Reply{Text: "2.1"}))
	for want, messages := range map[string][]Message{
		"1.0": {prompt},
		"1.1": {prompt, call, back, images},
		"1.2": {prompt, call, back, call, back, call, back, call, back},
		"2.0": {prompt, call, back, prompt},
		"2.1": {prompt, call, back, prompt, call, back, prompt, call, back},
	} {
		if got := script(Request{Messages: messages}).Text; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	once := Once(Steps(Reply{Text: "then"}), Reply{Text: "first"})
	if a, b := once(Request{N: 1}).Text, once(Request{N: 2}).Text; a != "first" || b != "then" {
		t.Errorf("%s, %s", a, b)
	}
}

func TestRequestsThatTheRealServersRefuseAreRefused(t *testing.T) {
	s := New(t, Steps(Reply{Text: "ok"}))
	call := `,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{}}]}`
	for name, c := range map[string]struct{ path, body string }{
		"no result":          {"/v1/messages", anthropicStart + call + `]}`},
		"empty message":      {"/v1/messages", anthropicStart + `,{"role":"assistant","content":[]}]}`},
		"late result":        {"/v1/messages", anthropicStart + call + `,{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"a","content":[]}]}]}`},
		"wrong seal":         {"/v1/messages", anthropicStart + `,{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"x"}]}]}`},
		"lone surrogate":     {"/v1/messages", strings.Replace(anthropicStart, "hi", `\ud83d`, 1) + `]}`},
		"no JSON":            {"/v1/messages", anthropicStart},
		"nothing":            {"/v1/responses", `{"model":"m","input":[]}`},
		"orphan":             {"/v1/responses", `{"model":"m","input":[{"type":"function_call_output","call_id":"a","output":"x"}]}`},
		"bad arguments":      {"/v1/chat/completions", `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"n","arguments":"{"}}]},{"role":"tool","tool_call_id":"a","content":"x"}]}`},
		"image in between":   {"/v1/chat/completions", `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"n","arguments":"{}"}},{"id":"b","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"x"},{"role":"user","content":"img"},{"role":"tool","tool_call_id":"b","content":"x"}]}`},
		"result comes twice": {"/v1/chat/completions", `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"a","content":"x"}]}`},
	} {
		if status, text := post(t, s, c.path, c.body); status != http.StatusBadRequest {
			t.Errorf("%s: status %d, %s", name, status, text)
		}
		if Check(c.path, []byte(c.body)) == nil {
			t.Errorf("%s: Check lets it pass", name)
		}
	}
	s.AcceptAnything()
	if status, _ := post(t, s, "/v1/messages", anthropicStart+call+`]}`); status != http.StatusOK {
		t.Errorf("a lax server refuses with %d", status)
	}
	if status, _ := post(t, s, "/v1/nowhere", `{}`); status != http.StatusNotFound {
		t.Errorf("an unknown path gives %d", status)
	}
}

// Strict rules beyond the order of messages: fields, tools, thinking, cache marks, files.
func TestBodiesThatTheRealServersRefuseAreRefused(t *testing.T) {
	const end = `]}`
	with := func(fields string) string {
		return strings.Replace(anthropicStart, `"max_tokens":1`, `"max_tokens":4096,`+fields, 1) + end
	}
	mark := `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
	blocks := func(list string) string {
		return strings.Replace(anthropicStart+end, `{"type":"text","text":"hi"}`, list, 1)
	}
	chat := func(fields string) string {
		return `{"model":"m","messages":[{"role":"user","content":"x"}],` + fields + `}`
	}
	responses := func(fields string) string {
		return `{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}],` + fields + `}`
	}
	for name, c := range map[string]struct{ path, body, want string }{
		"field":          {"/messages", with(`"prompt":1`), "prompt"},
		"budget":         {"/messages", with(`"thinking":{"type":"enabled","budget_tokens":4096}`), "budget_tokens"},
		"forced":         {"/messages", with(`"tools":[{"name":"a","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"a"},"thinking":{"type":"adaptive"}`), "forces"},
		"no such tool":   {"/messages", with(`"tools":[{"name":"a","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"b"}`), "no tool"},
		"schema":         {"/messages", with(`"tools":[{"name":"a","input_schema":{"type":"string"}}]`), "input_schema"},
		"tool twice":     {"/messages", with(`"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"a","input_schema":{"type":"object"}}]`), "twice"},
		"effort":         {"/messages", with(`"output_config":{"effort":"huge"}`), "effort"},
		"five marks":     {"/messages", blocks(strings.Repeat(mark+",", 4) + mark), "maximum of 4"},
		"ttl order":      {"/messages", blocks(mark + "," + strings.Replace(mark, `"ephemeral"`, `"ephemeral","ttl":"1h"`, 1)), "ttl"},
		"image":          {"/messages", blocks(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aW1n"}}`), "image"},
		"base64":         {"/messages", blocks(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"!"}}`), "base64"},
		"half a search":  {"/messages", anthropicStart + `,{"role":"assistant","content":[{"type":"server_tool_use","id":"a","name":"web_search","input":{}},{"type":"text","text":"x"}]},{"role":"user","content":[{"type":"text","text":"y"}]}]}`, "native"},
		"first role":     {"/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"text","text":"hi"}]}]}`, "role"},
		"chat field":     {"/chat/completions", chat(`"input":1`), "input"},
		"chat schema":    {"/chat/completions", chat(`"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object","anyOf":[]}}}]`), "anyOf"},
		"tier":           {"/responses", responses(`"service_tier":"fast"`), "service_tier"},
		"mode":           {"/responses", responses(`"reasoning":{"mode":"amateur"}`), "mode"},
		"cache key":      {"/responses", responses(`"prompt_cache_key":"` + strings.Repeat("x", 65) + `"`), "64"},
		"responses tool": {"/responses", responses(`"tools":[{"type":"function","function":{"name":"a"}}]`), "function"},
	} {
		if err := Check(c.path, []byte(c.body)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []struct{ path, body string }{
		{"/messages", with(`"speed":"fast","thinking":{"type":"enabled","budget_tokens":2048}`)}, {"/responses", responses(`"service_tier":"ultrafast"`)}, {"/chat/completions", chat(`"seed":1`)},
	} {
		if err := Check(c.path, []byte(c.body)); err != nil {
			t.Errorf("%s: %v", c.body, err)
		}
	}
}

func TestBlockHoldsTheEndBack(t *testing.T) {
	hold := make(chan struct{})
	s := New(t, Steps(Reply{Text: "shown", Block: hold}))
	resp, err := http.Post(s.URL+"/v1/messages", "application/json", strings.NewReader(anthropicStart+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	seen := make([]byte, 0, 4096)
	for !strings.Contains(string(seen), "shown") {
		buf := make([]byte, 512)
		n, err := resp.Body.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, buf[:n]...)
	}
	close(hold)
	rest, err := io.ReadAll(resp.Body)
	if err != nil || strings.Contains(string(seen), "message_stop") || !strings.Contains(string(rest), "message_stop") {
		t.Errorf("%s / %s, %v", seen, rest, err)
	}
}

func TestCloseEndsWhatHangs(t *testing.T) {
	s, err := Start("127.0.0.1:0", Steps(Reply{Hang: HangStart}))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(s.URL+"/v1/messages", "application/json", strings.NewReader(anthropicStart+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // it breaks on purpose
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Gone():
	case <-time.After(60 * time.Second):
		t.Error("the reply still hangs")
	}
}
