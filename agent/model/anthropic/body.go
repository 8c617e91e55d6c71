package anthropic

import (
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

// Body has the tools and the system prompt first, so that the bytes of one request begin like those
// of the one before.
func (format) Body(r *model.Request) wire.Object {
	maxTokens := r.MaxTokens
	if maxTokens <= 0 {
		maxTokens = defaultMaxTokens
	}
	body := wire.Obj("model", r.Model, "stream", true, "max_tokens", maxTokens)
	if len(r.Tools) > 0 {
		body = body.With("tools", tools(r.Tools))
	}
	if r.System != "" {
		body = body.With("system", []wire.Object{cached(text(r.System))})
	}
	return body.With("messages", messages(r.Messages))
}

func tools(list []model.Tool) []wire.Object {
	var out []wire.Object
	for _, t := range list {
		out = append(out, wire.Obj("name", t.Name, "description", t.Description, "input_schema", wire.Schema(t)))
	}
	out[len(out)-1] = cached(out[len(out)-1])
	return out
}

func cached(o wire.Object) wire.Object {
	return o.With("cache_control", wire.Obj("type", "ephemeral"))
}

// turn is a message on the wire: tool results and what the user said after them are one.
type turn struct {
	role   string
	blocks []wire.Object
}

func messages(list []model.Message) []wire.Object {
	var turns []turn
	for _, m := range list {
		role := "user"
		if m.Role == model.Assistant {
			role = "assistant"
		}
		blocks := blocks(m)
		if n := len(turns); n > 0 && turns[n-1].role == role {
			turns[n-1].blocks = append(turns[n-1].blocks, blocks...)
		} else {
			turns = append(turns, turn{role, blocks})
		}
	}
	for i, marks := len(turns)-1, cachedMessages; i >= 0 && marks > 0; i-- {
		if b := turns[i].blocks; turns[i].role == "user" {
			b[len(b)-1] = cached(b[len(b)-1])
			marks--
		}
	}
	out := make([]wire.Object, 0, len(turns))
	for _, t := range turns {
		out = append(out, wire.Obj("role", t.role, "content", t.blocks))
	}
	return out
}

func blocks(m model.Message) []wire.Object {
	var out []wire.Object
	for _, p := range m.Parts {
		switch p.Kind {
		case model.Text:
			out = append(out, text(p.Text))
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
			out = append(out, result(p))
		case model.Native:
		}
	}
	return out
}

func result(p model.Part) wire.Object {
	var content []wire.Object
	for _, q := range p.Parts {
		switch {
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
	return o
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
