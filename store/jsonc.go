package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// maxNesting is how deep a file may nest. The parser's stack grows with it, and a stack that has grown
// too far ends the process.
const maxNesting = 1000

// nests gives the depth of nesting, or more: it does not look whether a bracket is in a text.
func nests(text []byte) (deepest int) {
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return deepest
}

// parseJSONC reads a JSONC document whose top is an object. Blank text is an empty object: there is
// nothing in it to lose.
func parseJSONC(text []byte) (hujson.Value, error) {
	if nests(text) > maxNesting {
		return hujson.Value{}, fmt.Errorf("it nests deeper than %d levels", maxNesting)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return v, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := v.Value.(*hujson.Object); !ok {
		return v, errors.New("it should be an object, { … }")
	}
	return v, nil
}

// members decodes the top object, each member by itself, so that one bad value spoils no other.
func members(v hujson.Value) (map[string]json.RawMessage, error) {
	plain := v.Clone()
	plain.Standardize()
	var m map[string]json.RawMessage
	err := json.Unmarshal(plain.Pack(), &m)
	return m, err
}

// edit sets the value at path in the document, making the objects on the way; nil removes it.
// Everything else stays byte for byte, comments included.
func edit(v *hujson.Value, path []string, value any) error {
	if len(path) == 0 {
		return errors.New("no path to the value")
	}
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return fmt.Errorf("%q is not in an object", path[0])
	}
	key := path[0]
	at := find(obj, key)
	if len(path) == 1 && value == nil {
		for ; at >= 0; at = find(obj, key) {
			remove(obj, at)
		}
		return nil
	}
	if at >= 0 && len(path) > 1 {
		if _, ok := obj.Members[at].Value.Value.(*hujson.Object); ok {
			return edit(&obj.Members[at].Value, path[1:], value)
		}
	}
	if value == nil {
		return nil // nothing there to remove
	}
	for i := len(path) - 1; i > 0; i-- {
		value = map[string]any{path[i]: value}
	}
	indent := indentOf(obj)
	fresh, err := encode(value, indent)
	if err != nil {
		return err
	}
	if at >= 0 {
		obj.Members[at].Value.Value = fresh
		return nil
	}
	add(obj, key, fresh, indent)
	return nil
}

// find is the index of the member that counts: the last of that name, as in encoding/json.
func find(obj *hujson.Object, key string) int {
	for i := len(obj.Members) - 1; i >= 0; i-- {
		if lit, ok := obj.Members[i].Name.Value.(hujson.Literal); ok && lit.String() == key {
			return i
		}
	}
	return -1
}

// indentOf is the white space before the object's members; two spaces when there are none.
func indentOf(obj *hujson.Object) string {
	if len(obj.Members) == 0 {
		return "  "
	}
	before := string(obj.Members[0].Name.BeforeExtra)
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// encode renders value as JSON that fits at the given indentation.
func encode(value any, indent string) (hujson.ValueTrimmed, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent(indent, "  ")
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	v, err := hujson.Parse(bytes.TrimSpace(buf.Bytes()))
	return v.Value, err
}

// add appends a member. Comments that stood at the object's end stay before it. (In hujson the last
// member has a comma after it when its AfterExtra is not nil.)
func add(obj *hujson.Object, key string, value hujson.ValueTrimmed, indent string) {
	n := len(obj.Members)
	m := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra(" "), Value: hujson.String(key)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	}
	if n > 0 && obj.Members[n-1].Value.AfterExtra != nil {
		m.Value.AfterExtra = hujson.Extra{}
	}
	if oneLine := n > 0 && !bytes.ContainsRune(obj.Members[0].Name.BeforeExtra, '\n'); !oneLine {
		m.Name.BeforeExtra = join(obj.AfterExtra, hujson.Extra("\n"+indent))
		obj.AfterExtra = hujson.Extra("\n" + closing(obj.AfterExtra, indent))
	}
	obj.Members = append(obj.Members, m)
}

// closing is the indentation of the object's closing brace: what stood there, else one step less
// than its members have.
func closing(rest hujson.Extra, indent string) string {
	if i := bytes.LastIndexByte(rest, '\n'); i >= 0 {
		if line := string(rest[i+1:]); strings.TrimLeft(line, " \t") == "" {
			return line
		}
	}
	return strings.TrimSuffix(strings.TrimSuffix(indent, "\t"), "  ")
}

// remove drops the member at i; the comments before it stay.
func remove(obj *hujson.Object, i int) {
	gone := obj.Members[i]
	kept := gone.Name.BeforeExtra
	obj.Members = append(obj.Members[:i], obj.Members[i+1:]...)
	if i < len(obj.Members) {
		next := &obj.Members[i].Name
		next.BeforeExtra = join(kept, next.BeforeExtra)
		return
	}
	obj.AfterExtra = join(kept, obj.AfterExtra)
	if i == 0 {
		return
	}
	prev := &obj.Members[i-1].Value // the last one now: a comma follows it as one followed gone
	obj.AfterExtra = join(prev.AfterExtra, obj.AfterExtra)
	prev.AfterExtra = nil
	if gone.Value.AfterExtra != nil {
		prev.AfterExtra = hujson.Extra{}
	}
}

// join puts comments before what followed them, without the white space that separated the two. A
// line comment still ends with its line.
func join(comments, rest hujson.Extra) hujson.Extra {
	kept := strings.TrimRight(string(comments), " \t\r\n")
	if kept == "" {
		return rest
	}
	next := strings.TrimLeft(string(rest), " \t\r")
	if !strings.HasPrefix(next, "\n") {
		kept += "\n"
	}
	return hujson.Extra(kept + string(rest))
}
