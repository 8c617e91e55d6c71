package store_test

import (
	"os"
	"strings"
	"testing"

	"carrel/store"
)

func write(t *testing.T, r *store.Root, name, text string) {
	t.Helper()
	if err := os.WriteFile(r.Path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEditsKeepCommentsAndUnknownFields(t *testing.T) {
	r := open(t)
	write(t, r, "settings.jsonc", `// mine
{
  // the look
  "theme": "dark", // at night
  "mine": {"x": [1, 2,],}, /* keep */
}
`)
	if err := r.SetSetting([]string{"theme"}, "light"); err != nil {
		t.Fatal(err)
	}
	if err := r.SetSetting([]string{"defaultModel"}, "demo:demo"); err != nil {
		t.Fatal(err)
	}
	if err := r.SetSetting([]string{"mine", "y"}, true); err != nil {
		t.Fatal(err)
	}
	want := `// mine
{
  // the look
  "theme": "light", // at night
  "mine": {"x": [1, 2,], "y": true,}, /* keep */
  "defaultModel": "demo:demo",
}
`
	if got := read(t, r.Path("settings.jsonc")); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	s, err := r.Settings()
	if err != nil || s.Theme != "light" || s.DefaultModel != "demo:demo" {
		t.Fatalf("got %+v %v", s, err)
	}
	if err := r.SetSetting([]string{"mine"}, nil); err != nil {
		t.Fatal(err)
	}
	if got := read(t, r.Path("settings.jsonc")); !strings.Contains(got, "/* keep */") || strings.Contains(got, "mine\"") {
		t.Fatalf("got\n%s", got)
	}
}

func TestProvidersFileIsReadableByThePersonAlone(t *testing.T) {
	r := open(t)
	if err := r.SetProvider("anthropic", []string{"apiKey"}, "sk-<&>"); err != nil {
		t.Fatal(err)
	}
	if err := r.SetProvider("local", nil, map[string]any{"providerType": "openai-compatible", "models": []string{"m"}}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(r.Path("providers.jsonc"), 0o644); err != nil { // as some editors leave it
		t.Fatal(err)
	}
	p, err := r.Providers()
	if err != nil || p["anthropic"].APIKey != "sk-<&>" || p["local"].Models[0] != "m" {
		t.Fatalf("got %+v %v", p, err)
	}
	if info, _ := os.Stat(r.Path("providers.jsonc")); info.Mode() != 0o600 {
		t.Fatalf("mode %v", info.Mode())
	}
	if err := r.SetProvider("anthropic", nil, nil); err != nil {
		t.Fatal(err)
	}
	if p, err = r.Providers(); err != nil || len(p) != 1 {
		t.Fatalf("got %+v %v", p, err)
	}
}

func TestDamagedSettingsAreKeptAsideAndNamed(t *testing.T) { // O-DATA-03
	for _, text := range []string{`{"theme": "dark", "x": `, `["theme"]`, "\x00\x00\x00\x00", "{}{}"} {
		r := open(t)
		var told []store.Problem
		r.OnProblem(func(p store.Problem) { told = append(told, p) })
		write(t, r, "settings.jsonc", text)
		if _, err := r.Settings(); err != nil {
			t.Fatal(err)
		}
		if err := r.SetSetting([]string{"theme"}, "light"); err != nil {
			t.Fatal(err)
		}
		if len(told) != 1 || told[0].Code != store.CorruptFile || !strings.Contains(told[0].Path, "settings.jsonc.corrupt-") {
			t.Fatalf("told %+v", told)
		}
		if got := read(t, told[0].Path); got != text {
			t.Fatalf("kept %q, want %q", got, text)
		}
		if s, err := r.Settings(); err != nil || s.Theme != "light" {
			t.Fatalf("got %+v %v", s, err)
		}
	}
}

func TestAnEditorInTheMiddleOfASaveLosesNothing(t *testing.T) {
	for _, half := range []string{`{"theme": "da`, ""} {
		t.Run(half, func(t *testing.T) { saveInTheMiddle(t, half) })
	}
}

func saveInTheMiddle(t *testing.T, half string) {
	r := open(t)
	write(t, r, "settings.jsonc", half)
	done := make(chan store.Settings)
	go func() {
		s, err := r.Settings()
		if err != nil {
			t.Error(err)
		}
		done <- s
	}()
	write(t, r, "settings.jsonc", `{"theme": "dark"}`)
	if s := <-done; s.Theme != "dark" || len(r.Problems()) != 0 {
		t.Fatalf("got %+v, problems %v", s, r.Problems())
	}
}

func TestAValueOfTheWrongTypeSpoilsNoOther(t *testing.T) {
	r := open(t)
	write(t, r, "settings.jsonc", `{"theme": 5, "defaultModel": "demo:demo"}`)
	write(t, r, "providers.jsonc", `{"openai": {"apiKey": "k"}, "bad": {"models": "m"}}`)
	s, err := r.Settings()
	if err != nil || s.DefaultModel != "demo:demo" {
		t.Fatalf("got %+v %v", s, err)
	}
	p, err := r.Providers()
	if err != nil || len(p) != 1 || p["openai"].APIKey != "k" {
		t.Fatalf("got %+v %v", p, err)
	}
	for range 3 {
		_, _ = r.Settings()
	}
	if got := r.Problems(); len(got) != 2 || got[0].Code != store.BadSetting {
		t.Fatalf("problems %+v", got)
	}
}

func TestKeptCopiesAreBounded(t *testing.T) { // O-DATA-03
	r := open(t)
	for i := range 14 {
		write(t, r, "settings.jsonc", strings.Repeat("x", i+1))
		if _, err := r.KeepAside(r.Path("settings.jsonc"), "test"); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	kept, oldest := 0, false
	for _, e := range entries {
		if strings.Contains(e.Name(), ".corrupt-") {
			kept++
			oldest = oldest || read(t, r.Path(e.Name())) == "x"
		}
	}
	if kept != 10 || !oldest {
		t.Fatalf("%d copies kept, the oldest kept: %v", kept, oldest)
	}
}
