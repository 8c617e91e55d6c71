package chat

import (
	"bytes"
	"io"
	"strconv"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// decoder finds the parts in a format that does not delimit them: text and reasoning end when
// another kind of content begins, calls end with the response.
type decoder struct {
	current string // key of the text or reasoning that streams, "" when none does
	kind    model.Kind
	parts   int            // how many there are, for their keys
	calls   map[int]string // keys of the calls by their index
	sealed  details        // of the reasoning that streams
	late    details        // that came when no reasoning streamed
	refused bool
}

// Decode understands one event.
func (d *decoder) Decode(data []byte, a *wire.Accumulator) error {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		if a.Message().Stop == "" {
			return io.ErrUnexpectedEOF // cut by something in between
		}
		return wire.ErrDone
	}
	var c chunk
	if err := wire.Unmarshal(data, &c); err != nil {
		return err
	}
	if code, kind, text := wire.ErrorObject(c.Error); text != "" {
		return wire.InStream(text, code, kind)
	}
	if c.Usage != nil {
		a.Usage(c.Usage.tokens())
	}
	a.Tier(c.Tier)
	for _, choice := range c.Choices {
		if code, kind, text := wire.ErrorObject(choice.Error); text != "" {
			return wire.InStream(text, code, kind)
		}
		if a.Message().Stop != "" {
			break
		}
		if err := d.add(&choice.Delta, a); err != nil {
			return err
		}
		if choice.NativeFinish == "refusal" {
			d.refused = true
		}
		if choice.Finish != "" {
			if err := d.finish(choice.Finish, a); err != nil {
				return err
			}
			break
		}
	}
	for _, address := range c.Citations {
		a.CiteText(model.Source{URL: address})
	}
	for _, f := range c.Found {
		a.CiteText(model.Source{URL: f.Link, Title: f.Title})
	}
	return nil
}

func (d *decoder) add(c *delta, a *wire.Accumulator) error {
	if err := d.think(c, a); err != nil {
		return err
	}
	d.refused = d.refused || c.Refusal != ""
	if text := c.Content.text + c.Refusal; text != "" {
		if err := d.open(model.Text, a); err != nil {
			return err
		}
		a.Add(d.current, model.Text, text)
	}
	for _, n := range c.Annotations {
		a.CiteText(model.Source{URL: n.Citation.URL, Title: n.Citation.Title})
	}
	for _, call := range c.ToolCalls {
		if err := d.call(&call, a); err != nil {
			return err
		}
	}
	return nil
}

// think adds to the reasoning. Details without a word, after the text or calls have begun, belong
// to those.
func (d *decoder) think(c *delta, a *wire.Accumulator) error {
	thought := c.ReasoningContent
	if thought == "" {
		thought = c.Reasoning
	}
	thought += c.Content.thought
	a.Hold(len(c.Details))
	var pieces details
	if said := pieces.add(c.Details); thought == "" {
		thought = said
	}
	switch {
	case thought == "" && len(pieces) == 0:
		return nil
	case thought == "" && d.parts > 0 && d.kind != model.Reasoning:
		d.late.add(c.Details)
		return nil
	}
	if err := d.open(model.Reasoning, a); err != nil {
		return err
	}
	a.Add(d.current, model.Reasoning, thought)
	d.sealed.add(c.Details)
	return nil
}

// open makes the part that streams one of that kind.
func (d *decoder) open(kind model.Kind, a *wire.Accumulator) error {
	if d.current != "" && d.kind == kind {
		return nil
	}
	if err := d.end(a); err != nil {
		return err
	}
	d.current, d.kind = d.key(), kind
	a.Start(d.current, model.Part{Kind: kind})
	return nil
}

// end closes the text or reasoning that streams.
func (d *decoder) end(a *wire.Accumulator) error {
	if d.current == "" {
		return nil
	}
	if list := d.sealed.list(); list != nil {
		if err := a.Opaque(d.current, list); err != nil {
			return err
		}
	}
	a.End(d.current)
	d.current, d.sealed = "", nil
	return nil
}

func (d *decoder) key() string {
	d.parts++
	return strconv.Itoa(d.parts)
}

// call adds to a call, or starts one: some servers number all calls 0, so a new id counts too.
func (d *decoder) call(c *toolCall, a *wire.Accumulator) error {
	key, known := d.calls[c.Index]
	if !known || c.ID != "" && c.Function.Name != "" && c.ID != a.CallID(key) {
		if c.Function.Name == "" {
			return nil // the rest of a call of which nothing is known
		}
		if err := d.end(a); err != nil {
			return err
		}
		key = d.key()
		d.kind = model.ToolCall
		if d.calls == nil {
			d.calls = map[int]string{}
		}
		d.calls[c.Index] = key
		a.Start(key, model.Part{Kind: model.ToolCall, CallID: c.ID, Name: c.Function.Name})
	}
	a.Add(key, model.ToolCall, c.Function.Arguments)
	if isObject(c.Extra) {
		return a.Opaque(key, c.Extra)
	}
	return nil
}

func (d *decoder) finish(reason string, a *wire.Accumulator) error {
	if list := d.late.list(); list != nil && a.Has(strconv.Itoa(d.parts)) {
		if err := a.Opaque(strconv.Itoa(d.parts), list); err != nil {
			return err
		}
	}
	if err := d.end(a); err != nil {
		return err
	}
	switch {
	case reason == "length":
		a.Finish(model.StopLength) // its calls stay open
	case reason == "content_filter", reason == "refusal", d.refused:
		a.Finish(model.StopFilter)
	case reason == "error", reason == "insufficient_system_resource":
		return wire.InStream("the provider broke off: "+reason, "server_error")
	default:
		for n := range d.parts {
			a.End(strconv.Itoa(n + 1))
		}
		if a.HasCall() {
			a.Finish(model.StopTools)
		} else {
			a.Finish(model.StopEnd)
		}
	}
	return nil
}
