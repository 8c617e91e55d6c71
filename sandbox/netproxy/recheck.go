package netproxy

import (
	"maps"
	"net/http"
	"slices"
)

// Recheck asks the rules again about everything that they let through and that is still open, and ends what
// they no longer allow, telling Config.Log why. Call it after they changed; what begins meanwhile is judged
// by the new ones.
func (p *Proxy) Recheck() {
	p.changes.Add(1)
	p.sessions.mu.Lock()
	all := slices.Concat(slices.Collect(maps.Values(p.sessions.byUser)), slices.Collect(maps.Keys(p.sessions.caught)))
	p.sessions.mu.Unlock()
	for _, s := range all {
		if open := s.leading(); len(open) > 0 {
			rules := s.rules()
			for o, w := range open {
				p.recheck(rules, o, w)
			}
		}
	}
}

// leading are the connections in which something was allowed.
func (s *session) leading() map[*opened]*way {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := map[*opened]*way{}
	for o := range s.open {
		if o.way != nil {
			list[o] = o.way
		}
	}
	return list
}

// recheck ends one connection unless the rules still allow it.
func (p *Proxy) recheck(rules Rules, o *opened, w *way) {
	_, no := p.decide(rules, w.decision.Host, w.decision.Port, w.tunnel)
	if no == nil && w.address.IsValid() && !p.addresses.reachable(w.address, rules.Private, nil) {
		no = addressRefusal(w.decision.Host)
	}
	if no == nil {
		return
	}
	no.reason = "the connection to " + w.decision.Host + " was ended: " + no.reason
	o.leads(nil)
	p.refused(w.decision, no)
	o.end()
}

// allow judges what a connection wants, and remembers it for Recheck. The rules that it gives are those
// that decided.
func (p *Proxy) allow(o *opened, d Decision, tunnel bool) (rule string, rules Rules, no *refusal) {
	for {
		changes := p.changes.Load()
		rules = o.session.rules()
		if rule, no = p.decide(rules, d.Host, d.Port, tunnel); no != nil {
			o.leads(nil)
			return rule, rules, no
		}
		o.leads(&way{decision: d, tunnel: tunnel})
		if changes == p.changes.Load() { // else a Recheck may have passed it by
			return rule, rules, nil
		}
	}
}

func addressRefusal(host string) *refusal {
	return &refusal{status: http.StatusForbidden, rule: RuleAddress, reason: host +
		" leads to this machine or to a private network; a name may lead only to those private networks that allow_private lists"}
}
