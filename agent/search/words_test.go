package search

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func words(s string) string {
	var out []string
	eachWord(s, func(w word) bool {
		out = append(out, w.text)
		return true
	})
	return strings.Join(out, "|")
}

func TestWordsAreLettersAndDigitsWithoutCaseAndAccents(t *testing.T) {
	for in, want := range map[string]string{
		"Fix the_parser-Test: x2":      "fix|the|parser|test|x2",
		"Ärger ÉTÉ naïve Straße":       "arger|ete|naive|straße",
		"e\u0301te\u0301":              "ete",
		"Ελλάδα Ёлка й":                "ελλαδα|елка|и",
		"全文検索とgo":                      "全|文|検|索|と|go",
		"한국어 검색":                       "한국어|검색",
		"हिन्दी":                       "हिन्दी",
		"a\x00b\xff\xfec":              "a|b|c",
		strings.Repeat("A", 65) + " b": "b",
		"\u0301 \u0302x":               "x",
		"":                             "",
		"🙂 --- ''":                     "",
	} {
		if got := words(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestAQueryIsNeverMalformed(t *testing.T) {
	for in, want := range map[string]string{
		`fix parser`:             `("fix" AND "parser")`,
		`"fix the parser" -go`:   `(("fix the parser") NOT ("go"))`,
		`pars* a_b x`:            `("pars" * AND "a b" AND "x")`,
		`"open`:                  `("open")`,
		`AND OR NOT NEAR(a, b)`:  `("and" AND "or" AND "not" AND "near a" AND "b")`,
		`text:secret {x} ^y + "`: `("text secret" AND "x" AND "y")`,
		`-"no such" --x yes`:     `(("yes") NOT ("no such" OR "x"))`,
		`'; DROP TABLE words`:    `("drop" AND "table" AND "words")`,
		`"half done"*`:           `("half done" *)`,
		`検索`:                     `("検 索")`,
	} {
		terms, err := parse(in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
		} else if got := match(terms); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	for _, in := range []string{"", " \t\n", "-x", `""`, "---", "***", `-"a b" -c`, "\xff"} {
		if _, err := parse(in); !errors.Is(err, ErrNothing) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func shown(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.Hit {
			b.WriteString("[" + p.Text + "]")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestASnippetShowsThePlaceWithTheMost(t *testing.T) {
	long := strings.Repeat("nothing of note here\n", 50)
	for _, c := range []struct{ text, query, want string }{
		{"Fix the Parser, please", "parser fix", "[Fix] the [Parser], please"},
		{"a\tb\n\n  c", `"b c"`, "a [b c]"},
		{"parsing parsers", "pars*", "[parsing] [parsers]"},
		{"Été", "ete", "[Été]"},
		{"全文検索です", "検索", "全文[検索]です"},
		{"nothing", "other", "nothing"},
	} {
		terms, err := parse(c.query)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := snippet(c.text, terms)
		if shown(got) != c.want {
			t.Errorf("%q in %q: %q, want %q", c.query, c.text, shown(got), c.want)
		}
	}
	terms, err := parse("fix parser")
	if err != nil {
		t.Fatal(err)
	}
	got, n := snippet("fix this "+long+"fix the parser "+long, terms)
	if s := shown(got); n != 2 || !strings.Contains(s, "[fix] the [parser]") || !strings.HasPrefix(s, "… ") || !strings.HasSuffix(s, " …") {
		t.Errorf("%d %q", n, s)
	}
}

func FuzzSnippet(f *testing.F) {
	f.Add("some Text of été 検索", `te* "of été" -x`)
	f.Add(strings.Repeat("é", 400), "é*")
	f.Add("\xff\xfe a", "a")
	f.Fuzz(func(t *testing.T, text, query string) {
		terms, err := parse(query)
		if err != nil {
			return
		}
		pieces, _ := snippet(text, terms)
		size := 0
		for _, p := range pieces {
			if !utf8.ValidString(p.Text) || strings.ContainsAny(p.Text, "\n\t\x1b") {
				t.Errorf("piece %q", p.Text)
			}
			size += len(p.Text)
		}
		if size > 4*maxSnippet {
			t.Errorf("%d bytes", size)
		}
	})
}
