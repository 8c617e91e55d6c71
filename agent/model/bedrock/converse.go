package bedrock

import (
	"bufio"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"strings"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// converse is Bedrock's own format, the same for the models of all makers.
type converse struct {
	like string // see Options.Like
}

// cachePoint ends what is to be cached.
const cachePoint = `{"cachePoint":{"type":"default"}}`

// cachedMessages is how many of the last user messages end with a cache point: two, so that the one before
// is still found when the last message is the one that changed.
const cachedMessages = 2

// name is what a request's model is really called, also when it is asked by an ARN.
func (c converse) name(r *model.Request) string {
	if c.like != "" {
		return c.like
	}
	return Named(r.Model)
}

// caches tells the models that take cache points, in the system prompt and in messages but not among
// tools: all others refuse a request that has some.
func caches(name string) bool {
	for _, family := range []string{"amazon.nova-micro", "amazon.nova-lite", "amazon.nova-pro", "amazon.nova-premier", "anthropic.claude"} {
		if strings.Contains(name, family) {
			return true
		}
	}
	return false
}

func (converse) Name() string { return "converse" }

// Replays wants the signature, without which reasoning is refused, or the sealed form.
func (converse) Replays(p model.Part) bool {
	return p.Kind == model.Reasoning && (p.Signature != "" || p.Opaque != nil)
}

func (converse) Decoder() wire.Decoder { return &decoder{} }

func (converse) Explain(h http.Header, body []byte, e *model.Error) { explain(h, body, e) }

func (converse) Accept() string { return media }

// Frames gives each event as an object with its name as the one field.
func (converse) Frames(r *bufio.Reader, data func([]byte) error, alive func()) error {
	return eachFrame(r, func(name string, payload []byte) error {
		switch {
		case name == "" || name == "initial-response":
			alive()
			return nil
		case !json.Valid(payload):
			return damaged(nil)
		}
		return data(wire.Encode(wire.Obj(name, wire.Raw(payload))))
	})
}

// Body has the tools and the system prompt first, so that the bytes of one request begin like those
// of the one before.
func (c converse) Body(r *model.Request) wire.Body {
	name := c.name(r)
	out := wire.Body{List: "messages", Group: "content"}
	if caches(name) {
		out.Mark, out.Marks = cachePoint, cachedMessages
	}
	var body wire.Object
	if c := toolConfig(r); c != nil {
		body = body.With("toolConfig", c)
	}
	if r.System != "" {
		system := []any{text(r.System)}
		if out.Marks > 0 {
			system = append(system, wire.Raw(cachePoint))
		}
		body = body.With("system", system)
	}
	p := r.Params
	var limits wire.Object
	if n := maxTokens(r); n > 0 {
		limits = limits.With("maxTokens", n)
	}
	limits = limits.Number("temperature", p.Temperature).Number("topP", p.TopP)
	if len(limits) > 0 {
		body = body.With("inferenceConfig", limits)
	}
	extra := maps.Clone(p.Extra)
	delete(extra, "model")
	if own := thinking(name, r).Int("top_k", p.TopK).Further(extra); len(own) > 0 {
		body = body.With("additionalModelRequestFields", own)
	}
	out.Head = body
	return out
}

func maxTokens(r *model.Request) int {
	if r.MaxTokens <= 0 && r.Params.MaxOutput != nil {
		return *r.Params.MaxOutput
	}
	return r.MaxTokens
}

// toolConfig has the tools. A history with calls needs some also when there are none to call.
func toolConfig(r *model.Request) wire.Object {
	var list []wire.Object
	for _, t := range r.Tools {
		o := wire.Obj("name", t.Name)
		if t.Description != "" {
			o = o.With("description", t.Description)
		}
		list = append(list, wire.Obj("toolSpec", o.With("inputSchema", wire.Obj("json", wire.Schema(t)))))
	}
	if list == nil && hasCalls(r.Messages) {
		list = []wire.Object{wire.Obj("toolSpec", wire.Obj("name", "none", "description", "Does nothing.",
			"inputSchema", wire.Obj("json", wire.Raw(`{"type":"object","properties":{}}`))))}
	}
	if list == nil {
		return nil
	}
	o := wire.Obj("tools", list)
	if r.Force != "" {
		o = o.With("toolChoice", wire.Obj("tool", wire.Obj("name", r.Force)))
	}
	return o
}

func hasCalls(list []model.Message) bool {
	for _, m := range list {
		for _, p := range m.Parts {
			if p.Kind == model.ToolCall {
				return true
			}
		}
	}
	return false
}

// thinking says how much to think, in the terms of the makers whose terms are known.
func thinking(name string, r *model.Request) wire.Object {
	t := r.Thinking
	switch {
	case strings.Contains(name, "anthropic."):
		if t.Budget > 0 && r.Force == "" {
			return wire.Obj("thinking", wire.Obj("type", "enabled", "budget_tokens", max(t.Budget, 1024)))
		}
	case strings.Contains(name, "amazon.nova-2"):
		switch {
		case t.Off:
			return wire.Obj("reasoningConfig", wire.Obj("type", "disabled"))
		case t.Effort != "":
			return wire.Obj("reasoningConfig", wire.Obj("type", "enabled", "maxReasoningEffort", threeSteps(t.Effort)))
		}
	case strings.Contains(name, "openai.gpt-oss") && t.Effort != "":
		return wire.Obj("reasoning_effort", threeSteps(t.Effort))
	}
	return nil
}

// threeSteps is an effort for those that know three of them.
func threeSteps(effort string) string {
	switch effort {
	case "low", "medium":
		return effort
	case "minimal":
		return "low"
	}
	return "high"
}

// Items are a message's blocks.
func (converse) Items(m model.Message) []any {
	var out []any
	for _, p := range m.Parts {
		switch p.Kind {
		case model.Text:
			out = append(out, text(p.Text))
		case model.File:
			for _, o := range file(p) {
				out = append(out, o)
			}
		case model.Reasoning:
			o := wire.Obj("reasoningText", wire.Obj("text", p.Text, "signature", p.Signature))
			if p.Opaque != nil {
				o = wire.Obj("redactedContent", wire.Raw(p.Opaque))
			}
			out = append(out, wire.Obj("reasoningContent", o))
		case model.ToolCall:
			out = append(out, wire.Obj("toolUse", wire.Obj("toolUseId", wire.CallID(p.CallID), "name", p.Name, "input", wire.Raw(p.Input))))
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
			content = append(content, file(q)...)
		case strings.TrimSpace(q.Text) != "":
			content = append(content, text(q.Text))
		}
	}
	if content == nil {
		content = []wire.Object{text(wire.NoOutput)}
	}
	o := wire.Obj("toolUseId", wire.CallID(p.CallID), "content", content)
	if p.IsError {
		o = o.With("status", "error")
	}
	return wire.Obj("toolResult", o)
}

func text(s string) wire.Object { return wire.Obj("text", s) }

// file is a picture, a document with the text that has to be beside it, or a text.
func file(p model.Part) []wire.Object {
	source := wire.Obj("bytes", wire.Bytes{Data: p.Data})
	switch wire.MediaOf(p) {
	case wire.Image:
		return []wire.Object{wire.Obj("image", wire.Obj("format", strings.TrimPrefix(p.Mime, "image/"), "source", source))}
	case wire.PDF:
		return []wire.Object{text("[file " + wire.Name(p) + "]"),
			wire.Obj("document", wire.Obj("format", "pdf", "name", documentName(p), "source", source))}
	case wire.Plain, wire.Note:
	}
	return []wire.Object{text(wire.FileText(p))}
}

var notInName = regexp.MustCompile(`[^a-zA-Z0-9()\[\]-]+`)

// documentName is a file's name in the few characters that a document's may have.
func documentName(p model.Part) string {
	name := strings.Trim(notInName.ReplaceAllString(wire.Name(p), "-"), "-")
	if name == "" {
		return "file"
	}
	return name[:min(len(name), 200)]
}
