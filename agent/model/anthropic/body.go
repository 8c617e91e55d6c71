package anthropic

import (
	"net/http"
	"slices"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// defaultMaxTokens is sent when the request names no limit: the format wants one. Every current
// model allows it.
const defaultMaxTokens = 32000

// cachedMessages is how many of the last user messages are marked for caching. With the system
// prompt and the tools that makes four marks, the most that the API allows. Two, so that the prefix
// is still found when the last message is the one that changed.
const cachedMessages = 2

// fastBeta is the header that fast mode needs.
const fastBeta = "fast-mode-2026-02-01"

// Body has the tools and the system prompt first, so that the bytes of one request begin like those
// of the one before.
func (format) Body(r *model.Request) wire.Body {
	body := wire.Obj("model", r.Model, "stream", true, "max_tokens", maxTokens(r))
	if list := tools(r); list != nil {
		list[len(list)-1] = list[len(list)-1].With("cache_control", cacheControl(r))
		body = body.With("tools", list)
		if choice := choice(r); choice != nil {
			body = body.With("tool_choice", choice)
		}
	}
	if r.System != "" {
		body = body.With("system", []wire.Object{text(r.System).With("cache_control", cacheControl(r))})
	}
	body = thinking(body, r)
	switch r.Tier {
	case "":
	case "fast":
		body = body.With("speed", r.Tier)
	default:
		body = body.With("service_tier", r.Tier)
	}
	p := r.Params
	body = body.Number("temperature", p.Temperature).Number("top_p", p.TopP).Int("top_k", p.TopK)
	return wire.Body{
		Head: body.Further(p.Extra), List: "messages", Group: "content",
		Mark: `"cache_control":` + string(wire.Encode(cacheControl(r))), Marks: cachedMessages,
	}
}

// Headers asks for what is still in preview.
func (format) Headers(r *model.Request) http.Header {
	if r.Tier != "fast" {
		return nil
	}
	return http.Header{"Anthropic-Beta": {fastBeta}}
}

// maxTokens leaves room for an answer after the thinking, which counts as output too.
func maxTokens(r *model.Request) int {
	n := r.MaxTokens
	if n <= 0 && r.Params.MaxOutput != nil {
		n = *r.Params.MaxOutput
	}
	if n <= 0 {
		n = defaultMaxTokens
	}
	if b := budget(r); b >= n {
		n += b
	}
	return n
}

// budget is the thinking budget that is sent, 0 for none.
func budget(r *model.Request) int {
	if r.Thinking.Off || r.Force != "" || r.Thinking.Budget <= 0 {
		return 0
	}
	return max(r.Thinking.Budget, 1024) // the least that the API takes
}

// thinking adds how much to think. A forced tool and thinking exclude each other.
func thinking(body wire.Object, r *model.Request) wire.Object {
	t := r.Thinking
	switch b := budget(r); {
	case t.Off:
		return body.With("thinking", wire.Obj("type", "disabled"))
	case b > 0:
		body = body.With("thinking", wire.Obj("type", "enabled", "budget_tokens", b))
	case t.Effort != "" && r.Force == "":
		body = body.With("thinking", wire.Obj("type", "adaptive", "display", "summarized"))
	}
	if t.Effort != "" {
		body = body.With("output_config", wire.Obj("effort", t.Effort))
	}
	return body
}

func choice(r *model.Request) wire.Object {
	if r.Force == "" && !r.OneTool {
		return nil
	}
	o := wire.Obj("type", "auto")
	if r.Force != "" {
		o = wire.Obj("type", "tool", "name", r.Force)
	}
	if r.OneTool {
		o = o.With("disable_parallel_tool_use", true)
	}
	return o
}

func tools(r *model.Request) []wire.Object {
	var out []wire.Object
	for _, t := range r.Tools {
		out = append(out, wire.Obj("name", t.Name, "description", t.Description, "input_schema", wire.Schema(t)))
	}
	if slices.Contains(r.Native, model.WebSearch) {
		out = append(out, wire.Obj("type", "web_search_20250305", "name", model.WebSearch, "max_uses", 8))
	}
	return out
}

func cacheControl(r *model.Request) wire.Object {
	o := wire.Obj("type", "ephemeral")
	if r.CacheHour {
		o = o.With("ttl", "1h")
	}
	return o
}

// Items are a message's blocks. A failed result may hold nothing but text, so its files come after all
// results.
func (format) Items(m model.Message) []any {
	var out, files []any
	for _, p := range m.Parts {
		switch p.Kind {
		case model.Text:
			if p.Opaque != nil { // with its citations
				out = append(out, wire.Raw(p.Opaque))
			} else {
				out = append(out, text(p.Text))
			}
		case model.File:
			out = append(out, file(p))
		case model.Reasoning:
			if p.Opaque != nil {
				out = append(out, wire.Obj("type", "redacted_thinking", "data", wire.Raw(p.Opaque)))
			} else {
				out = append(out, wire.Obj("type", "thinking", "thinking", p.Text, "signature", p.Signature))
			}
		case model.ToolCall:
			out = append(out, wire.Obj("type", "tool_use", "id", wire.CallID(p.CallID), "name", p.Name, "input", wire.Raw(p.Input)))
		case model.ToolResult:
			block, more := result(p)
			out, files = append(out, block), append(files, more...)
		case model.Native:
			out = append(out, wire.Raw(p.Opaque))
		}
	}
	return append(out, files...)
}

// result gives the block of a result, and the files that can't stand in it.
func result(p model.Part) (block wire.Object, files []any) {
	var content []wire.Object
	for _, q := range p.Parts {
		switch {
		case q.Kind == model.File && p.IsError && (wire.MediaOf(q) == wire.Image || wire.MediaOf(q) == wire.PDF):
			files = append(files, text("[file from "+p.Name+", call "+wire.CallID(p.CallID)+"]"), file(q))
		case q.Kind == model.File:
			content = append(content, file(q))
		case q.Text != "":
			content = append(content, text(q.Text))
		}
	}
	if content == nil {
		content = []wire.Object{text(wire.NoOutput)}
	}
	o := wire.Obj("type", "tool_result", "tool_use_id", wire.CallID(p.CallID), "content", content)
	if p.IsError {
		o = o.With("is_error", true)
	}
	return o, files
}

func text(s string) wire.Object { return wire.Obj("type", "text", "text", s) }

func file(p model.Part) wire.Object {
	switch wire.MediaOf(p) {
	case wire.Image:
		return wire.Obj("type", "image", "source", source(p))
	case wire.PDF:
		return wire.Obj("type", "document", "source", source(p))
	case wire.Plain, wire.Note:
	}
	return text(wire.FileText(p))
}

func source(p model.Part) wire.Object {
	return wire.Obj("type", "base64", "media_type", p.Mime, "data", wire.Bytes{Data: p.Data})
}
