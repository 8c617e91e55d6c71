package sandbox

import (
	"os"
	"testing"

	"carrel/sandbox/plan"
)

func testHelper() string { return os.Getenv(helperVariable) }

func TestProbeFindsEveryTierHere(t *testing.T) {
	s, err := Probe(t.Context(), ProbeConfig{Root: t.TempDir(), Program: testHelper(), OldBwrap: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range s.Tiers {
		if !st.OK {
			t.Errorf("tier %s: %s (%s)", st.Tier, st.Why, st.Mend)
		}
	}
	if s.Tier != plan.TierA || !s.Machine.UserNS || !s.Machine.NetNS || !s.Machine.Overlay {
		t.Errorf("%+v", s)
	}
}

func dataRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(root+"/run", 0o700); err != nil {
		t.Fatal(err)
	}
	return root
}
