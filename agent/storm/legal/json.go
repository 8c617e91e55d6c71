package legal

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // to look into pictures
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// object is a JSON object.
type object = map[string]any

// parse reads a body as the strictest servers do.
func (j *judge) parse(body []byte) object {
	if err := strict(body); err != nil {
		j.fail("body", "%v", err)
		return nil
	}
	return j.object(decode(body), "body")
}

func decode(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil // strict has said so
	}
	return v
}

// strict refuses what is no strict JSON: bytes that are not UTF-8, lone surrogates, keys that come
// twice.
func strict(raw []byte) error {
	switch {
	case !utf8.Valid(raw):
		return errors.New("is not UTF-8")
	case !json.Valid(raw):
		return errors.New("is not JSON")
	case lonely(raw):
		return errors.New("has a lone surrogate")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return unique(d)
}

// lonely reports whether valid JSON has an escaped surrogate without its other half.
func lonely(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' {
			continue
		}
		switch n := unit(raw, i+1); {
		case n >= 0xdc00 && n < 0xe000:
			return true
		case n >= 0xd800 && n < 0xdc00:
			if i+6 >= len(raw) || raw[i+5] != '\\' || raw[i+6] != 'u' {
				return true
			}
			if low := unit(raw, i+7); low < 0xdc00 || low >= 0xe000 {
				return true
			}
			i += 6
		}
		i += 4
	}
	return false
}

func unit(raw []byte, at int) uint64 {
	if at+4 > len(raw) {
		return 0
	}
	n, err := strconv.ParseUint(string(raw[at:at+4]), 16, 32)
	if err != nil {
		return 0
	}
	return n
}

// unique refuses keys that come twice in one object.
func unique(d *json.Decoder) error {
	t, err := d.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	delim, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for d.More() {
		if delim == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name := fmt.Sprint(key)
			if seen[name] {
				return fmt.Errorf("has the key %q twice in one object", name)
			}
			seen[name] = true
		}
		if err := unique(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func at(where string, i int) string { return where + "[" + strconv.Itoa(i) + "]" }

func (j *judge) object(v any, where string) object {
	o, ok := v.(object)
	j.must(ok, where, "is no object")
	return o
}

func (j *judge) list(v any, where string) []any {
	l, ok := v.([]any)
	j.must(ok, where, "is no list")
	return l
}

// text wants a string.
func (j *judge) text(v any, where string) string {
	s, ok := v.(string)
	j.must(ok, where, "is no string")
	return s
}

// full wants a string that is not empty.
func (j *judge) full(v any, where string) string {
	s := j.text(v, where)
	j.must(s != "", where, "is empty")
	return s
}

// whole wants an integer of at least least.
func (j *judge) whole(v any, where string, least int64) int64 {
	n, ok := v.(json.Number)
	i, err := n.Int64()
	j.must(ok && err == nil && i >= least, where, fmt.Sprintf("is no whole number of at least %d", least))
	return i
}

func (j *judge) only(o object, where string, known ...string) {
	for key := range o {
		if !slices.Contains(known, key) {
			j.fail(where+"."+key, "no such field")
		}
	}
}

// among wants one of the words.
func (j *judge) among(v any, where string, words ...string) string {
	s := j.text(v, where)
	j.must(slices.Contains(words, s), where, fmt.Sprintf("%q is none of %q", s, words))
	return s
}

// schema wants the JSON schema of an object.
func (j *judge) schema(v any, where string) {
	s := j.object(v, where)
	j.must(s["type"] == "object" || s["type"] == "OBJECT", where, "type is not object")
}

// arguments wants a string that holds a JSON object.
func (j *judge) arguments(v any, where string) {
	s := j.text(v, where)
	if err := strict([]byte(s)); err != nil {
		j.fail(where, "%v", err)
		return
	}
	_, ok := decode([]byte(s)).(object)
	j.must(ok, where, "is no JSON object")
}

// Patterns of names and ids.
var (
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	plainID  = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
)

// name wants a legal name of a tool.
func (j *judge) name(v any, where string) string {
	s := j.text(v, where)
	j.must(toolName.MatchString(s), where, fmt.Sprintf("%q is no legal name of a tool", s))
	return s
}

// picture wants base64 of a picture of that media type, of at most 5 MB and 8000 pixels a side.
func (j *judge) picture(media, data, where string) {
	raw, err := base64.StdEncoding.Strict().DecodeString(data)
	if err != nil || len(raw) == 0 {
		j.fail(where, "is no base64")
		return
	}
	j.must(len(data) <= 5<<20, where, "is larger than 5 MB")
	c, kind, err := image.DecodeConfig(bytes.NewReader(raw))
	switch {
	case media == "image/webp":
		j.must(bytes.HasPrefix(raw, []byte("RIFF")), where, "is no webp")
	case err != nil:
		j.fail(where, "can't be read: %v", err)
	default:
		j.must("image/"+kind == media, where, fmt.Sprintf("is a %s and not %q", kind, media))
		j.must(c.Width <= 8000 && c.Height <= 8000, where, "has more than 8000 pixels a side")
	}
}

// dataURL wants a picture as a data: URL.
func (j *judge) dataURL(v any, where string) {
	rest, ok := strings.CutPrefix(j.text(v, where), "data:")
	media, data, found := strings.Cut(rest, ";base64,")
	if !ok || !found {
		j.fail(where, "is no data: URL")
		return
	}
	j.picture(media, data, where)
}
