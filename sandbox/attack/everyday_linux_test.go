package attack

import "testing"

// The tasks that a sandbox must not be in the way of, as the same user on the same machines.
func TestEverydayWorkGoesOn(t *testing.T) {
	needRoot(t)
	for _, v := range runAll(t, entries(t, "testdata/everyday.md"), []string{"A"}) {
		t.Run(v.entry.ID+"-"+v.entry.Name, func(t *testing.T) {
			v.checkControl(t)
			v.checkTier(t, "A", v.tiers["A"], false)
		})
	}
}
