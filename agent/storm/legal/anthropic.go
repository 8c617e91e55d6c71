package legal

import (
	"slices"
	"strings"
)

// anthropic judges a body of Anthropic's Messages API.
func (j *judge) anthropic(body object) {
	j.said.Format = "anthropic"
	j.credentials("X-Api-Key", "Authorization")
	j.must(j.head("Anthropic-Version") != "", "header", "anthropic-version is required")
	j.said.Model = j.full(body["model"], "model")
	j.anthropicBody(body, "model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "output_config",
		"temperature", "top_p", "top_k", "stop_sequences", "stream", "metadata", "service_tier", "speed", "container", "context_management")
}

// anthropicBody judges what Anthropic's servers and others of the format have in common.
func (j *judge) anthropicBody(body object, known ...string) {
	j.only(body, "body", known...)
	limit := j.whole(body["max_tokens"], "max_tokens", 1)
	names := j.anthropicTools(body)
	thinks := j.anthropicThinking(body, limit)
	j.anthropicChoice(body, names, thinks)
	m := &anthropicMessages{judge: j, ids: map[string]bool{}}
	if s, ok := body["system"].(string); ok {
		j.said.System = s
	} else if body["system"] != nil {
		for i, b := range j.list(body["system"], "system") {
			where := at("system", i)
			o := j.object(b, where)
			j.among(o["type"], where+".type", "text")
			j.said.System += m.spoken(o, where)
			m.mark(o, where)
		}
	}
	list := j.list(body["messages"], "messages")
	j.must(len(list) > 0, "messages", "at least one message is required")
	for i, v := range list {
		m.message(j.object(v, at("messages", i)), at("messages", i), i == 0, i == len(list)-1)
	}
	j.must(len(m.open) == 0, "messages", "tool_use ids were found without tool_result blocks immediately after")
	for _, t := range asObjects(body["tools"]) {
		m.mark(t, "tools")
	}
	j.must(m.marks <= 4, "cache_control", "more than 4 blocks are marked")
}

func asObjects(v any) (out []object) {
	list, ok := v.([]any)
	if !ok {
		return nil
	}
	for _, x := range list {
		if o, ok := x.(object); ok {
			out = append(out, o)
		}
	}
	return out
}

func (j *judge) anthropicTools(body object) (names []string) {
	if body["tools"] == nil {
		return nil
	}
	for i, v := range j.list(body["tools"], "tools") {
		where := at("tools", i)
		t := j.object(v, where)
		name := j.name(t["name"], where+".name")
		j.must(!slices.Contains(names, name), where+".name", "tool names must be unique")
		names = append(names, name)
		if kind, ok := t["type"].(string); ok && kind != "custom" {
			j.must(strings.HasPrefix(kind, "web_search_"), where+".type", "is not known")
			continue
		}
		j.only(t, where, "type", "name", "description", "input_schema", "cache_control", "strict")
		j.schema(t["input_schema"], where+".input_schema")
	}
	return names
}

func (j *judge) anthropicThinking(body object, limit int64) (on bool) {
	if body["thinking"] == nil {
		return false
	}
	t := j.object(body["thinking"], "thinking")
	kind := j.among(t["type"], "thinking.type", "enabled", "disabled", "adaptive")
	if kind == "enabled" {
		n := j.whole(t["budget_tokens"], "thinking.budget_tokens", 1024)
		j.must(n < limit, "thinking.budget_tokens", "is not less than max_tokens")
	} else {
		j.must(t["budget_tokens"] == nil, "thinking.budget_tokens", "is only for type enabled")
	}
	on = kind != "disabled"
	j.must(!on || body["top_k"] == nil, "top_k", "may not be set with thinking")
	return on
}

func (j *judge) anthropicChoice(body object, names []string, thinks bool) {
	if body["tool_choice"] == nil {
		return
	}
	c := j.object(body["tool_choice"], "tool_choice")
	kind := j.among(c["type"], "tool_choice.type", "auto", "any", "tool", "none")
	j.must(len(names) > 0, "tool_choice", "may only be set while providing tools")
	j.must(!thinks || kind == "auto" || kind == "none", "tool_choice", "thinking may not be enabled when a tool is forced")
	if kind == "tool" {
		j.must(slices.Contains(names, j.text(c["name"], "tool_choice.name")), "tool_choice.name", "is no tool")
	}
}

// anthropicMessages is the walk through the messages.
type anthropicMessages struct {
	*judge
	ids   map[string]bool // of all calls
	open  []string        // calls of the message before, without results
	marks int
}

func (m *anthropicMessages) mark(o object, where string) {
	if o["cache_control"] == nil {
		return
	}
	m.marks++
	c := m.object(o["cache_control"], where+".cache_control")
	m.among(c["type"], where+".cache_control.type", "ephemeral")
	if c["ttl"] != nil {
		m.among(c["ttl"], where+".cache_control.ttl", "5m", "1h")
	}
}

func (m *anthropicMessages) message(msg object, where string, first, last bool) {
	m.only(msg, where, "role", "content")
	role := m.among(msg["role"], where+".role", "user", "assistant")
	m.must(!first || role == "user", where+".role", "the first message must be the user's")
	if s, ok := msg["content"].(string); ok {
		msg = object{"content": []any{object{"type": "text", "text": s}}}
	}
	blocks := m.list(msg["content"], where+".content")
	m.must(len(blocks) > 0, where, "all messages must have non-empty content")
	results, said := m.open, false
	m.open = nil
	for i, v := range blocks {
		w := at(where+".content", i)
		b := m.object(v, w)
		if b["type"] == "tool_result" {
			m.must(role == "user", w, "tool_result is for users")
			m.must(!said, w, "tool_result blocks must come first")
			results = m.result(b, w, results)
			continue
		}
		said = true
		m.block(b, w, role)
	}
	m.must(len(results) == 0, where, "tool_use ids without tool_result blocks immediately after: "+strings.Join(results, ", "))
	if role == "assistant" && len(blocks) > 0 {
		end := m.object(blocks[len(blocks)-1], where)
		kind, _ := end["type"].(string)
		m.must(kind != "thinking" && kind != "redacted_thinking", where, "the final block in an assistant message cannot be thinking")
		if last { // who asks to go on, asks for a paused response
			m.must(kind == "server_tool_use" || kind == "web_search_tool_result", where, "the conversation must end with a user message")
		}
	}
}

func (m *anthropicMessages) result(b object, where string, want []string) (left []string) {
	m.only(b, where, "type", "tool_use_id", "content", "is_error", "cache_control")
	m.mark(b, where)
	id := m.text(b["tool_use_id"], where+".tool_use_id")
	i := slices.Index(want, id)
	if i < 0 {
		m.fail(where, "unexpected tool_use_id %q: no such tool_use in the previous message, or a second result for it", id)
		return want
	}
	if _, ok := b["content"].(string); !ok && b["content"] != nil {
		for k, v := range m.list(b["content"], where+".content") {
			w := at(where+".content", k)
			c := m.object(v, w)
			kind := m.among(c["type"], w+".type", "text", "image", "document")
			m.must(b["is_error"] != true || kind == "text", w, "all content must be type text if is_error is true")
			m.content(c, w)
		}
	}
	return slices.Delete(slices.Clone(want), i, i+1)
}

func (m *anthropicMessages) block(b object, where, role string) {
	m.mark(b, where)
	kind, _ := b["type"].(string)
	switch kind {
	case "text", "image", "document":
		text := m.content(b, where)
		m.must(role == "user" || kind == "text", where, "assistants speak text")
		if role == "user" && kind == "text" {
			m.said.Texts = append(m.said.Texts, text)
		}
	case "thinking":
		m.only(b, where, "type", "thinking", "signature")
		m.full(b["signature"], where+".signature")
		m.text(b["thinking"], where+".thinking")
		m.must(role == "assistant", where, "thinking is for assistants")
	case "redacted_thinking":
		m.only(b, where, "type", "data")
		m.full(b["data"], where+".data")
	case "tool_use":
		m.only(b, where, "type", "id", "name", "input", "cache_control")
		id := m.text(b["id"], where+".id")
		m.must(plainID.MatchString(id), where+".id", "does not match ^[a-zA-Z0-9_-]+$")
		m.must(!m.ids[id], where+".id", "tool_use ids must be unique")
		m.ids[id] = true
		m.name(b["name"], where+".name")
		m.object(b["input"], where+".input")
		m.must(role == "assistant", where, "tool_use is for assistants")
		m.open = append(m.open, id)
		m.said.Calls++
	case "server_tool_use", "web_search_tool_result":
		m.must(role == "assistant", where, kind+" is for assistants")
	default:
		m.fail(where+".type", "%q is not known", kind)
	}
}

func (m *anthropicMessages) spoken(b object, where string) string {
	text := m.text(b["text"], where+".text")
	m.must(strings.TrimSpace(text) != "", where, "text content blocks must contain non-whitespace text")
	return text
}

func (m *anthropicMessages) content(b object, where string) string {
	if b["type"] == "text" {
		m.only(b, where, "type", "text", "cache_control", "citations")
		return m.spoken(b, where)
	}
	s := m.object(b["source"], where+".source")
	m.among(s["type"], where+".source.type", "base64")
	media, data := m.text(s["media_type"], where+".source.media_type"), m.text(s["data"], where+".source.data")
	if b["type"] == "image" {
		m.picture(media, data, where+".source")
	}
	return ""
}
