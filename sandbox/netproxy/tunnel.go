package netproxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// tunnel is a connection to one host whose policy was asked. Port 443 and others carry TLS, 22 SSH, 80
// HTTP that is read request by request.
type tunnel struct {
	server   *server
	client   net.Conn
	upstream net.Conn // nil where the proxy itself speaks to the host, for each request
	who      *session
	open     *opened // nil until it has a place
	host     string
	port     int
	uri      int // length of the target
	rule     string
	read     []byte // of the client, already
}

// opaque reports whether the tunnel's bytes pass as they are.
func (t *tunnel) opaque() bool { return t.port != 80 && t.server.p.config.Gateway == nil }

// dial connects an opaque tunnel. For another one it only looks whether the host has addresses that may
// be reached: the proxy connects for each request then.
func (t *tunnel) dial(ctx context.Context, rules Rules) *refusal {
	to := target{host: t.host, port: t.port, private: rules.Private, open: t.open}
	var err error
	if t.opaque() {
		t.upstream, err = t.server.p.dial(ctx, to)
	} else {
		_, err = t.server.p.resolve(ctx, to)
	}
	if err != nil {
		return asRefusal(err)
	}
	return nil
}

func (t *tunnel) hangUp() {
	if t.upstream != nil {
		_ = t.upstream.Close()
	}
}

// asRefusal finds the refusal in a failure to dial.
func asRefusal(err error) *refusal {
	var no *refusal
	if !errors.As(err, &no) {
		no = &refusal{status: 502, rule: RuleUnreachable, reason: "the connection ended before the host answered"}
	}
	return no
}

// run checks what the client says first and carries the rest.
func (t *tunnel) run(ctx context.Context) {
	if t.port == 80 {
		t.inside("http")
		return
	}
	if no := t.check(); no != nil {
		t.refused(no)
		return
	}
	if t.opaque() {
		t.relay(ctx)
		return
	}
	t.terminate(ctx)
}

// check reads the first bytes, which stay in t.read.
func (t *tunnel) check() *refusal {
	r := io.MultiReader(bytes.NewReader(t.read), t.client)
	_ = t.client.SetReadDeadline(time.Now().Add(t.server.p.config.Limits.Head))
	defer func() { _ = t.client.SetReadDeadline(time.Time{}) }()
	verify := checkHello
	if t.port == 22 {
		verify = checkSSH
	}
	read, no := verify(r, t.host)
	if left := len(t.read) - len(read); left > 0 { // came with the CONNECT and was not wanted yet
		read = append(read, t.read[len(read):]...)
	}
	t.read = read
	return no
}

// refused logs what a client wanted to say without a proxy, or in a tunnel that stood already, tells the
// client in the protocol that it expects, and ends the connection.
func (t *tunnel) refused(no *refusal) {
	t.server.p.refused(t.decision(), no)
	switch {
	case t.port == 80:
		no.status = http.StatusForbidden
		no.answer(t.client)
	case no.rule == RuleNotTLS: // it would not understand us
	case t.port == 22: // RFC 4253 lets lines precede a server's version
		say(t.client, []byte(no.reason+"\r\n"))
	default:
		// RFC 8446: a fatal alert, access_denied.
		say(t.client, []byte{21, 3, 1, 0, 2, 2, 49})
	}
}

func (t *tunnel) decision() Decision {
	return Decision{Command: t.who.command(), Host: t.host, Port: t.port, Method: "CONNECT", Rule: t.rule, URIBytes: t.uri}
}

func (t *tunnel) relay(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { _ = t.upstream.Close() })
	defer stop()
	d := t.server.p.allowed(t.decision())
	read := t.read
	t.read = nil // a tunnel lives long, its first bytes need not
	d.Sent, d.Received = t.server.p.relay(t.client, t.upstream, read)
	t.server.p.ended(d)
}

// inside reads HTTP in the tunnel.
func (t *tunnel) inside(scheme string) {
	s := t.server
	h, raw, rest, no := s.readHead(&handed{Conn: t.client, read: t.read})
	if raw == nil && no == nil {
		return
	}
	if no != nil {
		d := t.decision()
		d.Method, d.URIBytes = h.method, len(h.target)
		s.p.refused(d, no)
		no.answer(t.client)
		return
	}
	s.hand.serve(&handed{Conn: t.client, read: append(raw, rest...),
		door: &door{session: t.who, open: t.open, host: t.host, port: t.port, scheme: scheme, first: h}})
}
