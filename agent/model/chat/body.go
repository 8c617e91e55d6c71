package chat

import (
	"encoding/json"
	"slices"
	"strings"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// Body has the tools and the system prompt first, so that the bytes of one request begin like those
// of the one before.
func (f format) Body(r *model.Request) wire.Body {
	name := r.Model
	if f.deployment != "" {
		name = f.deployment
	}
	body := wire.Obj("model", name, "stream", true, "stream_options", wire.Obj("include_usage", true))
	if n := maxTokens(r); n > 0 {
		field := f.quirks.MaxTokensField
		if field == "" {
			field = "max_tokens"
		}
		body = body.With(field, n)
	}
	search := slices.Contains(r.Native, model.WebSearch)
	body = f.tools(body, r, search)
	body = f.thinking(body, r.Thinking)
	if r.Tier != "" {
		body = body.With("service_tier", r.Tier)
	}
	if f.quirks.CacheKey && r.CacheKey != "" {
		body = body.With("prompt_cache_key", wire.CallID(r.CacheKey)) // 64 characters at most
	}
	if f.quirks.CacheControl {
		body = body.With("cache_control", cacheControl(r))
	}
	body = params(body, r.Params).Further(f.extra)
	if search {
		body = f.search(body)
	}
	out := wire.Body{Head: body.Further(r.Params.Extra), List: "messages"}
	if r.System != "" {
		out.First = []any{wire.Obj("role", "system", "content", r.System)}
	}
	return out
}

func maxTokens(r *model.Request) int {
	if r.MaxTokens <= 0 && r.Params.MaxOutput != nil {
		return *r.Params.MaxOutput
	}
	return r.MaxTokens
}

func params(body wire.Object, p model.Params) wire.Object {
	body = body.Number("temperature", p.Temperature).Number("top_p", p.TopP).Int("top_k", p.TopK)
	if p.Seed != nil {
		body = body.With("seed", *p.Seed)
	}
	return body.Number("frequency_penalty", p.FrequencyPenalty).Number("presence_penalty", p.PresencePenalty)
}

func cacheControl(r *model.Request) wire.Object {
	o := wire.Obj("type", "ephemeral")
	if r.CacheHour {
		o = o.With("ttl", "1h")
	}
	return o
}

func (f format) tools(body wire.Object, r *model.Request, search bool) wire.Object {
	var tools []wire.Object
	for _, t := range r.Tools {
		tools = append(tools, wire.Obj("type", "function", "function",
			wire.Obj("name", t.Name, "description", t.Description, "parameters", wire.Schema(t))))
	}
	if search && f.quirks.Search == SearchTool {
		tools = append(tools, wire.Obj("type", "web_search", "web_search", wire.Obj("enable", true, "search_result", true)))
	}
	if tools == nil {
		return body
	}
	body = body.With("tools", tools)
	if r.Force != "" {
		body = body.With("tool_choice", wire.Obj("type", "function", "function", wire.Obj("name", r.Force)))
	}
	if r.OneTool {
		body = body.With("parallel_tool_calls", false)
	}
	return body
}

// search switches the server's own search on, unless the settings say how.
func (f format) search(body wire.Object) wire.Object {
	if body.Has(string(f.quirks.Search)) {
		return body
	}
	switch f.quirks.Search {
	case SearchParameters:
		return body.With(string(SearchParameters), wire.Obj("mode", "auto"))
	case SearchPlugin:
		return body.With(string(SearchPlugin), []wire.Object{wire.Obj("id", "web")})
	case SearchOptions:
		return body.With(string(SearchOptions), wire.Object{})
	case SearchTool, SearchNone:
	}
	return body
}

func (f format) thinking(body wire.Object, t model.Thinking) wire.Object {
	if !t.Off && t.Effort == "" && t.Budget <= 0 {
		return body
	}
	switch f.quirks.Effort {
	case EffortObject:
		return body.With("reasoning", effortObject(t))
	case EffortSwitch, EffortBoth:
		state := "enabled"
		if t.Off {
			state = "disabled"
		}
		body = body.With("thinking", wire.Obj("type", state))
		if f.quirks.Effort == EffortBoth && !t.Off && t.Effort != "" {
			body = body.With("reasoning_effort", t.Effort)
		}
	case EffortField:
		switch {
		case t.Off:
			return body.With("reasoning_effort", "none")
		case t.Effort != "":
			return body.With("reasoning_effort", t.Effort)
		}
	}
	return body
}

// effortObject takes a budget or a word, not both.
func effortObject(t model.Thinking) wire.Object {
	switch {
	case t.Off:
		return wire.Obj("enabled", false)
	case t.Budget > 0:
		return wire.Obj("max_tokens", t.Budget)
	}
	return wire.Obj("effort", t.Effort)
}

// Items are one message, or one for each result. The files of results come after all of them:
// nothing may come between a call's results.
func (f format) Items(m model.Message) []any {
	switch m.Role {
	case model.ToolRole:
		var out []any
		var files []wire.Object
		for _, p := range m.Parts {
			text, more := result(p)
			out = append(out, wire.Obj("role", "tool", "tool_call_id", wire.ShortID(p.CallID), "content", text))
			files = append(files, more...)
		}
		if files != nil {
			out = append(out, wire.Obj("role", "user", "content", files))
		}
		return out
	case model.Assistant:
		return []any{f.assistant(m)}
	case model.User:
	}
	return []any{wire.Obj("role", "user", "content", content(m.Parts))}
}

func (f format) assistant(m model.Message) wire.Object {
	var text, thought strings.Builder
	var calls []wire.Object
	var details []any
	for _, p := range m.Parts {
		details = append(details, f.details(p)...)
		switch p.Kind {
		case model.Text:
			text.WriteString(p.Text)
		case model.Reasoning:
			thought.WriteString(p.Text)
		case model.ToolCall:
			call := wire.Obj("id", wire.ShortID(p.CallID), "type", "function", "function",
				wire.Obj("name", p.Name, "arguments", string(wire.CleanJSON([]byte(p.Input)))))
			if isObject(p.Opaque) {
				call = call.With("extra_content", wire.Raw(p.Opaque))
			}
			calls = append(calls, call)
		case model.File, model.ToolResult, model.Native:
		}
	}
	o := wire.Obj("role", "assistant")
	if text.Len() > 0 || calls == nil {
		o = o.With("content", text.String())
	}
	if f.quirks.Replay == ReplayText && thought.Len() > 0 {
		o = o.With(string(ReplayText), thought.String())
	}
	if details != nil {
		o = o.With(string(ReplayDetails), details)
	}
	if calls != nil {
		o = o.With("tool_calls", calls)
	}
	return o
}

// details are the sealed details of reasoning that a part carries.
func (f format) details(p model.Part) []any {
	var list []json.RawMessage
	if f.quirks.Replay != ReplayDetails || p.Opaque == nil || json.Unmarshal(p.Opaque, &list) != nil {
		return nil
	}
	var out []any
	for _, d := range list {
		out = append(out, wire.Raw(d))
	}
	return out
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// result gives a result's text, and its files for the message after the results.
func result(p model.Part) (text string, files []wire.Object) {
	for _, q := range p.Parts {
		if m := wire.MediaOf(q); q.Kind == model.File && (m == wire.Image || m == wire.PDF) {
			files = append(files, part(model.Part{Kind: model.Text, Text: "[file from " + p.Name + ", call " + wire.ShortID(p.CallID) + "]"}), part(q))
		}
	}
	text = wire.ResultText(p)
	switch {
	case text != "":
	case files != nil:
		text = "(see the file in the next message)"
	default:
		text = wire.NoOutput
	}
	return text, files
}

// content is plain text where it can be: some servers understand no list.
func content(parts []model.Part) any {
	if len(parts) == 1 && parts[0].Kind == model.Text {
		return parts[0].Text
	}
	var out []wire.Object
	for _, p := range parts {
		out = append(out, part(p))
	}
	return out
}

func part(p model.Part) wire.Object {
	if p.Kind == model.File {
		switch wire.MediaOf(p) {
		case wire.Image:
			return wire.Obj("type", "image_url", "image_url", wire.Obj("url", wire.DataURL(p)))
		case wire.PDF:
			return wire.Obj("type", "file", "file", wire.Obj("filename", wire.Name(p), "file_data", wire.DataURL(p)))
		case wire.Plain, wire.Note:
			return wire.Obj("type", "text", "text", wire.FileText(p))
		}
	}
	return wire.Obj("type", "text", "text", p.Text)
}
