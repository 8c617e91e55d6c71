package jail

import (
	"reflect"
	"strings"
	"unicode/utf8"
)

// Names of files, arguments and variables are bytes, and JSON holds text only. A message with a
// string that is no text is sent with each byte of its strings as a character of its own, and says
// so.

// plain reports that all strings in a message are text.
func plain(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Pointer:
		return v.IsNil() || plain(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			if !plain(v.Index(i)) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && !plain(v.Field(i)) {
				return false
			}
		}
	default: // numbers and truths
	}
	return true
}

// mapped copies a message with all strings changed; what it points to is copied too.
func mapped(v reflect.Value, change func(string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(change(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(mapped(v.Elem(), change))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(mapped(v.Index(i), change))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(mapped(v.Field(i), change))
			}
		}
	default:
	}
	return out
}

// spread makes each byte a character.
func spread(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// gathered is the reverse.
func gathered(s string) string {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

// wrap makes a message fit for JSON.
func wrap(m Message) Message {
	if plain(reflect.ValueOf(m)) {
		return m
	}
	m = mapped(reflect.ValueOf(m), spread).Interface().(Message)
	m.Bytes = true
	return m
}

// unwrap is the reverse.
func unwrap(m Message) Message {
	if !m.Bytes {
		return m
	}
	m = mapped(reflect.ValueOf(m), gathered).Interface().(Message)
	m.Bytes = false
	return m
}
