package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// unsigned stands for a signature that nobody has, as of a call that another model made: Gemini 3
// refuses the first call of a step without any.
const unsigned = "skip_thought_signature_validator"

// Body has the tools and the instructions first, so that the bytes of one request begin like those
// of the one before.
func (f format) Body(r *model.Request) wire.Body {
	var body wire.Object
	if r.System != "" {
		body = body.With("systemInstruction", wire.Obj("parts", []wire.Object{text(r.System)}))
	}
	if list := f.tools(r); list != nil {
		body = body.With("tools", list)
	}
	if c := f.toolConfig(r); c != nil {
		body = body.With("toolConfig", c)
	}
	inner, outer := extra(r.Params.Extra)
	if g := f.generation(r).Further(inner); len(g) > 0 {
		body = body.With("generationConfig", g)
	}
	return wire.Body{Head: body.Further(outer), List: "contents", Group: "parts", Assistant: "model"}
}

// extra sorts a person's further fields: those of the body itself, and those of its generationConfig.
func extra(all map[string]json.RawMessage) (inner, outer map[string]json.RawMessage) {
	inner, outer = map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for key, v := range all {
		switch key {
		case "safetySettings", "cachedContent", "serviceTier", "labels", "store":
			outer[key] = v
		case "model", "toolConfig", "generationConfig":
		default:
			inner[key] = v
		}
	}
	return inner, outer
}

func (f format) tools(r *model.Request) []wire.Object {
	var functions []wire.Object
	for _, t := range r.Tools {
		functions = append(functions, wire.Obj("name", t.Name, "description", t.Description, "parametersJsonSchema", wire.Schema(t)))
	}
	var out []wire.Object
	if functions != nil {
		out = append(out, wire.Obj("functionDeclarations", functions))
	}
	if f.searches(r) {
		out = append(out, wire.Obj("googleSearch", wire.Object{}))
	}
	return out
}

// searches reports whether the search is on. Old models refuse it beside tools of ours, which matter
// more.
func (f format) searches(r *model.Request) bool {
	return slices.Contains(r.Native, model.WebSearch) && (!f.old || len(r.Tools) == 0)
}

func (f format) toolConfig(r *model.Request) wire.Object {
	var o wire.Object
	if r.Force != "" {
		o = o.With("functionCallingConfig", wire.Obj("mode", "ANY", "allowedFunctionNames", []any{r.Force}))
	}
	if f.searches(r) && !f.old { // so that the search can be sent back, without which it can't stand beside tools
		o = o.With("includeServerSideToolInvocations", true)
	}
	return o
}

func (f format) generation(r *model.Request) wire.Object {
	var o wire.Object
	n := r.MaxTokens
	if n <= 0 && r.Params.MaxOutput != nil {
		n = *r.Params.MaxOutput
	}
	if n > 0 {
		o = o.With("maxOutputTokens", n)
	}
	p := r.Params
	o = o.Number("temperature", p.Temperature).Number("topP", p.TopP).Int("topK", p.TopK)
	if p.Seed != nil {
		o = o.With("seed", *p.Seed)
	}
	o = o.Number("presencePenalty", p.PresencePenalty).Number("frequencyPenalty", p.FrequencyPenalty)
	if t := f.thinking(r.Thinking, r.Model); t != nil {
		o = o.With("thinkingConfig", t)
	}
	return o
}

// thinking says how much to think: Gemini 3 takes a word, older models a number of tokens.
func (f format) thinking(t model.Thinking, id string) wire.Object {
	level, budget := t.Effort, t.Budget
	switch {
	case t.Off && f.old:
		return wire.Obj("thinkingBudget", 0)
	case t.Off:
		return wire.Obj("thinkingLevel", "low") // it can't be turned off
	case f.old && level != "" && budget <= 0:
		budget = map[string]int{"minimal": 1_000, "low": 4_000, "medium": 10_000}[level]
		if budget == 0 {
			budget = 20_000
		}
	case f.old:
	case level == "xhigh" || level == "max":
		level = "high"
	}
	switch {
	case !f.old && level != "":
		return wire.Obj("thinkingLevel", level, "includeThoughts", true)
	case budget > 0:
		return wire.Obj("thinkingBudget", min(max(budget, 512), mostThinking(id)), "includeThoughts", true)
	}
	return nil
}

// mostThinking is how many tokens a model thinks at most.
func mostThinking(id string) int {
	if strings.Contains(id, "pro") {
		return 32_768
	}
	return 24_576
}

// Items are a message's parts. The pictures of results follow them where they can't be in them.
func (f format) Items(m model.Message) []any {
	var out, pictures []any
	called := false
	for _, p := range m.Parts {
		switch p.Kind {
		case model.Text:
			out = append(out, said(p)...)
		case model.File:
			out = append(out, file(p))
		case model.ToolCall:
			o := wire.Obj("functionCall", wire.Obj("id", wire.CallID(p.CallID), "name", p.Name, "args", wire.Raw(p.Input)))
			switch {
			case p.Signature != "":
				o = o.With("thoughtSignature", p.Signature)
			case !called && !f.old:
				o = o.With("thoughtSignature", unsigned)
			}
			called = true
			out = append(out, o)
		case model.ToolResult:
			result, shown := f.result(p)
			out, pictures = append(out, result), append(pictures, shown...)
		case model.Native:
			out = append(out, wire.Raw(p.Opaque))
		case model.Reasoning:
		}
	}
	return append(out, pictures...)
}

// signed is where in a text the part begins that its signature came with.
type signed struct {
	From int `json:"from"` // bytes
}

// said is a text, cut where its signature's own part begins.
func said(p model.Part) []any {
	var s signed
	if p.Signature == "" || json.Unmarshal(p.Opaque, &s) != nil || s.From < 0 || s.From > len(p.Text) {
		return []any{text(p.Text)}
	}
	last := text(p.Text[s.From:]).With("thoughtSignature", p.Signature)
	if s.From == 0 {
		return []any{last}
	}
	return []any{text(p.Text[:s.From]), last}
}

// result is a tool's result, and what of it has to follow as parts of its own.
func (f format) result(p model.Part) (out wire.Object, after []any) {
	said := wire.ResultText(p)
	var files []wire.Object
	for _, q := range p.Parts {
		if q.Kind != model.File {
			continue
		}
		switch m := wire.MediaOf(q); {
		case m != wire.Image && m != wire.PDF:
		case !shows(q):
			said += "\n" + note(q)
		case f.old:
			after = append(after, text("[file from "+p.Name+", call "+wire.CallID(p.CallID)+"]"), inline(q))
		default:
			files = append(files, inline(q))
		}
	}
	if said == "" {
		said = wire.NoOutput
	}
	field := "output"
	if p.IsError {
		field = "error"
	}
	o := wire.Obj("id", wire.CallID(p.CallID), "name", p.Name, "response", wire.Obj(field, said))
	if files != nil {
		o = o.With("parts", files)
	}
	return wire.Obj("functionResponse", o), after
}

func text(s string) wire.Object { return wire.Obj("text", s) }

func file(p model.Part) wire.Object {
	switch wire.MediaOf(p) {
	case wire.Image, wire.PDF:
		if shows(p) {
			return inline(p)
		}
		return text(note(p))
	case wire.Plain, wire.Note:
	}
	return text(wire.FileText(p))
}

// shows reports whether the format takes a picture of that kind.
func shows(p model.Part) bool { return p.Mime != "image/gif" }

func note(p model.Part) string { return "[file " + wire.Name(p) + ": can't be shown to this model]" }

func inline(p model.Part) wire.Object {
	return wire.Obj("inlineData", wire.Obj("mimeType", p.Mime, "data", wire.Bytes{Data: p.Data}))
}
