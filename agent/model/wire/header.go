package wire

import (
	"net/http"
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
