package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"carrel/sandbox/plan"
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
