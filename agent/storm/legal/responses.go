package legal

import (
	"slices"
	"strings"
)

// responses judges a body of OpenAI's Responses API.
func (j *judge) responses(body object) {
	j.said.Format = "responses"
	j.credentials("Authorization", "Api-Key")
	j.only(body, "body", "model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "include", "store", "stream",
		"prompt_cache_key", "max_output_tokens", "reasoning", "service_tier", "temperature", "top_p", "metadata", "text", "truncation",
		"safety_identifier", "user", "previous_response_id", "access_programs", "background", "max_tool_calls", "prompt_cache_retention")
	j.said.Model = j.full(body["model"], "model")
	if body["instructions"] != nil {
		j.said.System = j.text(body["instructions"], "instructions")
	}
	if body["max_output_tokens"] != nil {
		j.whole(body["max_output_tokens"], "max_output_tokens", 16)
	}
	if k, ok := body["prompt_cache_key"].(string); ok {
		j.must(len(k) <= 64, "prompt_cache_key", "is longer than 64")
	}
	j.responsesTools(body)
	if s, ok := body["input"].(string); ok {
		j.must(s != "", "input", "is empty")
		j.said.Texts = []string{s}
		return
	}
	w := &responsesItems{judge: j, calls: map[string]bool{}, sealed: body["store"] == false}
	list := j.list(body["input"], "input")
	j.must(len(list) > 0, "input", "is empty")
	for i, v := range list {
		where := at("input", i)
		o := j.object(v, where)
		kind, _ := o["type"].(string)
		follows := kind != "function_call_output" && (kind != "" && kind != "message" || o["role"] == "assistant")
		j.must(!w.thought || follows, where, "reasoning without its required following item")
		w.thought = kind == "reasoning"
		w.item(o, kind, where)
	}
	j.must(!w.thought, "input", "reasoning without its required following item")
	for id, answered := range w.calls {
		j.must(answered, "input", "no tool output found for function call "+id)
	}
}

func (j *judge) responsesTools(body object) {
	var names []string
	if body["tools"] != nil {
		for i, v := range j.list(body["tools"], "tools") {
			where := at("tools", i)
			t := j.object(v, where)
			if j.among(t["type"], where+".type", "function", "web_search") != "function" {
				continue
			}
			j.only(t, where, "type", "name", "description", "parameters", "strict")
			name := j.name(t["name"], where+".name")
			j.must(!slices.Contains(names, name), where+".name", "comes twice")
			names = append(names, name)
			j.schema(t["parameters"], where+".parameters")
		}
	}
	j.openAIChoice(body["tool_choice"], names, func(c object) any { return c["name"] })
}

// openAIChoice judges a tool_choice of OpenAI's formats; name finds the name in its object.
func (j *judge) openAIChoice(v any, names []string, name func(object) any) {
	switch c := v.(type) {
	case nil:
	case string:
		j.among(c, "tool_choice", "none", "auto", "required")
	default:
		o := j.object(v, "tool_choice")
		j.among(o["type"], "tool_choice.type", "function")
		j.must(slices.Contains(names, j.text(name(o), "tool_choice.name")), "tool_choice", "is no tool")
	}
}

// responsesItems is the walk through the items.
type responsesItems struct {
	*judge
	calls   map[string]bool // ids, and whether they have their output
	sealed  bool            // nothing is stored at the provider
	thought bool            // the item before is reasoning
}

func (w *responsesItems) item(o object, kind, where string) {
	switch kind {
	case "", "message":
		w.message(o, where)
	case "reasoning":
		w.only(o, where, "type", "id", "summary", "content", "encrypted_content", "status")
		w.list(o["summary"], where+".summary")
		if w.sealed {
			w.full(o["encrypted_content"], where+".encrypted_content")
		}
		if id, ok := o["id"].(string); ok {
			w.must(strings.HasPrefix(id, "rs_"), where+".id", "expected an id that begins with rs")
		}
	case "function_call":
		w.only(o, where, "type", "id", "call_id", "name", "arguments", "status")
		id := w.full(o["call_id"], where+".call_id")
		w.must(len(id) <= 64, where+".call_id", "is longer than 64")
		_, twice := w.calls[id]
		w.must(!twice, where+".call_id", "two calls have the id "+id)
		w.calls[id] = false
		w.name(o["name"], where+".name")
		w.arguments(o["arguments"], where+".arguments")
		w.said.Calls++
	case "function_call_output":
		w.output(o, where)
	case "web_search_call":
		w.must(w.full(o["id"], where+".id") != "", where, "has no id")
	default:
		w.fail(where+".type", "%q is not known", kind)
	}
}

func (w *responsesItems) output(o object, where string) {
	w.only(o, where, "type", "id", "call_id", "output", "status")
	id := w.full(o["call_id"], where+".call_id")
	answered, known := w.calls[id]
	w.must(known, where, "no tool call found for function call output with call_id "+id)
	w.must(!answered, where, "a second output for call_id "+id)
	if known {
		w.calls[id] = true
	}
	if _, ok := o["output"].(string); ok {
		return
	}
	list := w.list(o["output"], where+".output")
	w.must(len(list) > 0, where+".output", "is empty")
	for i, v := range list {
		w.input(w.object(v, at(where+".output", i)), at(where+".output", i))
	}
}

func (w *responsesItems) message(o object, where string) {
	w.only(o, where, "type", "id", "role", "content", "status", "phase")
	role := w.among(o["role"], where+".role", "user", "assistant", "system", "developer")
	if s, ok := o["content"].(string); ok {
		if role == "user" {
			w.said.Texts = append(w.said.Texts, s)
		}
		return
	}
	list := w.list(o["content"], where+".content")
	w.must(len(list) > 0, where+".content", "is empty")
	for i, v := range list {
		p, pw := w.object(v, at(where+".content", i)), at(where+".content", i)
		if role == "assistant" {
			if w.among(p["type"], pw+".type", "output_text", "refusal") == "output_text" {
				w.text(p["text"], pw+".text")
			}
			continue
		}
		if s := w.input(p, pw); role == "user" && p["type"] == "input_text" {
			w.said.Texts = append(w.said.Texts, s)
		}
	}
}

func (w *responsesItems) input(p object, where string) string {
	switch w.among(p["type"], where+".type", "input_text", "input_image", "input_file") {
	case "input_text":
		w.only(p, where, "type", "text")
		return w.text(p["text"], where+".text")
	case "input_image":
		w.only(p, where, "type", "image_url", "detail", "file_id")
		w.dataURL(p["image_url"], where+".image_url")
	}
	return ""
}
