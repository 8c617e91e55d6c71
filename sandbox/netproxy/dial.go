package netproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"
)

const (
	maxAddresses = 8                      // of one name that are tried
	nextAddress  = 250 * time.Millisecond // until the next one is tried beside it (RFC 8305)
)

// target is a canonical host that the policy allowed, with what else decides on its addresses.
type target struct {
	host    string
	port    int
	private []netip.Prefix
	open    *opened // is told the address that a name led to
}

// dial resolves once, drops what a name must not lead to, and connects to one of the rest. Failures are
// *refusal, but for a context that ended.
func (p *Proxy) dial(ctx context.Context, t target) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.config.Limits.Dial)
	defer cancel()
	list, err := p.resolve(ctx, t)
	if err != nil {
		return nil, err
	}
	conn, address, err := p.race(ctx, list)
	if err != nil {
		return nil, unreachable(t, "can't be connected", err)
	}
	if _, literal := isLiteral(t.host); !literal {
		t.open.connected(address)
	}
	return conn, nil
}

func (p *Proxy) resolve(ctx context.Context, t target) ([]netip.AddrPort, error) {
	if a, ok := isLiteral(t.host); ok { // an exact entry allowed it
		return []netip.AddrPort{netip.AddrPortFrom(a, uint16(t.port))}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.config.Limits.Dial)
	defer cancel()
	found, err := p.config.Resolver.LookupNetIP(ctx, "ip", t.host+".")
	if err != nil {
		return nil, unreachable(t, "can't be resolved", err)
	}
	var list []netip.AddrPort
	mine := p.addresses.own()
	for _, a := range found {
		if a = a.Unmap(); p.addresses.reachable(a, t.private, mine) && len(list) < maxAddresses {
			list = append(list, netip.AddrPortFrom(a, uint16(t.port)))
		}
	}
	if len(list) == 0 {
		return nil, addressRefusal(t.host)
	}
	return list, nil
}

// race connects to the first address that answers. A second one starts when the first failed or is slow.
func (p *Proxy) race(ctx context.Context, list []netip.AddrPort) (net.Conn, netip.Addr, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		conn net.Conn
		at   netip.Addr
		err  error
	}
	results := make(chan result)
	start := func(a netip.AddrPort) {
		conn, err := p.config.Dial(ctx, "tcp", a)
		select {
		case results <- result{conn, a.Addr(), err}:
		case <-ctx.Done():
			if conn != nil {
				_ = conn.Close() // a slower winner
			}
		}
	}
	var last error
	running := 0
	for {
		var slow <-chan time.Time
		if len(list) > 0 {
			go start(list[0])
			list, running = list[1:], running+1
			slow = time.After(nextAddress)
		}
		select {
		case r := <-results:
			if r.err == nil {
				return r.conn, r.at, nil
			}
			last, running = r.err, running-1
			if running == 0 && len(list) == 0 {
				return nil, netip.Addr{}, last
			}
		case <-slow:
		case <-ctx.Done():
			return nil, netip.Addr{}, errors.Join(ctx.Err(), last)
		}
	}
}

// unreachable says what failed in our words: the cause may hold the machine's name servers and addresses,
// which a command has no business to know.
func unreachable(t target, what string, cause error) *refusal {
	no := &refusal{status: http.StatusBadGateway, rule: RuleUnreachable, reason: t.host + " " + what}
	if errors.Is(cause, context.DeadlineExceeded) {
		no.status, no.reason = http.StatusGatewayTimeout, fmt.Sprintf("%s took too long: it %s", t.host, what)
	}
	return no
}
