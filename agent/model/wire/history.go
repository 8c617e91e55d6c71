package wire

import (
	"bytes"
	"slices"

	"carrel/agent/model"
)

// encoded is one repaired message: its items, separated by commas.
type encoded struct {
	assistant bool
	json      []byte
}

// history is a conversation as it was sent: the messages that went into it, and what they became.
// The next request mostly begins with the same messages, so only what is new is repaired and
// written again.
type history struct {
	in     []model.Message // without the data of files that a blob names
	out    []encoded
	repair model.Repairer
	size   int // bytes of out
	digest digest
}

// extend gives the encoded messages of a request. h must be the history of an earlier request of
// the same conversation with the same omissions, or an empty one; it is left as that of this
// request.
func (h *history) extend(f Format, list []model.Message, origin string, w without) []encoded {
	if !h.begins(list) || h.repair.Late(list[len(h.in):]) {
		*h = history{}
	}
	next := list[len(h.in):]
	settled := len(next)
	if settled > 0 && next[settled-1].Role == model.Assistant {
		settled-- // what may stand last differs from what may be followed
	}
	h.add(f, next[:settled], origin, w)
	if settled == len(next) {
		return h.out
	}
	rest := h.repair.Clone().Add(trim(f, next[settled:], origin, w, true))
	out := h.out[:len(h.out):len(h.out)]
	for _, m := range rest {
		out = append(out, encode(f, m))
	}
	return out
}

func (h *history) add(f Format, list []model.Message, origin string, w without) {
	for _, m := range h.repair.Add(trim(f, list, origin, w, false)) {
		e := encode(f, m)
		h.size += len(e.json)
		h.out = append(h.out, e)
	}
	for _, m := range list {
		m.Parts = keep(m.Parts)
		h.in = append(h.in, m)
	}
}

func encode(f Format, m model.Message) encoded {
	var b []byte
	for i, item := range f.Items(m) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendValue(b, item)
	}
	return encoded{assistant: m.Role == model.Assistant, json: bytes.Clone(b)}
}

// keep gives parts that can be compared later: themselves, or a copy without the data of files that a
// blob names.
func keep(in []model.Part) []model.Part {
	if !slices.ContainsFunc(in, heavy) {
		return in
	}
	out := make([]model.Part, len(in))
	for i, p := range in {
		if p.Blob != "" && p.Data != nil {
			p.Data = []byte{}
		}
		p.Parts = keep(p.Parts)
		out[i] = p
	}
	return out
}

func heavy(p model.Part) bool {
	return p.Blob != "" && p.Data != nil || slices.ContainsFunc(p.Parts, heavy)
}

// begins reports whether list begins with the messages of h. Parts of the same memory are the same, so
// this costs little for a conversation that stays in memory.
func (h *history) begins(list []model.Message) bool {
	if len(list) < len(h.in) {
		return false
	}
	for i := range h.in {
		a, b := &h.in[i], &list[i]
		if a.Role != b.Role || a.Stop != b.Stop || !sameParts(a.Parts, b.Parts) {
			return false
		}
	}
	return true
}

func sameParts(kept, now []model.Part) bool {
	if len(kept) != len(now) {
		return false
	}
	if len(now) == 0 || &kept[0] == &now[0] {
		return true
	}
	for i := range kept {
		a, b := &kept[i], &now[i]
		if a.Kind != b.Kind || a.Text != b.Text || a.Input != b.Input || a.CallID != b.CallID || a.Name != b.Name ||
			a.Open != b.Open || a.IsError != b.IsError || a.Origin != b.Origin || a.Signature != b.Signature ||
			a.Mime != b.Mime || a.Blob != b.Blob || !bytes.Equal(a.Opaque, b.Opaque) || !sameParts(a.Parts, b.Parts) {
			return false
		}
		if (a.Data == nil) != (b.Data == nil) || a.Blob == "" && !bytes.Equal(a.Data, b.Data) {
			return false
		}
	}
	return true
}
