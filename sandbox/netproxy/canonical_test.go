package netproxy

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestCanonicalReadsWhatIsPlain(t *testing.T) {
	for in, want := range map[string]struct {
		host string
		port int
	}{
		"allowed.test":            {"allowed.test", 0},
		"Allowed.TEST.":           {"allowed.test", 0},
		"allowed.test:443":        {"allowed.test", 443},
		"a_b.x-y.test.:65535":     {"a_b.x-y.test", 65535},
		"xn--lowed-6ua5c.test":    {"xn--lowed-6ua5c.test", 0},
		"localhost":               {"localhost", 0},
		"1.2.3.4:80":              {"1.2.3.4", 80},
		"3com.test":               {"3com.test", 0},
		"[::1]":                   {"::1", 0},
		"[2001:DB8:0::1]:8443":    {"2001:db8::1", 8443},
		"[::ffff:127.0.1.9]:443":  {"127.0.1.9", 443},
		"[0:0:0:0:0:ffff:7f00:1]": {"127.0.0.1", 0},
	} {
		host, port, err := Canonical(in)
		if err != nil || host != want.host || port != want.port {
			t.Errorf("%q: %q %d %v, want %v", in, host, port, err, want)
		}
	}
}

func TestCanonicalRefusesWhatIsReadInTwoWays(t *testing.T) {
	for _, in := range []string{
		"", ".", "..", "a..test", ".test", "a.test..", ":443", "a.test:", "a.test:0", "a.test:0443", "a.test:+443", "a.test:65536", "a.test:4e2",
		"a.test:443:443", "a.test: 443", "a.test:443 ", " a.test", "a b.test", "a\x00.test", "a%00.test", "a%2etest", "user@a.test", "a.test@b.test",
		"a/b", "a\\b.test", "a?b", "a#b", "a;b.test", "a,b.test", "a.test\r\n", "a\tb", "аllowed.test", "ａ.test", "a。test", "ſ.test", "\u212a.test",
		"127.1", "0x7f.1", "2130706433", "0x7f000001", "017700000001", "127.0.0.01", "1.2.3", "1.2.3.4.5", "1.2.3.4.", "a.1", "a.0x1", "256.1.1.1",
		"::1", "::1:80", "[::1", "::1]", "[::1]x", "[::1]80", "[1.2.3.4]", "[fe80::1%eth0]", "[fe80::1%25eth0]", "[a.test]", "[]", "[::1]:", "[[::1]]",
		"-a.test", "a-.test", "a.-b", "--", "*.test", "a*.test", strings.Repeat("a", 64) + ".test", strings.Repeat("a.", 127) + "test",
	} {
		if host, port, err := Canonical(in); err == nil {
			t.Errorf("%q passes as %q %d", in, host, port)
		} else if len(err.Error()) > 500 || strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q: the error holds it: %q", in, err)
		}
	}
}

// FuzzCanonical holds that there is one host: what is accepted, net/url reads as the same host and port,
// reading it again changes nothing, and the resolver or the dialer is asked for nothing else.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"allowed.test:443", "[::1]:80", "127.1", "a.test.", "user@a", "[::ffff:1.2.3.4]", "0x7f.1", "xn--a", "a_b", "A.B:1", "%61.test", "1.2.3.4:80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, authority string) {
		host, port, err := Canonical(authority)
		if err != nil {
			return
		}
		again, _, err := Canonical(join(host, 0, 0))
		if err != nil || again != host {
			t.Fatalf("%q is %q, which is %q (%v)", authority, host, again, err)
		}
		u, err := url.Parse("http://" + authority + "/")
		if err != nil || u.User != nil || u.Host != authority {
			t.Fatalf("%q passes, net/url reads %+v: %v", authority, u, err)
		}
		theirs := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
		if a, err := netip.ParseAddr(theirs); err == nil {
			theirs = a.Unmap().String()
		}
		if theirs != host {
			t.Fatalf("%q is %q here and %q for net/url", authority, host, theirs)
		}
		if p := u.Port(); p != "" && u.Port() != portText(port) || p == "" && port != 0 {
			t.Fatalf("%q has port %d here and %q for net/url", authority, port, p)
		}
		if _, no := (Rules{Allowed: []string{host}}).decide(host, 443, true); no != nil {
			t.Fatalf("%q can't be allowed as %q: %v", authority, host, no)
		}
		dialsOnly(t, host)
	})
}

func portText(port int) string { return strings.TrimPrefix(join("x", port, 0), "x:") }

// dialsOnly checks that a canonical host leads to itself and nowhere else.
func dialsOnly(t *testing.T, host string) {
	asked := ""
	where := netip.MustParseAddr("11.0.1.1")
	if a, ok := isLiteral(host); ok {
		where = a
	}
	p := New(Config{
		Resolver: resolverFunc(func(name string) []netip.Addr { asked = name; return []netip.Addr{where} }),
		Dial: func(_ context.Context, _ string, a netip.AddrPort) (net.Conn, error) {
			if a != netip.AddrPortFrom(where, 443) {
				t.Errorf("%q dials %v", host, a)
			}
			return nil, net.ErrClosed
		},
	})
	_, _ = p.dial(t.Context(), target{host: host, port: 443})
	if _, ip := isLiteral(host); ip != (asked == "") || !ip && asked != host+"." {
		t.Errorf("%q looks up %q", host, asked)
	}
}

type resolverFunc func(string) []netip.Addr

func (f resolverFunc) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return f(host), nil
}
