package sandbox

import (
	"context"
	"errors"
	"os"
	"testing"

	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

// late are tiers before which something happens once: between the plan of a command and its start.
type late struct {
	tiers
	before func()
	starts int
}

func (l *late) start(ctx context.Context, j job) (*Process, error) {
	if l.starts++; l.starts == 1 {
		l.before()
	}
	return l.tiers.start(ctx, j)
}

func TestWhatVanishesBeforeTheStartIsPlannedAnew(t *testing.T) {
	for _, tier := range []plan.Tier{plan.TierA, plan.TierC} { // in tier C nothing is mounted
		t.Run(string(tier), func(t *testing.T) {
			var extra string
			l := open(t, tier, func(p *policy.Policy, _ *Config) {
				extra = p.Home + "/extra"
				p.Write = append(p.Write, extra)
				if err := os.Mkdir(extra, 0o755); err != nil {
					t.Fatal(err)
				}
			})
			between := &late{tiers: l.tiers, before: func() {
				if err := os.RemoveAll(extra); err != nil {
					t.Error(err)
				}
			}}
			l.tiers = between
			out, exit := l.sh(t, "echo works")
			if out != "works" || exit.Code != 0 || tier == plan.TierA && between.starts != 2 {
				t.Errorf("%q, %+v after %d starts", out, exit, between.starts)
			}
		})
	}
}

func TestMissingProgramIsNotPlannedAnew(t *testing.T) {
	l := open(t, plan.TierA, nil)
	between := &late{tiers: l.tiers, before: func() {}}
	l.tiers = between
	_, err := l.Start(l.ctx, Command{Argv: []string{"/no/such/program"}})
	var cannot *CannotEnforce
	if err == nil || errors.As(err, &cannot) || between.starts != 1 {
		t.Errorf("%v after %d starts", err, between.starts)
	}
}
