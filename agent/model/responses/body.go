package responses

import (
	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// Body has the tools and the instructions first, so that the bytes of one request begin like those
// of the one before.
func (format) Body(r *model.Request) wire.Object {
	body := wire.Obj("model", r.Model, "stream", true, "store", false,
		"include", []any{"reasoning.encrypted_content"})
	if r.CacheKey != "" {
		body = body.With("prompt_cache_key", r.CacheKey)
	}
	if r.MaxTokens > 0 {
		body = body.With("max_output_tokens", r.MaxTokens)
	}
	if len(r.Tools) > 0 {
		var tools []wire.Object
		for _, t := range r.Tools {
			tools = append(tools, wire.Obj("type", "function", "name", t.Name, "description", t.Description,
				"parameters", wire.Schema(t), "strict", false))
		}
		body = body.With("tools", tools)
	}
	if r.System != "" {
		body = body.With("instructions", r.System)
	}
	var input []any
	for _, m := range r.Messages {
		input = append(input, items(m)...)
	}
	return body.With("input", input)
}

// items are a message's items of input: what a user says is one, everything else one per part.
func items(m model.Message) []any {
	var out []any
	var said []wire.Object
	for _, p := range m.Parts {
		switch p.Kind {
		case model.Reasoning:
			out = append(out, wire.Raw(p.Opaque))
		case model.ToolCall:
			out = append(out, wire.Obj("type", "function_call", "call_id", wire.CallID(p.CallID),
				"name", p.Name, "arguments", string(wire.CleanJSON([]byte(p.Input)))))
		case model.ToolResult:
			out = append(out, result(p))
		case model.Native:
		case model.Text, model.File:
			if m.Role != model.Assistant {
				said = append(said, content(p))
			} else if p.Kind == model.Text {
				out = append(out, wire.Obj("type", "message", "role", "assistant",
					"content", []wire.Object{wire.Obj("type", "output_text", "text", p.Text)}))
			}
		}
	}
	if said != nil {
		out = append(out, wire.Obj("type", "message", "role", "user", "content", said))
	}
	return out
}

func result(p model.Part) wire.Object {
	var list []wire.Object
	rich := false
	for _, q := range p.Parts {
		if q.Kind == model.Text && q.Text == "" {
			continue
		}
		list = append(list, content(q))
		if q.Kind == model.File {
			m := wire.MediaOf(q)
			rich = rich || m == wire.Image || m == wire.PDF
		}
	}
	o := wire.Obj("type", "function_call_output", "call_id", wire.CallID(p.CallID))
	if rich {
		return o.With("output", list)
	}
	text := wire.ResultText(p)
	if text == "" {
		text = wire.NoOutput
	}
	return o.With("output", text)
}

func content(p model.Part) wire.Object {
	if p.Kind == model.File {
		switch wire.MediaOf(p) {
		case wire.Image:
			return wire.Obj("type", "input_image", "image_url", wire.DataURL(p))
		case wire.PDF:
			return wire.Obj("type", "input_file", "filename", wire.Name(p), "file_data", wire.DataURL(p))
		case wire.Plain, wire.Note:
			return wire.Obj("type", "input_text", "text", wire.FileText(p))
		}
	}
	return wire.Obj("type", "input_text", "text", p.Text)
}
