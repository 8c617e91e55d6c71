package fakewire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	_ "image/gif"  // to look into images
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"net/http"
	"slices"
	"strings"
)

// fields are the fields of a JSON object.
type fields map[string]json.RawMessage

func parseFields(raw json.RawMessage) (fields, error) {
	var f fields
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, fmt.Errorf("no object: %w", err)
	}
	return f, nil
}

// only refuses fields that a server does not know.
func (f fields) only(known ...string) error {
	for key := range f {
		if !slices.Contains(known, key) {
			return fmt.Errorf("%s: extra inputs are not permitted", key)
		}
	}
	return nil
}

func (f fields) text(key string) string {
	var s string
	if json.Unmarshal(f[key], &s) != nil {
		return "" // no text
	}
	return s
}

func (f fields) number(key string) float64 {
	var n float64
	if json.Unmarshal(f[key], &n) != nil {
		return 0 // no number
	}
	return n
}

func (f fields) object(key string) fields {
	out, err := parseFields(f[key])
	if err != nil {
		return nil
	}
	return out
}

func (f fields) list(key string) []fields {
	var out []fields
	if json.Unmarshal(f[key], &out) != nil {
		return nil // no list
	}
	return out
}

// oneOf refuses a value that a server does not know; "" is one that is missing.
func oneOf(what, value string, known ...string) error {
	if value != "" && !slices.Contains(known, value) {
		return fmt.Errorf("%s: %q is none of %q", what, value, known)
	}
	return nil
}

// toolRules checks the functions among the tools: names are legal and come once, schemas are those
// of objects.
func toolRules(names []string, schemas []json.RawMessage) error {
	seen := map[string]bool{}
	for i, name := range names {
		if !strictID.MatchString(name) || seen[name] {
			return fmt.Errorf("tools.%d.name: %q is not allowed or comes twice", i, name)
		}
		seen[name] = true
		schema, err := parseFields(schemas[i])
		if err != nil || schema.text("type") != "object" {
			return fmt.Errorf("tools.%d.input_schema: type must be object", i)
		}
		for _, bad := range []string{"oneOf", "anyOf", "allOf"} {
			if schema[bad] != nil {
				return fmt.Errorf("tools.%d.input_schema: %s is not supported at the top level", i, bad)
			}
		}
	}
	return nil
}

// source is Anthropic's form of a file.
type source struct {
	Type  string `json:"type"`
	Media string `json:"media_type"`
	Data  string `json:"data"`
}

func (s source) check() error {
	if s.Type != "base64" {
		return fmt.Errorf("source.type: %q is not supported", s.Type)
	}
	return checkFile(s.Media, s.Data)
}

// checkDataURL checks a data: URL, given as a JSON string.
func checkDataURL(raw json.RawMessage) error {
	var address string
	if err := json.Unmarshal(raw, &address); err != nil {
		return fmt.Errorf("image_url: %w", err)
	}
	rest, ok := strings.CutPrefix(address, "data:")
	media, data, found := strings.Cut(rest, ";base64,")
	if !ok || !found {
		return fmt.Errorf("image_url: no data URL")
	}
	return checkFile(media, data)
}

// checkFile refuses what a server that looks inside refuses.
func checkFile(media, data string) error {
	raw, err := base64.StdEncoding.Strict().DecodeString(data)
	switch {
	case err != nil:
		return fmt.Errorf("file: %w", err)
	case len(data) > 5<<20 && media != "application/pdf":
		return fmt.Errorf("image exceeds 5 MB maximum: %d bytes", len(data))
	case media == "application/pdf":
		if !bytes.HasPrefix(raw, []byte("%PDF-")) {
			return fmt.Errorf("file: no PDF")
		}
		return nil
	case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, media):
		return fmt.Errorf("media_type: %q is not supported", media)
	case http.DetectContentType(raw) != media:
		return fmt.Errorf("image does not match the provided media type %s", media)
	case media == "image/webp":
		return nil
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("could not process image: %w", err)
	}
	if c.Width > 8000 || c.Height > 8000 {
		return fmt.Errorf("image dimensions exceed max allowed size: 8000 pixels")
	}
	return nil
}
