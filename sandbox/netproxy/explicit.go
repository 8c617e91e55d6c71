package netproxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// explicit serves a client that knows that it talks to a proxy: one request per connection, with
// credentials. A second request in it is never read, so nothing can hide behind the first.
func (s *server) explicit(ctx context.Context, conn net.Conn) {
	h, raw, rest, no := s.readHead(conn)
	if raw == nil && no == nil {
		return
	}
	who := newSession("", nil, 0) // nobody
	if no == nil {
		if known, wrong := s.p.identify(h.credentials); wrong == nil {
			who = known
		} else {
			no = wrong
		}
	}
	if no != nil {
		s.refuse(conn, who, h, no)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	open, no := who.enter(cancel)
	if no != nil {
		s.refuse(conn, who, h, no)
		return
	}
	defer open.leave()
	if h.method == http.MethodConnect {
		s.connect(ctx, conn, rest, h, open)
		return
	}
	s.hand.serve(&handed{Conn: conn, read: append(raw, rest...), door: &door{session: who, open: open, scheme: "http", first: h}})
}

// readHead reads a request's head within its time.
func (s *server) readHead(conn net.Conn) (h head, raw, rest []byte, no *refusal) {
	l := s.p.config.Limits
	_ = conn.SetReadDeadline(time.Now().Add(l.Head))
	h, raw, rest, no = readHead(conn, l.HeaderBytes, l.URIBytes)
	_ = conn.SetReadDeadline(time.Time{})
	return h, raw, rest, no
}

// refuse answers a request whose target need not be known, and logs it with what could be read of it.
func (s *server) refuse(conn net.Conn, who *session, h head, no *refusal) {
	d := Decision{Command: who.command(), Method: h.method, URIBytes: len(h.target)}
	d.Host, d.Port = named(h)
	s.p.refused(d, no)
	no.answer(conn)
}

// named is the host of a target, or the target's quoted beginning when it has none.
func named(h head) (string, int) {
	authority := h.target
	if h.method != http.MethodConnect {
		after, ok := strings.CutPrefix(h.target, "http://")
		if !ok {
			return quoted(h.target), 0
		}
		authority = after
		if i := strings.IndexAny(after, "/?#"); i >= 0 {
			authority = after[:i]
		}
	}
	host, port, err := Canonical(authority)
	if err != nil {
		return quoted(authority), 0
	}
	if port == 0 && h.method != http.MethodConnect {
		port = 80
	}
	return host, port
}

// connect answers CONNECT. Before its 200 the host is allowed and its addresses are too.
func (s *server) connect(ctx context.Context, conn net.Conn, rest []byte, h head, open *opened) {
	who := open.session
	host, port, err := Canonical(h.target)
	switch {
	case err != nil || port == 0:
		s.refuse(conn, who, h, &refusal{status: http.StatusBadRequest, rule: RuleAuthority,
			reason: "CONNECT wants HOST:PORT, spelled plainly"})
		return
	case h.body || h.upgrade:
		s.refuse(conn, who, h, &refusal{status: http.StatusBadRequest, rule: RuleBody,
			reason: "a CONNECT request has no body and no Upgrade"})
		return
	}
	t := &tunnel{server: s, client: conn, who: who, open: open, host: host, port: port, uri: len(h.target)}
	rule, rules, no := s.p.allow(open, t.decision(), true)
	if no == nil {
		no = t.dial(ctx, rules)
		defer t.hangUp()
	}
	if no != nil {
		s.refuse(conn, who, h, no)
		return
	}
	_ = conn.SetWriteDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	_ = conn.SetWriteDeadline(time.Time{})
	t.rule, t.read = rule, rest
	t.run(ctx)
}

// decide adds to the rules what a gateway demands of ports.
func (p *Proxy) decide(r Rules, host string, port int, tunnel bool) (string, *refusal) {
	rule, no := r.decide(host, port, tunnel)
	if p.config.Gateway != nil && port != 80 && (port != 443 || !tunnel) && (no == nil || no.grant != "") {
		return "", &refusal{status: http.StatusForbidden, rule: RulePort,
			reason: "only HTTP to port 80 and TLS to port 443 pass"}
	}
	return rule, no
}
