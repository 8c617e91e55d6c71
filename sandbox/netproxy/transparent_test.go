package netproxy

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// captured plays the namespace's listener: each connection says where its client wanted to go.
type captured struct {
	net.Listener
	to chan netip.AddrPort // one for each connection, in their order
}

type capturedConn struct {
	*net.TCPConn
	to net.Addr
}

func (c capturedConn) LocalAddr() net.Addr { return c.to }

func (c captured) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return capturedConn{conn.(*net.TCPConn), net.TCPAddrFromAddrPort(<-c.to)}, nil
}

// capture starts transparent mode in the rig and returns how to dial an address through it.
func (r *rig) capture(names *Names) func(netip.AddrPort) net.Conn {
	r.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	c := captured{Listener: l, to: make(chan netip.AddrPort, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		served <- r.proxy.ServeTransparent(ctx, c, names, func() string { return "box" }, func() Rules { return r.rules })
	}()
	r.t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			r.t.Errorf("ServeTransparent: %v", err)
		}
	})
	return func(to netip.AddrPort) net.Conn {
		c.to <- to
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			r.t.Fatal(err)
		}
		r.t.Cleanup(func() { _ = conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(deadline))
		return conn
	}
}

func at(t *testing.T, names *Names, host string, port uint16) netip.AddrPort {
	t.Helper()
	if a, err := netip.ParseAddr(host); err == nil {
		return netip.AddrPortFrom(a, port)
	}
	a, err := names.Address(host)
	if err != nil {
		t.Fatal(err)
	}
	return netip.AddrPortFrom(a, port)
}

func TestCapturedConnectionsFollowThePolicy(t *testing.T) {
	for _, profile := range []string{"local", "gateway"} {
		t.Run(profile, func(t *testing.T) {
			o := options{}
			if profile == "gateway" {
				g := rigGateway()
				o.gateway = &g
			}
			r := newRig(t, o)
			names := NewNames()
			dial := r.capture(names)
			for _, c := range []struct {
				host, sni string
				works     bool
				rule      string
			}{
				{"allowed.test", "allowed.test", true, ""},
				{"sub.wild.test", "sub.wild.test", true, ""},
				{"denied.test", "denied.test", false, RuleNotListed},
				{"denied.wild.test", "denied.wild.test", false, "denied:denied.wild.test"},
				{"allowed.test", "sub.wild.test", false, RuleServerName},
				{"denied.test", "allowed.test", false, RuleServerName},
				{"internal.test", "internal.test", false, RuleAddress},
				{"11.0.1.1", "allowed.test", false, RuleServerName},
				{"11.0.1.1", "", false, RuleLiteral},
				{"127.0.0.1", "", false, RuleAddress},
				{"::1", "", false, RuleAddress},
				{"198.18.200.1", "", false, RuleHost},
			} {
				conn := tls.Client(dial(at(t, names, c.host, 443)), &tls.Config{ServerName: c.sni, RootCAs: r.trust, InsecureSkipVerify: c.sni == ""})
				err := conn.Handshake()
				if works := err == nil; works != c.works || !works && !strings.Contains(err.Error(), "access denied") {
					t.Errorf("%s asked as %q: %v", c.host, c.sni, err)
				}
				if c.works {
					_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: "+c.host+"\r\nConnection: close\r\n\r\n")
					if text, _ := io.ReadAll(conn); !strings.Contains(string(text), "BACKEND 127.0.1.1") {
						t.Errorf("%s: %q", c.host, text)
					}
					continue
				}
				if d := r.lastRefused(); d.Command != "box" || d.Allowed || d.Rule != c.rule {
					t.Errorf("%s asked as %q: %+v", c.host, c.sni, d)
				}
			}
			r.stop()
			if log := r.text(); strings.Contains(log, "127.0.1.2") || strings.Contains(log, "127.0.1.9") {
				t.Error(log)
			}
		})
	}
}

func TestCapturedPlainRequestsAreForTheirAddressAlone(t *testing.T) {
	r := newRig(t, options{})
	names := NewNames()
	dial := r.capture(names)
	for _, c := range []struct {
		to, host string
		status   int
	}{
		{"allowed.test", "allowed.test", 200}, {"allowed.test", "allowed.test:80", 200}, {"allowed.test", "denied.test", 421},
		{"allowed.test", "allowed.test:8080", 421}, {"denied.test", "denied.test", 403}, {"denied.test", "allowed.test", 421},
		{"internal.test", "internal.test", 403}, {"11.0.1.1", "11.0.1.1", 403}, {"11.0.1.1", "allowed.test", 421},
		{"127.0.0.1", "127.0.0.1", 403}, {"198.18.200.1", "allowed.test", 403},
	} {
		conn := dial(at(t, names, c.to, 80))
		_, _ = io.WriteString(conn, "GET /captured HTTP/1.1\r\nHost: "+c.host+"\r\n\r\n")
		if a := r.collect(conn, false); a.status != c.status {
			t.Errorf("to %s for %s: %v, want %d", c.to, c.host, a, c.status)
		}
	}
	for _, raw := range []string{"SSH-2.0-EXFIL\r\n\r\n", "GET http://denied.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
		"CONNECT denied.test:443 HTTP/1.1\r\nHost: allowed.test\r\n\r\n", "GET / HTTP/1.0\r\nHost: allowed.test\r\n\r\n"} {
		conn := dial(at(t, names, "allowed.test", 80))
		_, _ = io.WriteString(conn, raw)
		if a := r.collect(conn, false); a.status != 400 && a.status != 505 {
			t.Errorf("%q: %v", raw, a)
		}
	}
	for _, port := range []uint16{8080, 25, 53} {
		if !ended(dial(at(t, names, "allowed.test", port))) {
			t.Error("port", port, "is open")
		}
	}
	r.stop()
	if log := r.text(); strings.Contains(log, "127.0.1.2") || strings.Contains(log, "127.0.1.9") || strings.Count(log, "/captured") != 2 {
		t.Error(log)
	}
}

func TestCapturedTLSMustBeTLS(t *testing.T) {
	r := newRig(t, options{})
	names := NewNames()
	dial := r.capture(names)
	for _, raw := range []string{"SSH-2.0-EXFIL\r\n", "GET /EXFIL HTTP/1.1\r\nHost: allowed.test\r\n\r\n"} {
		conn := dial(at(t, names, "allowed.test", 443))
		_, _ = io.WriteString(conn, raw)
		if !ended(conn) {
			t.Errorf("%q is carried", raw)
		}
	}
	r.stop()
	if strings.Contains(r.text(), "EXFIL") {
		t.Error(r.text())
	}
}
