package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// input reads the fields of a call. It keeps the first error, worded for the model. Fields that no
// one asks for are ignored: models add some.
type input struct {
	fields map[string]json.RawMessage
	err    error
}

func read(raw json.RawMessage) *input {
	in := &input{}
	if err := json.Unmarshal(raw, &in.fields); err != nil || in.fields == nil {
		in.err = errors.New("the input is not a JSON object")
		if err != nil {
			in.err = fmt.Errorf("the input is not a JSON object: %w", err)
		}
	}
	return in
}

// raw gives a field, and whether it is there and not null.
func (in *input) raw(name string) (json.RawMessage, bool) {
	v, ok := in.fields[name]
	return v, ok && !bytes.Equal(bytes.TrimSpace(v), []byte("null"))
}

func (in *input) fail(format string, args ...any) {
	if in.err == nil {
		in.err = fmt.Errorf(format, args...)
	}
}

// decode reads a field into v, and reports whether it was there.
func (in *input) decode(name, want string, v any) bool {
	raw, ok := in.raw(name)
	if !ok {
		return false
	}
	if err := json.Unmarshal(raw, v); err != nil {
		in.fail("%q must be %s, not %s", name, want, kind(raw))
		return false
	}
	return true
}

// need gives a string that must be there.
func (in *input) need(name string) string {
	s, ok := in.text(name)
	if !ok {
		in.fail("%q is missing; it must be a string", name)
	}
	return s
}

func (in *input) text(name string) (string, bool) {
	var s string
	ok := in.decode(name, "a string", &s)
	return s, ok
}

// number gives a whole number, which models also write as 2.0.
func (in *input) number(name string) (int, bool) {
	var f float64
	if !in.decode(name, "a number", &f) {
		return 0, false
	}
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		in.fail("%q must be a whole number, not %v", name, f)
		return 0, false
	}
	return int(f), true
}

func (in *input) texts(name string) ([]string, bool) {
	var list []string
	ok := in.decode(name, "an array of strings", &list)
	return list, ok
}

// kind names the type of a JSON value.
func kind(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	}
	return "a number"
}
