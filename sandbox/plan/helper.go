package plan

import "carrel/sandbox/policy"

// helperAt is where commands of tier B see the program that ssh goes through.
const helperAt = "/run/carrel-sandbox"

// helper shows commands the one program that opens tunnels through the proxy for those that can't ask
// it themselves. Tier A needs none: there every connection is captured.
func (k *maker) helper() {
	if k.m.Helper == "" || k.p.Network != policy.NetworkAllowlist || k.tier == TierA {
		return
	}
	at := k.look.real(k.m.Helper)
	if at.err != nil || !at.exists || k.writable(at.path) != "" {
		k.note("ssh can't go through the proxy: its helper is not there, or commands can change it")
		return
	}
	const why = "ssh goes through it to the proxy"
	switch {
	case k.tier == TierC:
		k.access(at.path, Read, false, why)
		k.plan.Helper = at.path
	case k.look.isDir("/run"):
		k.want(want{rank: rankGuard, Mount: Mount{Kind: KindRO, Source: at.path, Target: helperAt, Why: why}})
		k.plan.Helper = helperAt
	}
}
