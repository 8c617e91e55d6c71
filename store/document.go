package store

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tailscale/hujson"
)

// Document is settings.jsonc as it is written, for telling where a value comes from.
type Document struct {
	value hujson.Value
	text  []byte
}

// Document reads settings.jsonc with the rules of Settings.
func (r *Root) Document() (Document, error) {
	v, err := r.parsed(settingsFile)
	if err != nil {
		return Document{}, fmt.Errorf("read settings: %w", err)
	}
	v.UpdateOffsets()
	return Document{value: v, text: v.Pack()}, nil
}

// At gives the value at path as JSON and its line in the file, from 1; ok is false where nothing is.
func (d Document) At(path ...string) (raw json.RawMessage, line int, ok bool) {
	at := &d.value
	for _, key := range path {
		obj, isObject := at.Value.(*hujson.Object)
		if !isObject {
			return nil, 0, false
		}
		i := find(obj, key)
		if i < 0 {
			return nil, 0, false
		}
		at = &obj.Members[i].Value
	}
	if at.Value == nil {
		return nil, 0, false
	}
	plain := at.Clone()
	plain.Standardize()
	line = 1 + bytes.Count(d.text[:min(at.StartOffset, len(d.text))], []byte("\n"))
	var short bytes.Buffer
	if err := json.Compact(&short, plain.Pack()); err != nil {
		return nil, 0, false
	}
	return short.Bytes(), line, true
}
