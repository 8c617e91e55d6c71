package store_test

import "testing"

func TestADocumentTellsWhereAValueStands(t *testing.T) {
	r := open(t)
	d, err := r.Document()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok := d.At("theme"); ok {
		t.Fatal("a new install has a theme")
	}
	write(t, r, "settings.jsonc", `// mine
{
  // at night
  "theme": "dark",
  "theme": "light", // the last one counts
  "sandbox": {
    /* none */ "denied_domains": ["a.example", /* b */],
  },
}
`)
	if d, err = r.Document(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path []string
		raw  string
		line int
	}{
		{[]string{"theme"}, `"light"`, 5},
		{[]string{"sandbox", "denied_domains"}, `["a.example"]`, 7},
		{[]string{"sandbox", "enabled"}, "", 0},
		{[]string{"theme", "x"}, "", 0},
	} {
		raw, line, ok := d.At(c.path...)
		if string(raw) != c.raw || line != c.line || ok != (c.raw != "") {
			t.Errorf("%v: got %q line %d %v", c.path, raw, line, ok)
		}
	}
}
