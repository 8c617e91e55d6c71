package desktop

import (
	"strconv"
	"strings"
)

// replaces reports whether a window of one version should put its own core in the place of a core of
// another. A core that is known to be newer stays; versions that can't be ordered, such as two
// builds of a checkout, give way to the window, whose own core lies beside it.
func replaces(window, core string) bool {
	if window == core {
		return false
	}
	w, wOK := numbers(window)
	c, cOK := numbers(core)
	if !wOK || !cOK {
		return true
	}
	for i := range w {
		if w[i] != c[i] {
			return w[i] > c[i]
		}
	}
	return true
}

// numbers reads the leading 1.2.3 of a version such as v1.2.3-4-gabc.
func numbers(version string) ([3]int, bool) {
	var out [3]int
	head, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	parts := strings.Split(head, ".")
	if len(parts) != len(out) {
		return out, false
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return out, false
		}
		out[i] = n
	}
	return out, true
}
