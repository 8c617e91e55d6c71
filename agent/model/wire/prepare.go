package wire

import (
	"carrel/agent/model"
)

// without says what a request leaves out.
type without struct {
	reasoning bool
	images    bool
	image     func(data []byte) bool // whether one image has to be left out; may be nil
}

// trim gives the messages without what this origin can't take back. last says that the last of them
// is the last of the request.
func trim(f Format, in []model.Message, origin string, w without, last bool) []model.Message {
	out := make([]model.Message, len(in))
	for i, m := range in {
		m.Parts = trimParts(f, m.Parts, origin, w)
		if t, ok := f.(Trimmer); ok && m.Role == model.Assistant {
			m.Parts = t.Trim(m.Parts, last && i == len(in)-1)
		}
		out[i] = m
	}
	return out
}

func trimParts(f Format, in []model.Part, origin string, w without) []model.Part {
	out := make([]model.Part, 0, len(in))
	for _, p := range in {
		own := p.Origin == origin
		switch p.Kind {
		case model.Reasoning:
			if w.reasoning || p.Open || !own || !f.Replays(p) {
				continue
			}
		case model.Native:
			if w.reasoning || p.Open || !own || !f.Replays(p) {
				continue
			}
		case model.Text, model.ToolCall:
			if !own || p.Open || w.reasoning {
				p.Opaque, p.Signature = nil, ""
			}
		case model.File:
			if isImage(p) && (w.images || w.image != nil && w.image(p.Data)) {
				p = model.Part{Kind: model.Text, Text: imageNote(p)}
			}
		case model.ToolResult:
			p.Parts = trimParts(f, p.Parts, origin, w)
		}
		out = append(out, p)
	}
	return out
}

// hasReasoning reports whether a request may send back reasoning, or what else the model sealed.
func hasReasoning(f Format, r *model.Request, origin string) bool {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Origin != origin || p.Open {
				continue
			}
			if p.Kind == model.Reasoning && f.Replays(p) || p.Kind != model.Reasoning && (p.Signature != "" || p.Opaque != nil) {
				return true
			}
		}
	}
	return false
}

// images calls visit for the data of each image of the messages.
func images(list []model.Message, visit func(data []byte)) {
	var each func(parts []model.Part)
	each = func(parts []model.Part) {
		for _, p := range parts {
			if isImage(p) {
				visit(p.Data)
			}
			each(p.Parts)
		}
	}
	for _, m := range list {
		each(m.Parts)
	}
}
