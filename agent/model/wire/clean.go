package wire

import (
	"bytes"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// CleanJSON makes valid JSON strict: bytes that are not UTF-8, and \u escapes of a surrogate
// without its other half, become U+FFFD. Clean input is returned as it is.
func CleanJSON(raw []byte) []byte {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	var out []byte // nil until something changes
	from := 0
	for i := 0; i+1 < len(raw); {
		if raw[i] != '\\' {
			i++
			continue
		}
		n := 2
		if r, ok := escape(raw[i:]); ok {
			n = 6
			if utf16.IsSurrogate(r) {
				low, ok := escape(raw[min(i+6, len(raw)):])
				if ok && utf16.DecodeRune(r, low) != utf8.RuneError {
					n = 12
				} else {
					out = append(append(out, raw[from:i]...), `\ufffd`...)
					from = i + 6
				}
			}
		}
		i += n
	}
	if out == nil {
		return raw
	}
	return append(out, raw[from:]...)
}

// escape reads a \uXXXX at the start of b.
func escape(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}

// CallID makes an id that the strict formats accept (letters, digits, _ and -, at most 64 bytes) of
// one that another format made. Ids that differ stay different.
func CallID(id string) string {
	if clean := cleanID(id); clean != id || len(id) > 64 || id == "" {
		return hashedID(id, 40)
	}
	return id
}

// ShortID makes an id of at most 40 bytes, of any characters. Ids that differ stay different.
func ShortID(id string) string {
	if len(id) > 40 {
		return hashedID(id, 26) // and at most 14 more
	}
	return id
}

func cleanID(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, id)
}

// hashedID keeps the first bytes of an id, cleaned, and a hash of all of it.
func hashedID(id string, first int) string {
	clean, h := cleanID(id), fnv.New64a()
	_, _ = h.Write([]byte(id)) // a hash never fails
	return clean[:min(len(clean), first)] + "_" + strconv.FormatUint(h.Sum64(), 36)
}

// clip shortens s to at most n bytes without cutting a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
