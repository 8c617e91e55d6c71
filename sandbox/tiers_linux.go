package sandbox

import (
	"carrel/sandbox/plan"
)

// newTiers gives the enforcement of a box.
func newTiers(c Config, s Status, g *ground) (tiers, error) {
	if c.Tier == plan.TierC {
		return newThreads(c, s, g), nil
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
