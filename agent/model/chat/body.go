package chat

import (
	"encoding/json"
	"strings"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// Body has the tools and the system prompt first, so that the bytes of one request begin like those
// of the one before.
func (f format) Body(r *model.Request) wire.Object {
	body := wire.Obj("model", r.Model, "stream", true, "stream_options", wire.Obj("include_usage", true))
	if r.MaxTokens > 0 {
		field := f.quirks.MaxTokensField
		if field == "" {
			field = "max_tokens"
		}
		body = body.With(field, r.MaxTokens)
	}
	if len(r.Tools) > 0 {
		var tools []wire.Object
		for _, t := range r.Tools {
			tools = append(tools, wire.Obj("type", "function", "function",
				wire.Obj("name", t.Name, "description", t.Description, "parameters", wire.Schema(t))))
		}
		body = body.With("tools", tools)
	}
	var out []wire.Object
	if r.System != "" {
		out = append(out, wire.Obj("role", "system", "content", r.System))
	}
	return body.With("messages", append(out, f.messages(r.Messages)...))
}

// messages keeps the files of results back until the run of results is over: nothing may come
// between a call's results.
func (f format) messages(list []model.Message) []wire.Object {
	var out, files []wire.Object
	flush := func() {
		if files != nil {
			out = append(out, wire.Obj("role", "user", "content", files))
			files = nil
		}
	}
	for _, m := range list {
		switch m.Role {
		case model.ToolRole:
			for _, p := range m.Parts {
				text, more := result(p)
				out = append(out, wire.Obj("role", "tool", "tool_call_id", p.CallID, "content", text))
				files = append(files, more...)
			}
		case model.Assistant:
			flush()
			out = append(out, f.assistant(m))
		case model.User:
			flush()
			out = append(out, wire.Obj("role", "user", "content", content(m.Parts)))
		}
	}
	flush()
	return out
}

func (f format) assistant(m model.Message) wire.Object {
	var text, thought strings.Builder
	var calls []wire.Object
	var details []any
	for _, p := range m.Parts {
		switch p.Kind {
		case model.Text:
			text.WriteString(p.Text)
		case model.Reasoning:
			thought.WriteString(p.Text)
			var list []json.RawMessage
			if p.Opaque != nil && json.Unmarshal(p.Opaque, &list) == nil {
				for _, d := range list {
					details = append(details, wire.Raw(d))
				}
			}
		case model.ToolCall:
			calls = append(calls, wire.Obj("id", p.CallID, "type", "function", "function",
				wire.Obj("name", p.Name, "arguments", string(wire.CleanJSON([]byte(p.Input))))))
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
	if f.quirks.Replay == ReplayDetails && details != nil {
		o = o.With(string(ReplayDetails), details)
	}
	if calls != nil {
		o = o.With("tool_calls", calls)
	}
	return o
}

// result gives a result's text, and its files for the message after the results.
func result(p model.Part) (text string, files []wire.Object) {
	for _, q := range p.Parts {
		if m := wire.MediaOf(q); q.Kind == model.File && (m == wire.Image || m == wire.PDF) {
			files = append(files, part(model.Part{Kind: model.Text, Text: "[file from " + p.Name + ", call " + p.CallID + "]"}), part(q))
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
