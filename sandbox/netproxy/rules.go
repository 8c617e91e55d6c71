package netproxy

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// Rules say which hosts a command reaches. A pattern is a name ("example.org"), everything below a name
// ("*.example.org", not example.org itself) or an IP literal, which covers that address alone. ":PORT" at
// its end makes it cover that port alone. Without it an allowed one covers 80 and 443, and for an address
// plain HTTP at any port (a server of one's own), and a denied one covers all. A tunnel to port 22 carries
// SSH, one to port 80 HTTP, one to any other port TLS. Denied wins. Nothing is allowed by default.
type Rules struct {
	Allowed, Denied []string
	// Private lists private networks that allowed names may resolve to; none by default. This machine's
	// own, link-local and metadata addresses stay out whatever it says.
	Private []netip.Prefix
	// Closed lets nothing pass whatever the lists say: the network was switched off.
	Closed bool
}

// Validate reports every pattern that can't be read, with what to write instead.
func (r Rules) Validate() error {
	var errs []error
	for _, text := range append(append([]string{}, r.Allowed...), r.Denied...) {
		_, err := readPattern(text)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// A pattern is one entry, read.
type pattern struct {
	text  string
	host  string // canonical; for below, the name under which everything matches
	below bool
	port  int // 0 is any
}

func (p pattern) covers(host string) bool {
	if p.below {
		return strings.HasSuffix(host, "."+p.host)
	}
	return host == p.host
}

func readPattern(text string) (pattern, error) {
	bad := func(why string) (pattern, error) {
		return pattern{}, fmt.Errorf("read host pattern %s: %s", quoted(text), why)
	}
	if _, after, ok := strings.Cut(text, "://"); ok {
		return bad("write the host alone, without a scheme: " + quoted(strings.TrimRight(after, "/")))
	}
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return pattern{text: a.Unmap().String(), host: a.Unmap().String()}, nil // IPv6 needs no brackets here
	}
	name, below := strings.CutPrefix(text, "*.")
	switch {
	case text == "*":
		return bad(`it would match every host; set network to "allow" for that`)
	case strings.Contains(name, "*"):
		return bad(`"*" stands only at the front, as in *.example.org`)
	case strings.ContainsAny(name, "/?#"):
		return bad("write the host alone, without a path")
	case strings.ContainsFunc(name, func(r rune) bool { return r > 127 }):
		return bad("write it in its ASCII form (xn--...)")
	}
	host, port, err := readAuthority(name)
	if err != nil {
		return bad(err.Error())
	}
	if _, ip := isLiteral(host); ip && below {
		return bad("an IP address has nothing below it")
	}
	p := pattern{host: host, below: below, port: port, text: join(host, port, 0)}
	if below {
		p.text = "*." + p.text
	}
	return p, nil
}

// decide is the policy for one host. tunnel is whether the bytes stay opaque. rule is what allowed it.
func (r Rules) decide(host string, port int, tunnel bool) (rule string, no *refusal) {
	if r.Closed {
		return "", &refusal{status: 403, rule: RuleClosed, reason: "the network was switched off"}
	}
	for _, text := range r.Denied {
		p, err := readPattern(text)
		if err != nil { // what it was to deny is unknown, so nothing passes
			return "", &refusal{status: 403, rule: RuleUnreadable,
				reason: "denied_domains can't be read, so that no host passes: " + err.Error()}
		}
		if p.covers(host) && (p.port == 0 || p.port == port) {
			return "", &refusal{status: 403, rule: "denied:" + p.text, reason: fmt.Sprintf(
				"%s is denied by the entry %s of denied_domains; it can be allowed only after that entry is removed",
				withOddPort(host, port, tunnel), p.text)}
		}
	}
	rule = RuleNotListed
	if _, ip := isLiteral(host); ip {
		rule = RuleLiteral
	}
	for _, text := range r.Allowed {
		p, err := readPattern(text)
		if err != nil || !p.covers(host) {
			continue
		}
		if p.port == port || p.port == 0 && usualFor(host, port, tunnel) {
			return "allowed:" + p.text, nil
		}
		rule = RulePort
	}
	return "", notAllowed(rule, host, port, tunnel)
}

func notAllowed(rule, host string, port int, tunnel bool) *refusal {
	grant := withOddPort(host, port, tunnel)
	no := &refusal{status: 403, rule: rule, grant: grant}
	switch rule {
	case RuleLiteral:
		no.reason = fmt.Sprintf("the address %s has no entry of its own in allowed_domains", host)
	case RulePort:
		no.reason = fmt.Sprintf("%s is allowed, but port %d is not", host, port)
	default:
		no.reason = fmt.Sprintf("%s is not in allowed_domains", grant)
	}
	return no
}

// usualFor reports whether an allowed entry without a port covers this one.
func usualFor(host string, port int, tunnel bool) bool {
	_, ip := isLiteral(host)
	return port == 80 || port == 443 || ip && !tunnel
}

// withOddPort is a host as an entry must spell it to cover the port: alone where it covers that anyway.
func withOddPort(host string, port int, tunnel bool) string {
	if usualFor(host, port, tunnel) {
		return host
	}
	return join(host, port, 0)
}
