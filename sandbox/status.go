package sandbox

import "carrel/sandbox/plan"

// TierSeatbelt is macOS's own sandbox: about as strong as C, with guards inside the project.
const TierSeatbelt plan.Tier = "seatbelt"

// Status is what a machine can enforce, found by trying.
type Status struct {
	Machine plan.Machine `json:"machine"`
	// Tier is the strongest that works; D where none does.
	Tier  plan.Tier    `json:"tier"`
	Tiers []TierStatus `json:"tiers"`
}

// TierStatus is about one tier.
type TierStatus struct {
	Tier plan.Tier `json:"tier"`
	OK   bool      `json:"ok"`
	Why  string    `json:"why,omitempty"`  // what is missing
	Mend string    `json:"mend,omitempty"` // what a person can do; may be empty
}

// ProbeConfig says with what to try.
type ProbeConfig struct {
	Root    string // Carrel's data root: the helper is written below it, and overlays tried there
	Program string // the helper; empty takes the embedded one
	// OldBwrap, for tests, takes a bubblewrap that is too old to be safe.
	OldBwrap bool
}

// need is nil when the tier works here.
func (s Status) need(t plan.Tier) error {
	for _, have := range s.Tiers {
		if have.Tier != t {
			continue
		}
		if have.OK {
			return nil
		}
		return &CannotEnforce{Tier: t, Why: have.Why, Mend: have.Mend}
	}
	why, mend := "this system has no sandbox", ""
	if len(s.Tiers) > 0 {
		why, mend = s.Tiers[0].Why, s.Tiers[0].Mend
	}
	if t == plan.TierD {
		t = ""
	}
	return &CannotEnforce{Tier: t, Why: why, Mend: mend}
}
