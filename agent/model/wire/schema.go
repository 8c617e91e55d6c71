package wire

import (
	"encoding/json"
	"maps"
	"slices"

	"carrel/agent/model"
)

// Schema is a tool's schema, byte for byte unless providers are known to refuse it: then it is
// mended, so that one careless tool does not fail every request (a tool without arguments takes an
// empty object; the outermost schema is that of an object without alternatives; an array has items;
// an enumeration has no type that its values contradict).
func Schema(t model.Tool) Raw {
	var s any
	if json.Unmarshal(t.Schema, &s) != nil {
		return Raw(`{"type":"object","properties":{}}`)
	}
	top, ok := s.(map[string]any)
	changed := false
	if kinds := names(top["type"]); slices.Contains(kinds, "object") { // such as "object or null"
		top["type"], changed = "object", true
	}
	if !ok || top["type"] != "object" && (top["type"] != nil || len(top) == 0) {
		return Raw(`{"type":"object","properties":{}}`)
	}
	if top["type"] == nil {
		top["type"], changed = "object", true
	}
	changed = flatten(top) || changed
	if top["properties"] == nil && top["additionalProperties"] == nil && len(top) == 1 {
		top["properties"], changed = map[string]any{}, true
	}
	if !mend(top, 0) && !changed {
		return t.Schema
	}
	out, err := json.Marshal(top)
	if err != nil {
		return Raw(`{"type":"object","properties":{}}`) // can't be: it was JSON
	}
	return out
}

// flatten merges the alternatives of the outermost schema: their properties are all there, and only
// what each of them wants is required. allOf wants all of them.
func flatten(top map[string]any) bool {
	changed := false
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		list, ok := top[key].([]any)
		if !ok {
			continue
		}
		delete(top, key)
		changed = true
		properties, isMap := top["properties"].(map[string]any)
		if !isMap {
			properties = map[string]any{}
		}
		var wanted []string
		for i, alternative := range list {
			a, isMap := alternative.(map[string]any)
			if !isMap {
				continue
			}
			if p, isMap := a["properties"].(map[string]any); isMap {
				for name, schema := range p {
					if properties[name] == nil {
						properties[name] = schema
					}
				}
			}
			wanted = merge(wanted, names(a["required"]), key == "allOf" || i == 0)
		}
		top["properties"] = properties
		if all := merge(names(top["required"]), wanted, true); len(all) > 0 {
			top["required"] = all
		}
	}
	return changed
}

// merge joins two lists of names, or gives what is in both.
func merge(a, b []string, join bool) []string {
	set := map[string]bool{}
	for _, n := range a {
		if join || slices.Contains(b, n) {
			set[n] = true
		}
	}
	if join {
		for _, n := range b {
			set[n] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func names(v any) []string {
	list, ok := v.([]any)
	if !ok {
		return nil
	}
	var out []string
	for _, n := range list {
		if s, ok := n.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// maxDepth is how deep a schema is looked into.
const maxDepth = 40

// mend repairs what is inside a schema. It reports whether it changed anything.
func mend(s map[string]any, depth int) bool {
	if depth > maxDepth {
		return false
	}
	changed := false
	if s["type"] == "array" && s["items"] == nil {
		s["items"], changed = map[string]any{}, true
	}
	if list, ok := s["enum"].([]any); ok && s["type"] == "null" && slices.ContainsFunc(list, func(v any) bool { return v != nil }) {
		delete(s, "type")
		changed = true
	}
	if kind, ok := s["type"].(string); ok && s["properties"] != nil && kind != "object" {
		delete(s, "properties")
		changed = true
	}
	for key, v := range s {
		switch key {
		case "enum", "const", "default", "examples", "required":
			continue
		case "properties", "$defs", "definitions", "patternProperties":
			if m, ok := v.(map[string]any); ok {
				for name := range m {
					changed = mendAny(m[name], depth+1) || changed
				}
			}
			continue
		}
		changed = mendAny(v, depth+1) || changed
	}
	return changed
}

func mendAny(v any, depth int) bool {
	changed := false
	switch v := v.(type) {
	case map[string]any:
		return mend(v, depth)
	case []any:
		for _, item := range v {
			changed = mendAny(item, depth+1) || changed
		}
	}
	return changed
}
