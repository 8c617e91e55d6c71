package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

func TestWhatAProbeFoundCountsUntilItProvesWrong(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := ProbeConfig{Root: root, Program: testHelper()}
	first, err := Known(t.Context(), c)
	if err != nil || first.Tier != plan.TierA {
		t.Fatalf("%+v, %v", first, err)
	}
	kept, err := os.ReadFile(knownPath(root))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Known(t.Context(), c); err != nil || again.Tier != plan.TierA || len(again.Tiers) != len(first.Tiers) {
		t.Errorf("%+v, %v", again, err)
	}
	for what, text := range map[string]string{"nothing": "", "a torn file": string(kept[:len(kept)/2]), "another boot's": `{"for":{"boot":"x"},"status":{"tier":"D"}}`} {
		writeFile(t, knownPath(root), text)
		if s, err := Known(t.Context(), c); err != nil || s.Tier != plan.TierA {
			t.Errorf("from %s: %+v, %v", what, s, err)
		}
	}
	if old, err := Known(t.Context(), ProbeConfig{Root: root, Program: testHelper(), OldBwrap: true}); err != nil || old.need(plan.TierB) != nil {
		t.Errorf("what counts without an old bubblewrap counts with one: %+v, %v", old, err)
	}
	if err := forget(root, &CannotEnforce{}); err == nil {
		t.Error("the error is lost")
	}
	if _, err := os.Stat(knownPath(root)); err == nil {
		t.Error("what proved wrong is kept")
	}
}

// A command asks of the machine what it needs to know: another tier's programs are not even started.
func TestOnlyTheTierThatACommandNeedsIsTried(t *testing.T) {
	root, bin := t.TempDir(), t.TempDir()
	mark := filepath.Join(bin, "started")
	for _, name := range []string{"bwrap", "helper"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho "+name+" >>"+mark+"\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	fake, real := filepath.Join(bin, "helper"), testHelper()
	tried := func(want string, c Config) {
		t.Helper()
		if err := os.RemoveAll(mark); err != nil {
			t.Fatal(err)
		}
		c.Policy = func() policy.Policy { return policy.Policy{Root: root} }
		b, err := Open(t.Context(), c)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		defer func() { _ = b.Close() }()
		got, _ := os.ReadFile(mark)
		if strings.Join(strings.Fields(string(got)), " ") != want {
			t.Errorf("tier %q: started %q, want %q", c.Tier, got, want)
		}
	}
	tried("", Config{Tier: plan.TierC, Program: fake})
	tried("", Config{Tier: plan.TierA, Program: real})
	tried("", Config{Program: real}) // known by now
	if s, err := Known(t.Context(), ProbeConfig{Root: root, Program: real}); err != nil || len(s.Tiers) != 3 {
		t.Errorf("what one command found out passes for all: %+v, %v", s, err)
	}
	tried("helper bwrap", Config{Program: fake}) // the strongest that works
}
