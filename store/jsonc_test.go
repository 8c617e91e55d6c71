package store

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
)

func TestEditTouchesNothingElse(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"empty", ``, "{\n  \"k\": 1\n}\n"},
		{"one line", `{"a":1}`, `{"a":1, "k": 1}`},
		{"no last comma", "{\n\t\"a\": 1 // one\n}", "{\n\t\"a\": 1, // one\n\t\"k\": 1\n}"},
		{"only a comment", "{\n  // none yet\n}\n", "{\n  // none yet\n  \"k\": 1\n}\n"},
		{"twice", `{"k": 0, "k": 0}`, `{"k": 0, "k": 1}`},
		{"there", "{\"k\": /*was*/ 0 /*!*/, }", "{\"k\": /*was*/ 1 /*!*/, }"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v, err := parseJSONC([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if err := edit(&v, []string{"k"}, 1); err != nil {
				t.Fatal(err)
			}
			if got := string(v.Pack()); got != c.want {
				t.Fatalf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// FuzzEdit compares an edit with the same edit of the decoded values, and checks that comments live.
func FuzzEdit(f *testing.F) {
	for _, text := range []string{
		`{}`, "{// c\n}", `{"a": {"b": [1, {"c": 2}]}, "d": null,}`, "// t\n{\n /*x*/ \"a\": 1, // y\n \"b\": 2 /*z*/ }",
		"{\"a\":1,// c\n\"b\":2}", "{\"a\"/*1*/:/*2*/1/*3*/,/*4*/}/*5*/", "{\"a\":1 // c\n}", "\xef\xbb\xbf{}", `{"a":1,"a":2}`,
	} {
		for _, path := range []string{"a", "b", "a.b", "new.x.y", "d"} {
			f.Add(text, path, false)
			f.Add(text, path, true)
		}
	}
	f.Fuzz(func(t *testing.T, text, dotted string, drop bool) {
		if !utf8.ValidString(text + dotted) {
			return
		}
		v, err := parseJSONC([]byte(text))
		if err != nil {
			return
		}
		path := strings.Split(dotted, ".")
		want := decode(t, v)
		var value any
		if !drop {
			value = "<new>"
		}
		expect(want, path, value)
		notes := comments(v)
		if err := edit(&v, path, value); err != nil {
			t.Fatal(err)
		}
		again, err := parseJSONC(v.Pack())
		if err != nil {
			t.Fatalf("%v in %q", err, v.Pack())
		}
		if diff := cmp.Diff(want, decode(t, again)); diff != "" {
			t.Fatalf("%q: %s", v.Pack(), diff)
		}
		if got := comments(again); value != nil && len(path) == 1 && got < notes {
			t.Fatalf("%d comments became %d in %q", notes, got, v.Pack())
		}
	})
}

func decode(t *testing.T, v hujson.Value) map[string]any {
	t.Helper()
	plain := v.Clone()
	plain.Standardize()
	m := map[string]any{}
	if err := json.Unmarshal(plain.Pack(), &m); err != nil {
		t.Skip(err) // not what encoding/json calls an object
	}
	return m
}

// expect makes the edit on plain values.
func expect(m map[string]any, path []string, value any) {
	for ; len(path) > 1; path = path[1:] {
		inner, ok := m[path[0]].(map[string]any)
		if !ok {
			if value == nil {
				return
			}
			inner = map[string]any{}
			m[path[0]] = inner
		}
		m = inner
	}
	if value == nil {
		delete(m, path[0])
		return
	}
	m[path[0]] = value
}

// comments counts the comments outside of values that an edit may replace.
func comments(v hujson.Value) int {
	obj := v.Value.(*hujson.Object)
	all := string(v.BeforeExtra) + string(v.AfterExtra) + string(obj.AfterExtra)
	for _, m := range obj.Members {
		all += string(m.Name.BeforeExtra) + string(m.Value.AfterExtra)
	}
	return strings.Count(all, "/*") + strings.Count(all, "//")
}
