package netproxy

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// Networks reads what people write for Rules.Private: networks such as 10.20.0.0/16, or single addresses.
// It gives those that it can read, and an error that says what is wrong with each of the rest. All of a
// network must be private (RFC 1918, RFC 4193 or RFC 6598): names lead to public ones anyway, and to this
// machine, link-local and metadata addresses never.
func Networks(texts []string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	var errs []error
	private := newAddresses().private
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if a, aerr := netip.ParseAddr(text); aerr == nil && a.Zone() == "" {
			a = a.Unmap()
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("read private network %s: write an address or a network such as 10.20.0.0/16", quoted(text)))
			continue
		}
		p = p.Masked()
		if !slices.ContainsFunc(private, func(all netip.Prefix) bool { return all.Bits() <= p.Bits() && all.Contains(p.Addr()) }) {
			errs = append(errs, fmt.Errorf("read private network %s: it is not private: names lead to public addresses anyway, and to this machine's never", quoted(text)))
			continue
		}
		list = append(list, p)
	}
	return list, errors.Join(errs...)
}
