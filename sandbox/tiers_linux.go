package sandbox

import (
	"carrel/sandbox/plan"
)

// newTiers gives the enforcement of a box.
func newTiers(c Config, s Status, g *ground) (tiers, error) {
	if c.Tier == plan.TierC {
		if err := conceal(); err != nil {
			return nil, &CannotEnforce{Tier: plan.TierC, Why: "this process can't be hidden from its commands", Err: err}
		}
		t := newThreads(c, s, g)
		t.after = reveal
		return t, nil
	}
	program := c.Program
	if program == "" {
		var err error
		if program, err = Program(c.Policy().Root); err != nil {
			return nil, err
		}
	}
	if c.Tier == plan.TierB {
		return newBwrap(c, s, program, g), nil
	}
	return newNamespaces(c, s, program, g), nil
}
