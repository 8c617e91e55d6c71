package netproxy

import (
	"net"
	"net/netip"
	"slices"
)

// addresses are the classes that no name may lead to. Parsed once per proxy.
type addresses struct {
	public6  netip.Prefix   // the only IPv6 range that is handed out to the Internet
	special  []netip.Prefix // never, whatever Rules.Private says
	private  []netip.Prefix // only where Rules.Private covers them
	metadata []netip.Addr   // of clouds, where a read gives credentials away
	own      func() []netip.Addr
}

func newAddresses() addresses {
	prefixes := func(texts ...string) []netip.Prefix {
		var list []netip.Prefix
		for _, t := range texts {
			list = append(list, netip.MustParsePrefix(t))
		}
		return list
	}
	return addresses{
		public6: netip.MustParsePrefix("2000::/3"),
		special: prefixes("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24",
			"192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
			// Protocol assignments with Teredo, documentation twice, 6to4.
			"2001::/23", "2001:db8::/32", "3fff::/20", "2002::/16"),
		private: prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"),
		metadata: []netip.Addr{netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("168.63.129.16"),
			netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254")},
		own: interfaceAddresses,
	}
}

// reachable reports whether a name may lead to a, which is not a mapped IPv4 address. mine are this
// machine's addresses.
func (s addresses) reachable(a netip.Addr, allowed []netip.Prefix, mine []netip.Addr) bool {
	in := func(list []netip.Prefix) bool {
		return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	switch {
	case !a.IsValid(), a.Zone() != "", in(s.special), slices.Contains(s.metadata, a), slices.Contains(mine, a):
		return false
	case in(s.private):
		return in(allowed)
	}
	return a.Is4() || s.public6.Contains(a)
}

// interfaceAddresses lists this machine's addresses. A failure leaves them out: loopback, link-local and
// private ones are refused without it.
func interfaceAddresses() []netip.Addr {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var mine []netip.Addr
	for _, a := range list {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			mine = append(mine, p.Addr().Unmap().WithZone(""))
		}
	}
	return mine
}
