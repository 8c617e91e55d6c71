// Package filter joins a box with the filtering proxy: it serves the listeners that the box opens
// inside a sandbox, and lets each command in under its own policy.
package filter

import (
	"context"
	"net"
	"sync"

	"carrel/sandbox"
	"carrel/sandbox/netproxy"
	"carrel/sandbox/policy"
)

// Filter is a sandbox.Proxy.
type Filter struct {
	proxy    *netproxy.Proxy
	policy   func() policy.Policy
	defaults []string
	tools    netproxy.Tools
}

// Config says what a filter does.
type Config struct {
	Proxy netproxy.Config
	// Policy is asked for each connection of a program that knows no proxies: within a network
	// namespace nobody can tell whose it is.
	Policy func() policy.Policy
	// Defaults are the hosts that a policy without a list allows: the package registries.
	Defaults []string
	Tools    netproxy.Tools
}

// New makes a filter. It holds nothing that needs closing.
func New(c Config) *Filter {
	return &Filter{proxy: netproxy.New(c.Proxy), policy: c.Policy, defaults: c.Defaults, tools: c.Tools}
}

// Serve serves the listeners of one network namespace until ctx ends, and closes them.
func (f *Filter) Serve(ctx context.Context, l sandbox.Listeners) {
	var running sync.WaitGroup
	names := netproxy.NewNames()
	rules := func() netproxy.Rules { return f.rules(f.policy()) }
	if l.Proxy != nil {
		running.Go(func() { _ = f.proxy.Serve(ctx, l.Proxy) })
	}
	for _, captured := range []net.Listener{l.HTTP, l.TLS, l.SSH} {
		if captured != nil {
			running.Go(func() { _ = f.proxy.ServeTransparent(ctx, captured, names, "", rules) })
		}
	}
	for _, pc := range l.Names {
		running.Go(func() { _ = names.ServeDNS(ctx, pc) })
	}
	running.Wait()
	l.Close()
}

// Admit lets a command in under its policy.
func (f *Filter) Admit(command string, p policy.Policy, address string) (env []string, release func(), err error) {
	rules := f.rules(p)
	c, release := f.proxy.Admit(command, func() netproxy.Rules { return rules })
	return netproxy.Environment(address, c, f.tools), release, nil
}

func (f *Filter) rules(p policy.Policy) netproxy.Rules {
	r := netproxy.Rules{Allowed: p.Allowed, Denied: p.Denied}
	if p.Allowed == nil {
		r.Allowed = f.defaults
	}
	return r
}

var _ sandbox.Proxy = (*Filter)(nil)
