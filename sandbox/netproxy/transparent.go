package netproxy

import (
	"context"
	"net"
	"strconv"
)

// ServeTransparent takes connections whose LocalAddr is where the client wanted to go: an address that
// names gave out, or a literal one, which needs an entry of its own. Loopback stays the namespace's own.
// Port 443 must carry TLS for that host, port 80 HTTP for it, port 22 SSH; other ports are closed. Nobody
// can tell whose a connection is: command, asked for each decision, says what the log calls it, and all of
// them have one limit. A refused client gets a TLS alert, a 403 or a line. It ends like Serve.
func (p *Proxy) ServeTransparent(ctx context.Context, l net.Listener, names *Names, command func() string, rules func() Rules) error {
	who := &session{command: func() string { return bounded(command()) }, rules: rules, most: p.config.Limits.TunnelsPerCommand,
		open: map[*opened]struct{}{}}
	p.sessions.mu.Lock()
	p.sessions.caught[who] = struct{}{}
	p.sessions.mu.Unlock()
	defer func() {
		p.sessions.mu.Lock()
		defer p.sessions.mu.Unlock()
		delete(p.sessions.caught, who)
	}()
	return p.serve(ctx, l, func(s *server, ctx context.Context, c net.Conn) { s.capture(ctx, c, names, who) })
}

func (s *server) capture(ctx context.Context, conn net.Conn, names *Names, who *session) {
	t := &tunnel{server: s, client: conn, who: who}
	to, ok := conn.LocalAddr().(*net.TCPAddr)
	if !ok {
		return
	}
	address := to.AddrPort().Addr().Unmap().WithZone("")
	t.port = to.Port
	if t.host, ok = names.Host(address); !ok {
		t.host = address.String()
		if names.gave(address) {
			t.refused(&refusal{rule: RuleHost, reason: "the address " + t.host + " belongs to no name any more"})
			return
		}
	}
	if address.IsLoopback() || address.IsUnspecified() {
		// What an entry for loopback opens is the machine's own, which this client did not ask for.
		t.refused(&refusal{rule: RuleAddress, reason: "nothing listens at port " + strconv.Itoa(t.port) + " of " + t.host + " inside the sandbox"})
		return
	}
	open, no := who.enter(func() { _ = conn.Close() })
	if no != nil {
		t.refused(no)
		return
	}
	defer open.leave()
	t.open = open
	switch t.port {
	case 80: // each request is judged, and answered when it may not pass
		t.inside("http")
		return
	case 443, 22:
	default:
		t.refused(&refusal{rule: RulePort, reason: "only ports 80, 443 and 22 pass without a proxy"})
		return
	}
	if no := t.check(); no != nil {
		t.refused(no)
		return
	}
	var asked Rules
	if t.rule, asked, no = s.p.allow(open, t.decision(), true); no == nil {
		no = t.dial(ctx, asked)
		defer t.hangUp()
	}
	switch {
	case no != nil:
		t.refused(no)
	case t.opaque():
		t.relay(ctx)
	default:
		t.terminate(ctx)
	}
}
