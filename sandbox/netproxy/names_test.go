package netproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// A real resolver asks the name server, as programs in the namespace do.
func TestNamesAnswersRealResolvers(t *testing.T) {
	names := NewNames()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- names.ServeDNS(ctx, pc) }()
	defer func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
	first, err := resolver.LookupNetIP(ctx, "ip", "Any.Test.")
	if err != nil || len(first) != 1 || !names.gave(first[0].Unmap()) {
		t.Fatal(first, err)
	}
	if host, ok := names.Host(first[0].Unmap()); !ok || host != "any.test" {
		t.Errorf("%q %v", host, ok)
	}
	again, err := resolver.LookupNetIP(ctx, "ip", "any.test.")
	if err != nil || again[0] != first[0] {
		t.Error(again, err)
	}
	other, err := resolver.LookupNetIP(ctx, "ip", "other.test.")
	if err != nil || other[0] == first[0] {
		t.Error(other, err)
	}
	var missing *net.DNSError
	for _, name := range []string{"single.", "1.2.0.192.in-addr.arpa.", "a%b.test."} {
		if found, err := resolver.LookupNetIP(ctx, "ip", name); !errors.As(err, &missing) || !missing.IsNotFound {
			t.Error(name, found, err)
		}
	}
	if text, err := resolver.LookupTXT(ctx, "any.test."); len(text) > 0 || !errors.As(err, &missing) {
		t.Error(text, err)
	}
}

func ask(t *testing.T, n *Names, name string, kind dnsmessage.Type, class dnsmessage.Class) dnsmessage.Message {
	t.Helper()
	q := dnsmessage.Message{Header: dnsmessage.Header{ID: 7, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind, Class: class}}}
	packet, err := q.Pack()
	if err != nil {
		t.Fatal(err)
	}
	var m dnsmessage.Message
	if err := m.Unpack(n.answer(packet)); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestNamesAnswerOnlyAddresses(t *testing.T) {
	n := NewNames()
	for _, c := range []struct {
		name    string
		kind    dnsmessage.Type
		answers int
		code    dnsmessage.RCode
	}{
		{"a.test.", dnsmessage.TypeA, 1, dnsmessage.RCodeSuccess},
		{"a.test.", dnsmessage.TypeAAAA, 0, dnsmessage.RCodeSuccess},
		{"a.test.", 65, 0, dnsmessage.RCodeSuccess},
		{"a.test.", dnsmessage.TypeTXT, 0, dnsmessage.RCodeSuccess},
		{"x.localhost.", dnsmessage.TypeA, 1, dnsmessage.RCodeSuccess},
		{"host.", dnsmessage.TypeA, 0, dnsmessage.RCodeNameError},
		{"10.1.", dnsmessage.TypeA, 0, dnsmessage.RCodeNameError},
		{"1.2.3.4.", dnsmessage.TypeA, 0, dnsmessage.RCodeNameError},
		{"a..test.", dnsmessage.TypeA, 0, dnsmessage.RCodeNameError},
	} {
		if c.name == "a..test." {
			continue // it can't even be packed
		}
		m := ask(t, n, c.name, c.kind, dnsmessage.ClassINET)
		if len(m.Answers) != c.answers || m.RCode != c.code || m.ID != 7 || !m.Response || len(m.Questions) != 1 {
			t.Errorf("%s %v: %+v", c.name, c.kind, m)
		}
	}
	if m := ask(t, n, "a.test.", dnsmessage.TypeA, dnsmessage.ClassCHAOS); m.RCode != dnsmessage.RCodeNameError {
		t.Errorf("%+v", m)
	}
	for _, junk := range [][]byte{nil, {1}, make([]byte, 11), append([]byte{0, 1, 0x80, 0}, make([]byte, 8)...)} {
		if got := n.answer(junk); got != nil {
			t.Errorf("%x is answered with %x", junk, got)
		}
	}
	if got := n.answer(make([]byte, 12)); len(got) != 12 || got[3]&15 != byte(dnsmessage.RCodeNotImplemented) {
		t.Errorf("no question: %x", got)
	}
}

func TestNamesForgetTheLeastUsedAndReuseLate(t *testing.T) {
	n := NewNames()
	give := func(host string) netip.Addr {
		t.Helper()
		a, err := n.Address(host)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	kept, lost := give("kept.test"), give("lost.test")
	seen := map[netip.Addr]bool{kept: true, lost: true}
	for i := range 2*maxNames + 10 {
		a := give(fmt.Sprintf("n%d.test", i))
		if seen[a] {
			t.Fatalf("%s is used again after %d names", a, i)
		}
		seen[a] = true
		if i%1000 == 0 {
			if host, _ := n.Host(kept); host != "kept.test" {
				t.Fatal("a name in use is forgotten")
			}
		}
	}
	if _, ok := n.Host(lost); ok || !n.gave(lost) {
		t.Error("an unused name is remembered for ever")
	}
	if len(n.byAddr) != maxNames || len(n.byName) != maxNames || n.recent.Len() != maxNames {
		t.Error("it grows")
	}
}

func FuzzNames(f *testing.F) {
	q := dnsmessage.Message{Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName("a.test."), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}}
	packet, err := q.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packet)
	n := NewNames()
	f.Fuzz(func(t *testing.T, packet []byte) {
		if got := n.answer(packet); len(got) > 1024 {
			t.Errorf("%d bytes for %d", len(got), len(packet))
		}
	})
}
