package legal

import (
	"slices"
	"strings"
)

// chat judges a body of OpenAI's Chat Completions API. Fields that only some servers of the format
// know are taken.
func (j *judge) chat(body object) {
	j.said.Format = "chat"
	j.credentials("Authorization", "Api-Key")
	j.only(body, "body", "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options", "max_tokens",
		"max_completion_tokens", "reasoning_effort", "service_tier", "temperature", "top_p", "seed", "frequency_penalty",
		"presence_penalty", "prompt_cache_key", "metadata", "user", "web_search_options", "stop", "store", "response_format",
		"top_k", "reasoning", "provider", "plugins", "cache_control", "search_parameters", "thinking")
	j.said.Model = j.full(body["model"], "model")
	j.must(body["stream_options"] == nil || body["stream"] == true, "stream_options", "is only allowed with stream")
	if body["max_tokens"] != nil {
		j.whole(body["max_tokens"], "max_tokens", 1)
		j.must(body["max_completion_tokens"] == nil, "max_tokens", "can't be set with max_completion_tokens")
	}
	j.chatTools(body)
	w := &chatMessages{judge: j, ids: map[string]bool{}}
	list := j.list(body["messages"], "messages")
	j.must(len(list) > 0, "messages", "is empty")
	for i, v := range list {
		where := at("messages", i)
		w.message(j.object(v, where), where)
	}
	w.settled("messages")
	if n := len(list); n > 0 {
		last := j.object(list[n-1], at("messages", n-1))
		j.must(last["role"] == "user" || last["role"] == "tool", "messages", "the last message is not for the model to answer")
	}
}

func (j *judge) chatTools(body object) {
	var names []string
	if body["tools"] != nil {
		list := j.list(body["tools"], "tools")
		j.must(len(list) > 0, "tools", "is empty")
		for i, v := range list {
			where := at("tools", i)
			t := j.object(v, where)
			if j.among(t["type"], where+".type", "function", "web_search") != "function" {
				continue
			}
			f := j.object(t["function"], where+".function")
			j.only(f, where+".function", "name", "description", "parameters", "strict")
			name := j.name(f["name"], where+".function.name")
			j.must(!slices.Contains(names, name), where, "the name comes twice")
			names = append(names, name)
			j.schema(f["parameters"], where+".function.parameters")
		}
	}
	j.must(body["parallel_tool_calls"] == nil || len(names) > 0, "parallel_tool_calls", "is only allowed with tools")
	j.openAIChoice(body["tool_choice"], names, func(c object) any { return j.object(c["function"], "tool_choice.function")["name"] })
}

// chatMessages is the walk through the messages.
type chatMessages struct {
	*judge
	ids  map[string]bool
	open []string // calls without results so far
}

// settled wants that no call waits for its result.
func (w *chatMessages) settled(where string) {
	w.must(len(w.open) == 0, where, "an assistant message with tool_calls must be followed by tool messages responding to each tool_call_id; missing: "+
		strings.Join(w.open, ", "))
	w.open = nil
}

func (w *chatMessages) message(m object, where string) {
	switch w.among(m["role"], where+".role", "system", "developer", "user", "assistant", "tool") {
	case "system", "developer":
		w.settled(where)
		w.said.System += strings.Join(w.content(m["content"], where+".content"), "")
	case "user":
		w.settled(where)
		w.only(m, where, "role", "content", "name")
		texts := w.content(m["content"], where+".content")
		if len(texts) == 0 || !strings.HasPrefix(texts[0], "[file from ") { // pictures of results come as a user's message
			w.said.Texts = append(w.said.Texts, texts...)
		}
	case "assistant":
		w.settled(where)
		w.assistant(m, where)
	case "tool":
		w.only(m, where, "role", "content", "tool_call_id", "name")
		w.content(m["content"], where+".content")
		id := w.full(m["tool_call_id"], where+".tool_call_id")
		i := slices.Index(w.open, id)
		if i < 0 {
			w.fail(where, "a message with role tool must be a response to a preceding message with tool_calls; %q is none", id)
			return
		}
		w.open = slices.Delete(slices.Clone(w.open), i, i+1)
	}
}

func (w *chatMessages) assistant(m object, where string) {
	w.only(m, where, "role", "content", "tool_calls", "refusal", "name", "reasoning_content", "reasoning_details", "reasoning")
	switch c := m["content"].(type) {
	case nil:
		w.must(m["tool_calls"] != nil, where+".content", "is required without tool_calls")
	case string:
		w.must(c != "" || m["tool_calls"] != nil, where+".content", "is empty")
	default:
		w.content(c, where+".content")
	}
	if m["tool_calls"] == nil {
		return
	}
	calls := w.list(m["tool_calls"], where+".tool_calls")
	w.must(len(calls) > 0, where+".tool_calls", "is empty")
	for i, v := range calls {
		cw := at(where+".tool_calls", i)
		c := w.object(v, cw)
		w.only(c, cw, "id", "type", "function", "extra_content")
		w.among(c["type"], cw+".type", "function")
		id := w.full(c["id"], cw+".id")
		w.must(len(id) <= 40, cw+".id", "string too long: at most 40, got "+id)
		w.must(!w.ids[id], cw+".id", "two calls have the id "+id)
		w.ids[id] = true
		w.open = append(w.open, id)
		f := w.object(c["function"], cw+".function")
		w.name(f["name"], cw+".function.name")
		w.arguments(f["arguments"], cw+".function.arguments")
		w.said.Calls++
	}
}

// content wants text or a list of parts, and gives its texts.
func (w *chatMessages) content(v any, where string) (texts []string) {
	if s, ok := v.(string); ok {
		w.must(s != "", where, "is empty")
		return []string{s}
	}
	list := w.list(v, where)
	w.must(len(list) > 0, where, "is empty")
	for i, x := range list {
		pw := at(where, i)
		p := w.object(x, pw)
		switch w.among(p["type"], pw+".type", "text", "image_url", "file") {
		case "text":
			texts = append(texts, w.full(p["text"], pw+".text"))
		case "image_url":
			w.dataURL(w.object(p["image_url"], pw+".image_url")["url"], pw+".image_url.url")
		}
	}
	return texts
}
