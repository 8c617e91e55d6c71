package plan

import "carrel/sandbox/policy"

// Best is the strongest tier that the machine has for a network mode; TierD when it has none.
func (m Machine) Best(n policy.Network) Tier {
	for _, t := range []Tier{TierA, TierB, TierC} {
		if m.Can(t, n) == nil {
			return t
		}
	}
	return TierD
}

// Can is nil when the machine can enforce a network mode in a tier, else an *Unavailable.
func (m Machine) Can(t Tier, n policy.Network) error {
	refuse := func(why, mend string) error { return &Unavailable{Tier: t, Why: why, Mend: mend} }
	if !m.Seccomp && t != TierD {
		return refuse("the kernel has no seccomp filters", "use a kernel with CONFIG_SECCOMP_FILTER")
	}
	closed := n != policy.NetworkAllow
	switch t {
	case TierA:
		if !m.UserNS {
			return refuse("user namespaces are refused", "install the AppArmor profile that Carrel's packages bring, or allow unprivileged user namespaces")
		}
		if closed && !m.NetNS {
			return refuse("network namespaces are refused", "allow network namespaces, or set sandbox.network to \"allow\"")
		}
	case TierB:
		if !m.Bwrap.AtLeast(0, 12, 0) && (!m.OldBwrap || m.Bwrap == Version{}) {
			return refuse("bubblewrap is "+m.Bwrap.String()+", 0.12.0 is needed: older ones can be led outside by a symbolic link", "install bubblewrap 0.12.0 or newer")
		}
	case TierC:
		if m.Landlock < 3 {
			return refuse("Landlock is missing or older than ABI 3", "use Linux 6.2 or newer with landlock among its security modules (lsm=)")
		}
		if closed && m.Landlock < 4 {
			return refuse("Landlock is older than ABI 4, which the network needs", "use Linux 6.7 or newer, or set sandbox.network to \"allow\"")
		}
	default:
		return refuse("nothing confines commands", "see the reasons of the other tiers")
	}
	return nil
}
