package responses

import (
	"encoding/json"
	"slices"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// Body has the tools and the instructions first, so that the bytes of one request begin like those
// of the one before.
func (f format) Body(r *model.Request) wire.Body {
	name := r.Model
	if f.deployment != "" {
		name = f.deployment
	}
	include := []any{"reasoning.encrypted_content"}
	search := slices.Contains(r.Native, model.WebSearch)
	if search {
		include = append(include, "web_search_call.action.sources")
	}
	body := wire.Obj("model", name, "stream", true, "store", false, "include", include)
	if r.CacheKey != "" {
		body = body.With("prompt_cache_key", wire.CallID(r.CacheKey)) // 64 characters at most
	}
	if n := maxTokens(r); n > 0 {
		body = body.With("max_output_tokens", n)
	}
	if list := tools(r, search); list != nil {
		body = body.With("tools", list)
		if r.Force != "" {
			body = body.With("tool_choice", wire.Obj("type", "function", "name", r.Force))
		}
		if r.OneTool {
			body = body.With("parallel_tool_calls", false)
		}
	}
	if o := reasoning(r.Thinking); o != nil {
		body = body.With("reasoning", o)
	}
	if r.Tier != "" {
		body = body.With("service_tier", r.Tier)
	}
	if r.Cyber != "" {
		body = body.With("access_programs", wire.Obj("cyber", r.Cyber))
	}
	body = body.Number("temperature", r.Params.Temperature).Number("top_p", r.Params.TopP)
	if r.System != "" {
		body = body.With("instructions", r.System)
	}
	return wire.Body{Head: body.Further(r.Params.Extra), List: "input"}
}

func maxTokens(r *model.Request) int {
	if r.MaxTokens <= 0 && r.Params.MaxOutput != nil {
		return *r.Params.MaxOutput
	}
	return r.MaxTokens
}

func tools(r *model.Request, search bool) []wire.Object {
	var out []wire.Object
	for _, t := range r.Tools {
		out = append(out, wire.Obj("type", "function", "name", t.Name, "description", t.Description,
			"parameters", wire.Schema(t), "strict", false))
	}
	if search {
		out = append(out, wire.Obj("type", "web_search"))
	}
	return out
}

// reasoning is nil when nothing is said about it.
func reasoning(t model.Thinking) wire.Object {
	var o wire.Object
	if t.Pro {
		o = o.With("mode", "pro")
	}
	switch {
	case t.Off:
		return o.With("effort", "none")
	case t.Effort != "":
		return o.With("effort", t.Effort).With("summary", "auto")
	case o != nil:
		return o.With("summary", "auto")
	}
	return o
}

// Items are a message's items of input: what a user says is one, everything else one per part.
func (format) Items(m model.Message) []any {
	var out []any
	var said []wire.Object
	for _, p := range m.Parts {
		switch p.Kind {
		case model.Reasoning, model.Native:
			out = append(out, wire.Raw(p.Opaque))
		case model.ToolCall:
			out = append(out, wire.Obj("type", "function_call", "call_id", wire.CallID(p.CallID),
				"name", p.Name, "arguments", string(wire.CleanJSON([]byte(p.Input)))))
		case model.ToolResult:
			out = append(out, result(p))
		case model.Text, model.File:
			if m.Role != model.Assistant {
				said = append(said, content(p))
			} else if p.Kind == model.Text {
				out = append(out, spoken(p))
			}
		}
	}
	if said != nil {
		out = append(out, wire.Obj("type", "message", "role", "user", "content", said))
	}
	return out
}

// spoken is a text of the model. Some models want to see again in which phase they said it.
func spoken(p model.Part) wire.Object {
	o := wire.Obj("type", "message", "role", "assistant")
	var kept struct {
		Phase string `json:"phase"`
	}
	if p.Opaque != nil && json.Unmarshal(p.Opaque, &kept) == nil && kept.Phase != "" {
		o = o.With("phase", kept.Phase)
	}
	return o.With("content", []wire.Object{wire.Obj("type", "output_text", "text", p.Text)})
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
