package netproxy

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

const (
	maxName  = 253 // bytes of a host name, without the last dot (RFC 1035)
	maxLabel = 63
)

// Canonical reads "host" or "host:port". The name comes back in lower case without a last dot, an IP
// literal in its shortest form without brackets; the port is 0 when there is none. Whatever two parsers
// could read in two ways is an error: user information, percent signs, zones, IPv6 without brackets,
// names that some resolvers take for numbers (127.1, 0x7f.1), ports with signs or leading zeros, and
// everything that is not a letter, a digit, a hyphen, a dot or an underscore of ASCII.
func Canonical(authority string) (host string, port int, err error) {
	host, port, err = readAuthority(authority)
	if err != nil {
		return "", 0, fmt.Errorf("read host %s: %w", quoted(authority), err)
	}
	return host, port, nil
}

func readAuthority(authority string) (string, int, error) {
	name, rest := authority, ""
	if strings.HasPrefix(authority, "[") {
		end := strings.IndexByte(authority, ']')
		if end < 0 {
			return "", 0, errors.New("a bracket is not closed")
		}
		name, rest = authority[1:end], authority[end+1:]
		if rest != "" && rest[0] != ':' {
			return "", 0, errors.New("only a port may follow the bracket")
		}
	} else if i := strings.IndexByte(authority, ':'); i >= 0 {
		name, rest = authority[:i], authority[i:]
	}
	port := 0
	if rest != "" {
		var err error
		if port, err = readPort(rest[1:]); err != nil {
			return "", 0, err
		}
	}
	var host string
	var err error
	if authority != "" && authority[0] == '[' {
		host, err = readIPv6(name)
	} else {
		host, err = readName(name)
	}
	return host, port, err
}

func readPort(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != s {
		return 0, errors.New("the port is no plain number from 1 to 65535")
	}
	return n, nil
}

// readIPv6 reads what stands between brackets. A mapped IPv4 address is that IPv4 address, so that one
// entry covers both spellings.
func readIPv6(s string) (string, error) {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is6() || a.Zone() != "" {
		return "", errors.New("no IPv6 address without zone stands in the brackets")
	}
	return a.Unmap().String(), nil
}

// readName reads a name or an IPv4 address.
func readName(s string) (string, error) {
	if a, err := netip.ParseAddr(s); err == nil {
		if !a.Is4() {
			return "", errors.New("an IPv6 address needs brackets")
		}
		return a.String(), nil
	}
	s = strings.TrimSuffix(s, ".")
	if s == "" || len(s) > maxName {
		return "", fmt.Errorf("a name has 1 to %d bytes", maxName)
	}
	s = lower(s)
	last := ""
	for label := range strings.SplitSeq(s, ".") {
		if err := checkLabel(label); err != nil {
			return "", err
		}
		last = label
	}
	if last[0] >= '0' && last[0] <= '9' {
		return "", errors.New("its last part begins with a digit, which some take for a number")
	}
	return s, nil
}

// lower changes ASCII letters only: Unicode's rules would map other letters onto them.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func checkLabel(label string) error {
	if label == "" || len(label) > maxLabel {
		return fmt.Errorf("each part between dots has 1 to %d bytes", maxLabel)
	}
	for _, c := range []byte(label) {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return errors.New("a name has only letters, digits, hyphens, dots and underscores of ASCII")
		}
	}
	if label[0] == '-' || label[len(label)-1] == '-' {
		return errors.New("no part begins or ends with a hyphen")
	}
	return nil
}

// isLiteral reports whether a canonical host is an address.
func isLiteral(host string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(host)
	return a, err == nil
}

// join is the authority of a canonical host, without the port when it is the usual one.
func join(host string, port, usual int) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == usual {
		return host
	}
	return host + ":" + strconv.Itoa(port)
}

// quoted makes text from outside fit for a log: printable ASCII, at most some 200 bytes, one line.
func quoted(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most]
	}
	q := strconv.QuoteToASCII(s)
	return q[:min(len(q), 200)]
}
