package app_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"carrel/agent/model/fakewire"
	"carrel/app"
	"carrel/sandbox/scan"
)

func TestTheSandboxIsShownAndSwitchedForTheConversation(t *testing.T) {
	ctx := context.Background()
	h, w := asking(t, nil, "CARREL_SANDBOX=workspace-write")
	look := func() app.SandboxStatus {
		t.Helper()
		s, err := h.api.Sandbox.Status(ctx, app.ByID{ID: w.ID})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := look()
	if s.Mode != "workspace-write" || s.Network != "allow" || !s.Registries || len(s.Allowed) == 0 || len(s.DenyRead) == 0 || len(s.Caches) == 0 {
		t.Errorf("%+v", s)
	}
	if !slices.ContainsFunc(s.Write, func(p string) bool { return strings.HasSuffix(w.Dir, p) || p == w.Dir }) {
		t.Errorf("%s is not among what can be written: %v", w.Dir, s.Write)
	}
	p, err := h.api.Sandbox.Plan(ctx, app.ByID{ID: w.ID})
	if err != nil || p.On != s.On || s.On && (p.Text == "" || len(p.Text) > 65<<10) {
		t.Errorf("plan: %v, %+v", err, p)
	}
	for _, on := range []bool{false, false, true, true, false} {
		if err := h.api.Sandbox.Set(ctx, app.SwitchSandbox{Workspace: w.ID, On: on}); err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{true: "workspace-write", false: "danger-full-access"}[on]
		if got := look(); got.Mode != want || !on && got.On {
			t.Errorf("switched to %v: %s, %v", on, got.Mode, got.On)
		}
	}
	if p, err = h.api.Sandbox.Plan(ctx, app.ByID{ID: w.ID}); err != nil || p.On || p.Text != "" {
		t.Errorf("the plan of a sandbox that is off: %v, %+v", err, p)
	}
	h.wait("a word on it", func(e app.Event) bool {
		c, ok := e.(app.SandboxChanged)
		return ok && c.Workspace == w.ID
	})
	if _, err := h.api.Sandbox.Status(ctx, app.ByID{ID: "none"}); code(err) != "not_found" {
		t.Error(err)
	}
	if err := h.api.Sandbox.Allow(ctx, app.AllowHost{Workspace: w.ID, Host: "example.org", Scope: app.AllowNext}); code(err) != "not_refused" {
		t.Error(err)
	}
}

func TestReadOnlyComesBackWhenTheSandboxIsOnAgain(t *testing.T) {
	ctx := context.Background()
	h, w := asking(t, nil, "CARREL_SANDBOX=read-only")
	for _, on := range []bool{false, true} {
		if err := h.api.Sandbox.Set(ctx, app.SwitchSandbox{Workspace: w.ID, On: on}); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := h.api.Sandbox.Status(ctx, app.ByID{ID: w.ID}); err != nil || s.Mode != "read-only" || len(s.Write) != 0 {
		t.Errorf("%v, %+v", err, s)
	}
}

func TestQuarantineIsShownAndRestoredWhereItBelongs(t *testing.T) {
	ctx := context.Background()
	h, w := asking(t, nil)
	_, other := h.desk(app.NewWorkspace{Name: "other"})
	scanner := scan.New(scan.Config{Roots: []string{w.Dir}})
	before, err := scanner.Before(ctx)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.Dir, ".envrc")
	if err := os.WriteFile(file, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := scanner.After(ctx, before)
	if err != nil || len(found.Findings) != 1 {
		t.Fatalf("%v %+v", err, found)
	}
	if _, err := scan.Quarantine(found.Findings[0], h.root.Path("quarantine")); err != nil {
		t.Fatal(err)
	}
	list, err := h.api.Sandbox.Quarantine(ctx, app.ByID{ID: w.ID})
	if err != nil || len(list) != 1 || list[0].Path != file || list[0].Reason == "" {
		t.Fatalf("%v, %+v", err, list)
	}
	if list, err := h.api.Sandbox.Quarantine(ctx, app.ByID{ID: other.ID}); err != nil || len(list) != 0 {
		t.Errorf("another workspace shows %v %+v", err, list)
	}
	if err := h.api.Sandbox.Restore(ctx, app.RestoreQuarantined{Workspace: other.ID, ID: list[0].ID}); code(err) != "not_found" {
		t.Errorf("another workspace restores it: %v", err)
	}
	if err := h.api.Sandbox.Restore(ctx, app.RestoreQuarantined{Workspace: w.ID, ID: list[0].ID}); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "x\n" {
		t.Errorf("%q %v", text, err)
	}
}

func TestSandboxSettingsKeepWhatWasWritten(t *testing.T) {
	ctx := context.Background()
	h := newHouse(t)
	file := h.root.Path("settings.jsonc")
	if err := os.WriteFile(file, []byte("{\n  // mine\n  \"sandbox\": {\"network\": \"allowlist\", /* why */ \"denied_domains\": [\"bad.example\"]}\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := h.api.Sandbox.Settings(ctx)
	if err != nil || !s.Enabled || !s.Registries || s.Network != "allowlist" || !slices.Equal(s.DeniedDomains, []string{"bad.example"}) {
		t.Fatalf("%v, %+v", err, s)
	}
	s.Registries, s.AllowedDomains, s.AutoAllow = false, nil, true
	if err := h.api.Sandbox.SetSettings(ctx, s); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	for _, want := range []string{"// mine", "/* why */", `"allowed_domains": []`, `"auto_allow": true`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing (%v):\n%s", want, err, text)
		}
	}
	if strings.Contains(string(text), "deny_read") {
		t.Errorf("what did not change was written:\n%s", text)
	}
	s.Registries = true
	if err := h.api.Sandbox.SetSettings(ctx, s); err != nil {
		t.Fatal(err)
	}
	if again, err := h.api.Sandbox.Settings(ctx); err != nil || !again.Registries || !again.AutoAllow {
		t.Errorf("%v, %+v", err, again)
	}
	s.AllowPrivate = []string{"10.20.0.0/16", "fd12::1"}
	if err := h.api.Sandbox.SetSettings(ctx, s); err != nil {
		t.Fatal(err)
	}
	if again, err := h.api.Sandbox.Settings(ctx); err != nil || !slices.Equal(again.AllowPrivate, s.AllowPrivate) {
		t.Errorf("%v, %+v", err, again)
	}
	for want, change := range map[string]func(*app.SandboxSettings){
		"bad_host":    func(s *app.SandboxSettings) { s.DeniedDomains = []string{"https://x.example/"} },
		"bad_network": func(s *app.SandboxSettings) { s.AllowPrivate = []string{"10.0.0.0/8", "127.0.0.0/8"} },
		"bad_request": func(s *app.SandboxSettings) { s.AllowWrite = []string{"/"} },
	} {
		wrong := s
		change(&wrong)
		if err := h.api.Sandbox.SetSettings(ctx, wrong); code(err) != want {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// What damaged settings forbid must not be allowed, while a core runs too.
func TestAgentsDoNothingUntilDamagedSettingsAreMended(t *testing.T) {
	ctx := context.Background()
	h, w := asking(t, []fakewire.Reply{
		{Calls: []fakewire.Call{sh("touch ran"), change("planted")}},
		{Text: "I could not."},
	}, "CARREL_SANDBOX=workspace-write", "CARREL_MODE=bypass")
	file := h.root.Path("settings.jsonc")
	write(t, file, `{"sandbox": {"network": "deny"`)
	h.send(w, "Go")
	h.wait("the end", ended(w.ID, app.Done))
	for _, name := range []string{"ran", "planted"} {
		if _, err := os.Stat(filepath.Join(w.Dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	if _, err := h.api.Sandbox.Status(ctx, app.ByID{ID: w.ID}); code(err) != "bad_settings" || !strings.Contains(err.Error(), "mend it and move it back") {
		t.Error(err)
	}
	write(t, file, `{"sandbox": {"network": "deny"}}`)
	if s, err := h.api.Sandbox.Status(ctx, app.ByID{ID: w.ID}); err != nil || s.Network != "deny" {
		t.Errorf("mended: %+v, %v", s, err)
	}
}
