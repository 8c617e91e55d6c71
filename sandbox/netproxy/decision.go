package netproxy

import "time"

func (p *Proxy) log(d Decision) {
	if p.config.Log != nil {
		d.Time = time.Now()
		if len(d.Method) > 32 {
			d.Method = d.Method[:32]
		}
		p.config.Log(d)
	}
}

// refused logs d as a refusal.
func (p *Proxy) refused(d Decision, no *refusal) {
	if d.ID == 0 {
		d.ID = p.lastID.Add(1)
	}
	d.Allowed, d.Ended = false, true
	d.Rule, d.Reason, d.Grant, d.Status = no.rule, no.reason, no.grant, no.status
	p.log(d)
}

// allowed logs the beginning of d, and returns it for its end.
func (p *Proxy) allowed(d Decision) Decision {
	d.ID, d.Allowed = p.lastID.Add(1), true
	p.log(d)
	return d
}

func (p *Proxy) ended(d Decision) {
	d.Ended = true
	p.log(d)
}
