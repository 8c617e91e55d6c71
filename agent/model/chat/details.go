package chat

import (
	"encoding/json"
	"maps"
	"slices"

	"carrel/agent/model/wire"
)

// details collects the sealed details of reasoning. They come in pieces; the pieces of one detail
// become one again, since a signature is for the whole.
type details []map[string]json.RawMessage

// add takes a list of pieces and gives the text in them.
func (d *details) add(raw json.RawMessage) (text string) {
	var pieces []map[string]json.RawMessage
	if json.Unmarshal(raw, &pieces) != nil {
		return ""
	}
	for _, p := range pieces {
		text += asText(p["text"]) + asText(p["summary"])
		if n := len(*d); n > 0 && sameDetail((*d)[n-1], p) {
			join((*d)[n-1], p)
		} else if p != nil {
			*d = append(*d, maps.Clone(p))
		}
	}
	return text
}

// sameDetail reports whether a piece goes on with a detail: it has its type and its index.
func sameDetail(d, piece map[string]json.RawMessage) bool {
	if string(d["type"]) != string(piece["type"]) || string(d["index"]) != string(piece["index"]) {
		return false
	}
	return set(d["index"]) && (!set(piece["id"]) || !set(d["id"]) || string(d["id"]) == string(piece["id"]))
}

func join(d, piece map[string]json.RawMessage) {
	for key, value := range piece {
		switch key {
		case "text", "summary", "data":
			d[key] = wire.Encode(asText(d[key]) + asText(value))
		default:
			if set(value) {
				d[key] = value
			}
		}
	}
}

// list is the details as a JSON list, nil when there are none.
func (d details) list() json.RawMessage {
	if len(d) == 0 {
		return nil
	}
	var out []wire.Object
	for _, detail := range d {
		var o wire.Object
		for _, key := range slices.Sorted(maps.Keys(detail)) {
			o = o.With(key, detail[key])
		}
		out = append(out, o)
	}
	return wire.Encode(out)
}

func set(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func asText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "" // no text
	}
	return s
}
