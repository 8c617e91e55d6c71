package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// A search is two blocks, the use of the tool and its result, each a part of its own that goes back
// as it came. The part of a use has the tool's input, that of a result has none.

// Trim drops a use without a result, which is refused unless the provider is asked to go on with
// it, and a result without its use.
func (format) Trim(parts []model.Part, last bool) []model.Part {
	has := func(id string, use bool) bool {
		return slices.ContainsFunc(parts, func(p model.Part) bool {
			return p.Kind == model.Native && p.CallID == id && isUse(p) == use
		})
	}
	out := parts[:0:0]
	for _, p := range parts {
		if p.Kind == model.Native && !has(p.CallID, !isUse(p)) && !(isUse(p) && last) {
			continue
		}
		out = append(out, p)
	}
	return out
}

func isUse(p model.Part) bool { return p.Input != "" }

// startNative starts the part of a use or of a result, if the block is one.
func (d *decoder) startNative(key string, e *event, a *wire.Accumulator) error {
	name, isResult := strings.CutSuffix(e.Block.Type, "_tool_result")
	switch {
	case e.Block.Type == "server_tool_use":
		a.Start(key, model.Part{Kind: model.Native, CallID: e.Block.ID, Name: e.Block.Name})
		d.block(key).use = &e.Block
		return nil
	case !isResult || e.Block.ToolUseID == "":
		return nil
	}
	a.Start(key, model.Part{Kind: model.Native, CallID: e.Block.ToolUseID, Name: name})
	var found []struct {
		URL   string `json:"url"`
		Title string `json:"title"`
	}
	var failed struct {
		Code string `json:"error_code"`
	}
	if json.Unmarshal(e.Block.Content, &found) == nil {
		for _, f := range found {
			a.Cite(key, model.Source{URL: f.URL, Title: f.Title})
		}
	} else if json.Unmarshal(e.Block.Content, &failed) == nil && failed.Code != "" {
		a.Add(key, model.Native, "failed: "+failed.Code)
	}
	return a.Opaque(key, e.raw())
}

// endNative completes the part of a use: its input is known only now.
func (d *decoder) endNative(key string, a *wire.Accumulator) error {
	b := d.block(key)
	input := strings.TrimSpace(b.input.String())
	if input == "" {
		input = strings.TrimSpace(string(b.use.Input))
	}
	if input == "" || input[0] != '{' || !json.Valid([]byte(input)) {
		input = "{}"
	}
	var said struct {
		Query string `json:"query"`
		URL   string `json:"url"`
	}
	if json.Unmarshal([]byte(input), &said) == nil {
		a.Add(key, model.Native, said.Query+said.URL)
	}
	a.Input(key, input)
	return a.Opaque(key, wire.Encode(wire.Obj("type", "server_tool_use", "id", b.use.ID, "name", b.use.Name, "input", wire.Raw(input))))
}

// cite keeps a citation with the text that streams.
func (d *decoder) cite(key string, raw json.RawMessage, a *wire.Accumulator) {
	var c struct {
		URL   string `json:"url"`
		Title string `json:"title"`
	}
	if !a.Has(key) || json.Unmarshal(raw, &c) != nil {
		return
	}
	a.Hold(len(raw))
	d.block(key).citations = append(d.block(key).citations, wire.Raw(raw))
	a.Cite(key, model.Source{URL: c.URL, Title: c.Title})
}

// endCited keeps a cited text in the form in which it goes back.
func (d *decoder) endCited(key string, a *wire.Accumulator) error {
	said, ok := a.Text(key)
	if !ok || said == "" {
		return nil
	}
	return a.Opaque(key, wire.Encode(text(said).With("citations", d.block(key).citations)))
}
