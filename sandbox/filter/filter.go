// Package filter joins a box with the filtering proxy: it serves the listeners that the box opens
// inside a sandbox, and lets each command in under its own policy.
package filter

import (
	"context"
	"net"
	"slices"
	"sync"

	"carrel/sandbox"
	"carrel/sandbox/netproxy"
	"carrel/sandbox/policy"
)

// Filter is a sandbox.Proxy.
type Filter struct {
	proxy      *netproxy.Proxy
	policy     func() policy.Policy
	configured []string

	mu       sync.Mutex
	admitted map[*admitted]bool
}

// admitted is one command that runs.
type admitted struct {
	name   string
	policy policy.Policy // it came in under this one
	extra  []string      // hosts that were allowed to it alone
	closed bool          // it came in when the network was off for others
}

// Config says what a filter does.
type Config struct {
	Proxy netproxy.Config
	// Policy is asked for each connection: what has changed since a command came in counts for it too, but
	// for a network that was opened meanwhile. nil: nothing changes. A program that knows no proxies is held
	// to it alone, unless only one command runs: within a network namespace nobody can tell whose it is.
	Policy func() policy.Policy
	// Configured are hosts that a policy without a list allows beside the known package registries: those
	// that the machine's package managers use.
	Configured []string
}

// New makes a filter. It holds nothing that needs closing.
func New(c Config) *Filter {
	return &Filter{proxy: netproxy.New(c.Proxy), policy: c.Policy, configured: c.Configured, admitted: map[*admitted]bool{}}
}

// Serve serves the listeners of one network namespace until ctx ends, and closes them.
func (f *Filter) Serve(ctx context.Context, l sandbox.Listeners) {
	var running sync.WaitGroup
	names := netproxy.NewNames()
	if l.Proxy != nil {
		running.Go(func() { _ = f.proxy.Serve(ctx, l.Proxy) })
	}
	for _, captured := range []net.Listener{l.HTTP, l.TLS, l.SSH} {
		if captured != nil {
			running.Go(func() { _ = f.proxy.ServeTransparent(ctx, captured, names, f.anyName, f.anyRules) })
		}
	}
	for _, pc := range l.Names {
		running.Go(func() { _ = names.ServeDNS(ctx, pc) })
	}
	running.Wait()
	l.Close()
}

// Admit lets a command in under its policy.
func (f *Filter) Admit(command string, p policy.Policy, w sandbox.Way) (env []string, release func(), err error) {
	a := &admitted{name: command, policy: p}
	switch now := f.now(p); now.Network {
	case policy.NetworkDeny:
		a.closed = true
	case policy.NetworkAllowlist:
		listed := now.AllowedHosts(f.configured)
		for _, h := range p.AllowedHosts(f.configured) {
			if !slices.Contains(listed, h) {
				a.extra = append(a.extra, h)
			}
		}
	case policy.NetworkAllow:
	}
	c, end := f.proxy.Admit(command, func() netproxy.Rules { return f.rulesOf(a) })
	f.mu.Lock()
	defer f.mu.Unlock()
	f.admitted[a] = true
	return netproxy.Environment(w.Address, c, netproxy.Tools{Helper: w.Helper, Captured: w.Captured}), func() {
		end()
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.admitted, a)
	}, nil
}

// only is the command that runs; nil when several do, or none.
func (f *Filter) only() *admitted {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.admitted) == 1 {
		for a := range f.admitted {
			return a
		}
	}
	return nil
}

// anyName is whose a captured connection is, as far as that can be known.
func (f *Filter) anyName() string {
	if a := f.only(); a != nil {
		return a.name
	}
	return ""
}

func (f *Filter) anyRules() netproxy.Rules {
	if a := f.only(); a != nil {
		return f.rulesOf(a)
	}
	now := f.now(policy.Policy{})
	r := f.rules(now)
	r.Closed = !open(now)
	return r
}

// open reports whether a policy lets anything pass; one that could not be read does not.
func open(p policy.Policy) bool {
	return p.Network == policy.NetworkAllow || p.Network == policy.NetworkAllowlist
}

// now is the policy as it is now, or before where nothing changes.
func (f *Filter) now(before policy.Policy) policy.Policy {
	if f.policy == nil {
		return before
	}
	return f.policy()
}

// rulesOf are the rules of a command now: what it came in under is cut by what has changed since.
func (f *Filter) rulesOf(a *admitted) netproxy.Rules {
	now := f.now(a.policy)
	if now.Network == policy.NetworkAllow || a.closed && !open(now) {
		r := f.rules(a.policy) // the network of others is another matter
		r.Denied = slices.Concat(r.Denied, now.Denied)
		return r
	}
	r := f.rules(now)
	r.Allowed, r.Closed = slices.Concat(r.Allowed, a.extra), !open(now)
	return r
}

// rules are those of a policy.
func (f *Filter) rules(p policy.Policy) netproxy.Rules {
	private, _ := netproxy.Networks(p.AllowPrivate) // what can't be read allows nothing
	return netproxy.Rules{Allowed: p.AllowedHosts(f.configured), Denied: p.Denied, Private: private}
}

// Recheck ends what commands have open and may not have any more. Call it when the policy has changed.
func (f *Filter) Recheck() { f.proxy.Recheck() }

var _ sandbox.Proxy = (*Filter)(nil)
