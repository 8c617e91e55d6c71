package transcript

import (
	"reflect"
	"strings"

	"carrel/agent/model"
)

// PartDelta is a change of one part of a response since the checkpoint before. A stream of n bytes
// thus costs n bytes of log, not n for every checkpoint.
type PartDelta struct {
	Index int `json:"i"`
	// Grow says that Part's Text and Input are to be appended to the old ones, which are TextAt
	// and InputAt bytes long; the other fields replace the old ones. Without it Part replaces all.
	Grow    bool       `json:"grow,omitempty"`
	TextAt  int        `json:"textAt,omitempty"`
	InputAt int        `json:"inputAt,omitempty"`
	Part    model.Part `json:"part"`
}

// diffParts says how old becomes now.
func diffParts(old, now []model.Part) []PartDelta {
	var out []PartDelta
	for i, p := range now {
		if i >= len(old) {
			out = append(out, PartDelta{Index: i, Part: p})
			continue
		}
		o := old[i]
		if reflect.DeepEqual(o, p) {
			continue
		}
		if o.Kind != p.Kind || !strings.HasPrefix(p.Text, o.Text) || !strings.HasPrefix(p.Input, o.Input) {
			out = append(out, PartDelta{Index: i, Part: p})
			continue
		}
		d := PartDelta{Index: i, Grow: true, TextAt: len(o.Text), InputAt: len(o.Input), Part: p}
		d.Part.Text = p.Text[len(o.Text):]
		d.Part.Input = p.Input[len(o.Input):]
		out = append(out, d)
	}
	return out
}

// shrinkPartial gives the form of r that is written, given the checkpoint before it (or nil).
func shrinkPartial(before *Record, r Record) Record {
	var old []model.Part
	if before != nil && before.StepSeq == r.StepSeq {
		old = before.Message.Parts
	}
	m := *r.Message
	r.Delta = diffParts(old, m.Parts)
	r.Parts = len(m.Parts)
	m.Parts = nil
	r.Message = &m
	return r
}

// growPartial gives the whole of a Partial as read, given the checkpoint before it (or nil). It is
// false when the chain is broken by a damaged line; what was known before then stays the best.
func growPartial(before *Record, r Record) (Record, bool) {
	var parts []model.Part
	if before != nil && before.StepSeq == r.StepSeq {
		parts = append(parts, before.Message.Parts...)
	}
	for _, d := range r.Delta {
		switch {
		case d.Index == len(parts) && !d.Grow:
			parts = append(parts, d.Part)
		case d.Index < 0 || d.Index >= len(parts):
			return Record{}, false
		case !d.Grow:
			parts[d.Index] = d.Part
		default:
			o := parts[d.Index]
			if len(o.Text) != d.TextAt || len(o.Input) != d.InputAt {
				return Record{}, false
			}
			p := d.Part
			p.Text = o.Text + p.Text
			p.Input = o.Input + p.Input
			parts[d.Index] = p
		}
	}
	if r.Parts < 0 || r.Parts > len(parts) {
		return Record{}, false
	}
	m := *r.Message
	m.Parts = parts[:r.Parts:r.Parts]
	r.Message = &m
	r.Delta, r.Parts = nil, 0
	return r, true
}
