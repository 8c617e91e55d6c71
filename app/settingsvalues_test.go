package app_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"carrel/app"
)

func (h *house) values() map[string]app.Setting {
	h.t.Helper()
	v, err := h.api.Settings.Values(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	out := map[string]app.Setting{}
	for _, one := range v.Values {
		out[one.Key] = one
	}
	return out
}

func (h *house) put(value string, path ...string) error {
	args := app.PutSetting{Path: path}
	if value != "" {
		args.Value = &value
	}
	return h.api.Settings.Put(context.Background(), args)
}

func TestEachSettingTellsWhereItComesFrom(t *testing.T) {
	h := newHouse(t, "CARREL_GPU=never")
	file := h.root.Path("settings.jsonc")
	text := "{\n  // mine\n  \"theme\": \"dark\",\n  \"sandbox\": {\"network\": \"sometimes\"},\n  \"permissions\": {\"mode\": \"plan\"},\n}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	v := h.values()
	if got := v["theme"]; got.Source != app.SettingFile || got.Line != 3 || got.Value != `"dark"` || got.Usual != `"system"` {
		t.Errorf("theme: %+v", got)
	}
	if got := v["sandbox.auto_allow"]; got.Source != app.SettingUsual || got.Value != "false" || got.Line != 0 {
		t.Errorf("auto_allow: %+v", got)
	}
	if got := v["sandbox.network"]; got.Source != app.SettingUsual || got.Line != 4 || !strings.Contains(got.Problem, "allow, allowlist, deny") {
		t.Errorf("network: %+v", got)
	}
	if got := v["gpu"]; got.Source != app.SettingEnvironment || got.Env != "CARREL_GPU=never" {
		t.Errorf("gpu: %+v", got)
	}
	if got := v["permissions.mode"]; got.Source != app.SettingEnvironment || got.Value != `"plan"` || got.Line != 5 {
		t.Errorf("mode: %+v", got)
	}
}

func TestASettingIsChangedAndTakenBackWithItsComments(t *testing.T) {
	h := newHouse(t)
	file := h.root.Path("settings.jsonc")
	if err := os.WriteFile(file, []byte("{\n  // the look\n  \"theme\": \"dark\", // at night\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []error{h.put(`"light"`, "theme"), h.put(`["Bash(go test:*)"]`, "permissions", "allow"), h.put(`["Mod+Shift+K","F6"]`, "keys", "theme.toggle")} {
		if step != nil {
			t.Fatal(step)
		}
	}
	if s, err := h.api.Settings.Get(context.Background()); err != nil || s.Theme != "light" || len(s.Keys["theme.toggle"]) != 2 {
		t.Fatalf("got %+v, %v", s, err)
	}
	for _, step := range []error{h.put("", "theme"), h.put("", "keys", "theme.toggle")} {
		if step != nil {
			t.Fatal(step)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(got), `"theme"`) || !strings.Contains(string(got), "// the look") || !strings.Contains(string(got), "go test:*") {
		t.Fatalf("got %s, %v", got, err)
	}
	if v := h.values()["theme"]; v.Source != app.SettingUsual {
		t.Fatalf("got %+v", v)
	}
}

func TestASettingThatCannotBeMeantIsRefused(t *testing.T) {
	h := newHouse(t)
	for _, c := range []struct {
		value string
		path  []string
	}{
		{`"pink"`, []string{"theme"}},
		{`5`, []string{"theme"}},
		{`"light`, []string{"theme"}},
		{`true`, []string{"nothing"}},
		{`"x"`, nil},
		{`{}`, []string{"sandbox"}},
		{`["("]`, []string{"permissions", "deny"}},
		{`["a b"]`, []string{"sandbox", "denied_domains"}},
		{`["/"]`, []string{"sandbox", "allow_write"}},
		{`"no:such"`, []string{"defaultModel"}},
		{`"Mod+K"`, []string{"keys", "theme.toggle"}},
		{`{}`, []string{"keys"}},
		{`{}`, []string{"models", "p:m"}},
		{`["` + strings.Repeat("K", 65) + `"]`, []string{"keys", "theme.toggle"}},
	} {
		var mine *app.Error
		if err := h.put(c.value, c.path...); !errors.As(err, &mine) {
			t.Errorf("%v = %s: got %v", c.path, c.value, err)
		}
	}
	if _, err := os.Stat(h.root.Path("settings.jsonc")); err == nil {
		t.Error("a refused value was written")
	}
}

func TestBrokenSettingsAreNamedWithTheirLine(t *testing.T) { // O-DATA-03
	h := newHouse(t)
	broken := "{\n  \"theme\": \"dark\",\n  \"gpu\": never\n}\n"
	if err := os.WriteFile(h.root.Path("settings.jsonc"), []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := h.api.Settings.Values(context.Background())
	if err != nil || len(v.Problems) != 1 || !strings.Contains(v.Problems[0].Message, "line 3") {
		t.Fatalf("got %+v, %v", v.Problems, err)
	}
	if err := h.put(`"light"`, "theme"); err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(v.Problems[0].Path); err != nil || string(kept) != broken {
		t.Fatalf("kept %q, %v", kept, err)
	}
}
