package attack

import (
	"net"
	"net/netip"
	"strings"
	"sync/atomic"

	"golang.org/x/net/dns/dnsmessage"
)

// addresses is what the machine's name server answers. rebind.test changes its mind with each n.
func addresses(host string, n int64) []string {
	switch strings.TrimSuffix(strings.ToLower(host), ".") {
	case "allowed.test", "sub.wild.test":
		return []string{publicAllowed}
	case "wild.test", "denied.wild.test", "denied.test", "evilallowed.test", "allowed.test.evil.test", "notwild.test",
		"xn--lowed-6ua5c.test":
		return []string{publicDenied}
	case "git.test":
		return []string{publicGit}
	case "internal.test":
		return []string{privateHost}
	case "mapped.test":
		return []string{"::ffff:" + privateHost}
	case "zero.test":
		return []string{"0.0.0.0"}
	case "rebind.test":
		if n%2 == 0 {
			return []string{publicAllowed}
		}
		return []string{privateHost}
	case "localhost":
		return []string{"127.0.0.1"}
	}
	return nil
}

// serveNames is the machine's name server.
func serveNames(addr string) error {
	conn, err := net.ListenPacket("udp", addr)
	if err != nil {
		return err
	}
	var asked atomic.Int64
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			if answer, err := reply(m, asked.Add(1)); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return nil
}

func reply(m dnsmessage.Message, n int64) ([]byte, error) {
	q := m.Questions[0]
	found := addresses(q.Name.String(), n/2) // a client asks for both families
	m.Header = dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}
	if found == nil {
		m.Header.RCode = dnsmessage.RCodeNameError
	}
	m.Additionals, m.Authorities = nil, nil
	for _, text := range found {
		addr := netip.MustParseAddr(text)
		h := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 0}
		switch {
		case addr.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: addr.As4()}})
		case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	return m.Pack()
}
