package wire

import (
	"net/http"
	"slices"
	"strings"
)

// Overlay sets the headers of over in h.
func Overlay(h, over http.Header) {
	for k, v := range over {
		h[http.CanonicalHeaderKey(k)] = v
	}
}

// Secrets lists what must not appear in an error: the keys, and the values of further headers,
// which often hold keys too.
func Secrets(h http.Header, keys ...string) []string {
	var out []string
	for _, k := range keys {
		if k != "" {
			out = append(out, k)
		}
	}
	for _, values := range h {
		for _, v := range values {
			if v = strings.TrimPrefix(v, "Bearer "); len(v) >= 8 {
				out = append(out, v)
			}
		}
	}
	return out
}

// added lists what must not appear in an error of what signed a request: the headers that it set, and a
// signature that is a part of one.
func added(before, after http.Header) []string {
	set := http.Header{}
	for k, values := range after {
		if strings.EqualFold(k, "X-Amz-Date") || slices.Equal(values, before[k]) {
			continue
		}
		set[k] = values
		for _, v := range values {
			if _, signature, ok := strings.Cut(v, "Signature="); ok {
				set.Add("Signature", signature)
			}
		}
	}
	return Secrets(set)
}
