//go:build !linux && !darwin

package sandbox

import (
	"context"

	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

// Probe says that this system has no sandbox of ours.
func Probe(context.Context, ProbeConfig) (Status, error) {
	return Status{Tier: plan.TierD}, nil
}

func newTiers(c Config, s Status, _ *ground) (tiers, error) { return nil, s.need(c.Tier) }

func (b *Box) makePlan(_ policy.Policy, _ plan.Command) (plan.Plan, error) {
	return plan.Plan{}, b.status.need(b.config.Tier)
}

func rootOwns(string) bool { return false }
