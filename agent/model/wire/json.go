package wire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Object is a JSON object whose fields keep their order, so that the same request always has the
// same bytes and providers can cache its prefix.
type Object []field

type field struct {
	key   string
	value any
}

// Obj makes an object of keys and values in turn. A value is a string, bool, int, int64,
// float64 (finite), Raw, Bytes, Object, []Object or []any of these.
func Obj(pairs ...any) Object {
	o := make(Object, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		key, ok := pairs[i].(string)
		if !ok {
			panic(fmt.Sprintf("object key is a %T", pairs[i]))
		}
		o = append(o, field{key, pairs[i+1]})
	}
	return o
}

// With gives the object with one more field.
func (o Object) With(key string, value any) Object { return append(o, field{key, value}) }

// Has reports whether the object has that field.
func (o Object) Has(key string) bool {
	return slices.ContainsFunc(o, func(f field) bool { return f.key == key })
}

// Without gives the object without those fields.
func (o Object) Without(keys ...string) Object {
	return slices.DeleteFunc(slices.Clone(o), func(f field) bool { return slices.Contains(keys, f.key) })
}

// Number gives the object with one more field when v is not nil.
func (o Object) Number(key string, v *float64) Object {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return o
	}
	return o.With(key, *v)
}

// Int gives the object with one more field when v is not nil.
func (o Object) Int(key string, v *int) Object {
	if v == nil {
		return o
	}
	return o.With(key, *v)
}

// Further gives the object with the fields of extra that it does not have yet, that are valid JSON
// and that are not the conversation itself, in the order of their names.
func (o Object) Further(extra map[string]json.RawMessage) Object {
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		switch key {
		case "messages", "input", "contents", "system", "instructions", "systemInstruction", "tools", "tool_choice", "stream":
			continue
		}
		if !o.Has(key) && json.Valid(extra[key]) {
			o = o.With(key, extra[key])
		}
	}
	return o
}

// Raw is JSON that is written byte for byte, save for what is not strict JSON (see CleanJSON).
type Raw = json.RawMessage

// Bytes are written as a string: Prefix and the base64 form of Data.
type Bytes struct {
	Prefix string
	Data   []byte
}

// Encode writes a value as strict JSON: valid UTF-8, no lone surrogates, fields in order.
func Encode(v any) []byte { return appendValue(nil, v) }

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendString(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	case Raw:
		return append(b, CleanJSON(v)...)
	case Bytes:
		b = append(b, '"')
		b = append(b, v.Prefix...)
		b = base64.StdEncoding.AppendEncode(b, v.Data)
		return append(b, '"')
	case Object:
		b = append(b, '{')
		for i, f := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, f.key), ':')
			b = appendValue(b, f.value)
		}
		return append(b, '}')
	case []Object:
		return appendList(b, v)
	case []any:
		return appendList(b, v)
	}
	panic(fmt.Sprintf("can't write a %T as JSON", v))
}

func appendList[T any](b []byte, list []T) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendValue(b, v)
	}
	return append(b, ']')
}

// appendString writes s as a JSON string; each invalid byte becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r) // RuneError is U+FFFD
			i += n
			continue
		}
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
		i++
	}
	return append(b, '"')
}
