package store_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"carrel/store"
)

func TestWhatAPersonAllowsForAProjectIsKeptWithItsComments(t *testing.T) {
	root, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(root.Grant("p1", "allow", "Bash(make)", "Bash(go test:*)", "Bash(make)"))
	g, err := root.Granted("p1")
	check(err)
	if !slices.Equal(g.Allow, []string{"Bash(make)", "Bash(go test:*)"}) {
		t.Errorf("%v", g)
	}
	file := root.Path("projects", "p1", "sandbox.jsonc")
	check(os.WriteFile(file, []byte("// mine\n{\n  \"allow\": [\n    // builds\n    \"Bash(make)\", // often\n    // end\n  ],\n  \"x\": 1 // y\n}\n"), 0o600))
	check(root.Grant("p1", "allow", "Edit(./a)"))
	check(root.Grant("p1", "allow_outside", "Bash(npm ci)"))
	check(root.Grant("p1", "allowed_domains", "example.org"))
	check(root.Revoke("p1", "allow", "Bash(make)"))
	text, err := os.ReadFile(file)
	check(err)
	for _, kept := range []string{"// mine", "// builds", "// often", "// end", "// y"} {
		if !strings.Contains(string(text), kept) {
			t.Errorf("%s is lost:\n%s", kept, text)
		}
	}
	g, err = root.Granted("p1")
	check(err)
	if !slices.Equal(g.Allow, []string{"Edit(./a)"}) || !slices.Equal(g.AllowOutside, []string{"Bash(npm ci)"}) || !slices.Equal(g.AllowedDomains, []string{"example.org"}) {
		t.Errorf("%+v\n%s", g, text)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	for _, id := range []string{"", "..", "a/b", ".x"} {
		if root.Grant(id, "allow", "x") == nil {
			t.Errorf("project %q", id)
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(file), "..", "..", "sandbox.jsonc")); err == nil {
		t.Error("a file outside of the project's folder")
	}
}

func TestPermissionsAndSandboxAreReadFromTheSettings(t *testing.T) {
	root, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	text := `{"permissions": {"allow": ["Bash(make)"], "mode": "auto"}, "sandbox": {"network": "deny", "allowed_domains": [], "auto_allow": true}}`
	if err := os.WriteFile(root.Path("settings.jsonc"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := root.Settings()
	if err != nil || s.Permissions.Mode != "auto" || len(s.Permissions.Allow) != 1 || s.Sandbox.Network != "deny" ||
		s.Sandbox.AllowedDomains == nil || !s.Sandbox.AutoAllow || !s.Sandbox.On() {
		t.Errorf("%+v %v", s, err)
	}
}
