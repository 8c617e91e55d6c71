package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"carrel/agent/model"
	"carrel/agent/model/wire"
)

// A search beside tools of ours is two parts, the use of the tool and its result, which go back as
// they came. The part of a use has the tool's input, that of a result has none.

type native struct {
	ID   string `json:"id"`
	Type string `json:"toolType"`
	Args struct {
		Queries []string `json:"queries"`
	} `json:"args"`
}

// name is the tool's name as other formats have it.
func (n native) name() string {
	if strings.HasPrefix(n.Type, "GOOGLE_SEARCH") {
		return model.WebSearch
	}
	return strings.ToLower(n.Type)
}

// grounding tells of a search and of what it found.
type grounding struct {
	Queries []string `json:"webSearchQueries"`
	Chunks  []struct {
		Web struct {
			URI   string `json:"uri"`
			Title string `json:"title"`
		} `json:"web"`
	} `json:"groundingChunks"`
}

// Trim drops a use without its result and a result without its use, which are refused.
func (format) Trim(parts []model.Part, _ bool) []model.Part {
	paired := func(p model.Part) bool {
		return slices.ContainsFunc(parts, func(q model.Part) bool {
			return q.Kind == model.Native && q.CallID == p.CallID && (q.Input == "") != (p.Input == "")
		})
	}
	out := parts[:0:0]
	for _, p := range parts {
		if p.Kind != model.Native || paired(p) {
			out = append(out, p)
		}
	}
	return out
}

// native keeps a use of a tool or a result; input names the field that only a use has.
func (d *decoder) native(n *native, input string, raw json.RawMessage, a *wire.Accumulator) error {
	d.close(a)
	key := d.next()
	a.Start(key, model.Part{Kind: model.Native, CallID: n.ID, Name: n.name()})
	if input != "" {
		a.Add(key, model.Native, strings.Join(n.Args.Queries, "; "))
		a.Input(key, "{}")
		d.searched = d.searched || n.name() == model.WebSearch
	}
	if err := a.Opaque(key, raw); err != nil {
		return err
	}
	a.End(key)
	return nil
}

// ground takes the sources of the text, and the queries: each is billed.
func (d *decoder) ground(g grounding, a *wire.Accumulator) {
	for _, c := range g.Chunks {
		a.CiteText(model.Source{URL: c.Web.URI, Title: c.Web.Title})
	}
	if len(g.Queries) == 0 {
		return
	}
	d.searches = max(d.searches, int64(len(g.Queries)))
	if d.searched { // a part of its own tells of it already
		return
	}
	d.searched = true
	d.close(a)
	key := d.next()
	a.Start(key, model.Part{Kind: model.Native, Name: model.WebSearch})
	a.Add(key, model.Native, strings.Join(g.Queries, "; "))
	a.End(key)
}
