package sandbox

import (
	"carrel/sandbox/plan"
)

// withProgram fills in where the helper is. Tier C can do without one, but for ssh.
func withProgram(c Config) (Config, error) {
	if c.Program != "" {
		return c, nil
	}
	var err error
	if c.Program, err = Program(c.Policy().Root); c.Tier == plan.TierC {
		err = nil
	}
	return c, err
}

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
	if c.Tier == plan.TierB {
		return newBwrap(c, s, g), nil
	}
	return newNamespaces(c, s, g), nil
}
