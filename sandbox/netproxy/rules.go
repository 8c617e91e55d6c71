package netproxy

import "net/netip"

// Rules say which hosts a command reaches. A pattern is a name ("example.org"), everything below a name
// ("*.example.org", not example.org itself) or an IP literal, which covers that address alone. ":PORT" at
// its end narrows it to that port; without it, it covers HTTP at any port and tunnels to 80 and 443. A
// tunnel to port 22 carries SSH, to any other port TLS. Denied wins. Nothing is allowed by default.
type Rules struct {
	Allowed, Denied []string
	// Private lists private networks that allowed names may resolve to; none by default. This machine's
	// own, link-local and metadata addresses stay out whatever it says.
	Private []netip.Prefix
}
