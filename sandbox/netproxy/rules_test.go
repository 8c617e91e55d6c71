package netproxy

import (
	"net/netip"
	"strings"
	"testing"
)

func TestRules(t *testing.T) {
	rules := Rules{
		Allowed: []string{"a.test", "*.b.test", "1.2.3.4", "::1", "[2001:db8::1]:8443", "Ssh.Test.:22", "*.p.test:8443", "x.denied.test"},
		Denied:  []string{"no.b.test", "*.denied.test", "a.test:8080", "5.6.7.8"},
	}
	for _, c := range []struct {
		host   string
		port   int
		tunnel bool
		rule   string
		grant  string
	}{
		{"a.test", 443, true, "allowed:a.test", ""},
		{"a.test", 80, false, "allowed:a.test", ""},
		{"a.test", 3000, false, RulePort, "a.test:3000"},
		{"a.test", 22, false, RulePort, "a.test:22"},
		{"1.2.3.4", 3000, false, "allowed:1.2.3.4", ""},
		{"1.2.3.4", 3000, true, RulePort, "1.2.3.4:3000"},
		{"a.test", 8443, true, RulePort, "a.test:8443"},
		{"a.test", 8080, false, "denied:a.test:8080", ""},
		{"sub.a.test", 443, true, RuleNotListed, "sub.a.test"},
		{"b.test", 443, true, RuleNotListed, "b.test"},
		{"x.y.b.test", 443, true, "allowed:*.b.test", ""},
		{"no.b.test", 443, true, "denied:no.b.test", ""},
		{"xb.test", 443, true, RuleNotListed, "xb.test"},
		{"1.2.3.4", 443, true, "allowed:1.2.3.4", ""},
		{"1.2.3.5", 443, true, RuleLiteral, "1.2.3.5"},
		{"1.2.3.5", 22, true, RuleLiteral, "1.2.3.5:22"},
		{"5.6.7.8", 443, true, "denied:5.6.7.8", ""},
		{"::1", 3000, false, "allowed:::1", ""},
		{"::2", 8443, true, RuleLiteral, "[::2]:8443"},
		{"2001:db8::1", 8443, true, "allowed:[2001:db8::1]:8443", ""},
		{"ssh.test", 22, true, "allowed:ssh.test:22", ""},
		{"ssh.test", 443, true, RulePort, "ssh.test"},
		{"q.p.test", 8443, true, "allowed:*.p.test:8443", ""},
		{"x.denied.test", 443, true, "denied:*.denied.test", ""},
	} {
		rule, no := rules.decide(c.host, c.port, c.tunnel)
		grant := ""
		if no != nil {
			rule, grant = no.rule, no.grant
		}
		if rule != c.rule || grant != c.grant {
			t.Errorf("%s port %d: rule %q grant %q, want %q %q", c.host, c.port, rule, grant, c.rule, c.grant)
		}
		if no == nil || grant == "" {
			continue
		}
		// A grant is exactly what was missing.
		with := rules
		with.Allowed = append(append([]string{}, rules.Allowed...), grant)
		if _, no := with.decide(c.host, c.port, c.tunnel); no != nil {
			t.Errorf("%s port %d: still refused with %q: %v", c.host, c.port, grant, no)
		}
	}
}

func TestRulesAllowNothingByDefault(t *testing.T) {
	if _, no := (Rules{}).decide("a.test", 443, true); no == nil || no.rule != RuleNotListed {
		t.Error(no)
	}
}

func TestRulesThatCannotBeReadDenyEverything(t *testing.T) {
	rules := Rules{Allowed: []string{"a.test", "b*"}, Denied: []string{"https://evil.test"}}
	if _, no := rules.decide("a.test", 443, true); no == nil || no.rule != RuleUnreadable || no.grant != "" {
		t.Error(no)
	}
	rules.Denied = nil
	if _, no := rules.decide("a.test", 443, true); no != nil {
		t.Error("an unreadable allowed entry must only match nothing:", no)
	}
}

func TestValidateSaysWhatToWriteInstead(t *testing.T) {
	for pattern, hint := range map[string]string{
		"https://a.test/x": `write the host alone, without a scheme: "a.test/x"`,
		"*":                `set network to "allow"`,
		"a.*.test":         "only at the front",
		"**.test":          "only at the front",
		"a.test/path":      "without a path",
		"ä.test":           "ASCII form (xn--...)",
		"a.test:0443":      "plain number",
		"*.1.2.3.4":        "nothing below it",
		"user@a.test":      "letters, digits",
		"":                 "1 to 253 bytes",
		"127.1":            "begins with a digit",
		"*.":               "1 to 253 bytes",
	} {
		err := (Rules{Denied: []string{"ok.test", pattern}}).Validate()
		if err == nil || !strings.Contains(err.Error(), hint) || strings.Contains(err.Error(), "ok.test") {
			t.Errorf("%q: %v, want %q", pattern, err, hint)
		}
	}
	if err := (Rules{Allowed: []string{"a.test", "*.b.test:8443", "::1", "[::1]:80", "10.0.0.1:8080"}}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestNamesReachNoAddressOfThisMachineOrItsNetworks(t *testing.T) {
	s := newAddresses()
	own := []netip.Addr{netip.MustParseAddr("11.0.1.77")}
	for a, want := range map[string]bool{
		"11.0.1.1": true, "8.8.8.8": true, "2606:4700::1": true, "172.32.0.1": true, "100.63.0.1": true,
		"127.0.0.1": false, "127.9.9.9": false, "0.0.0.0": false, "0.1.2.3": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false,
		"100.64.0.1": false, "169.254.169.254": false, "224.0.0.1": false, "255.255.255.255": false, "240.0.0.1": false, "192.0.2.1": false,
		"198.18.0.1": false, "192.0.0.192": false, "168.63.129.16": false, "11.0.1.77": false,
		"::": false, "::1": false, "fe80::1": false, "fc00::1": false, "fd00:ec2::254": false, "ff02::1": false, "64:ff9b::7f00:1": false,
		"64:ff9b:1::1": false, "2002:7f00:1::": false, "2001::1": false, "2001:db8::1": false, "fec0::1": false, "100::1": false, "4000::1": false,
	} {
		if got := s.reachable(netip.MustParseAddr(a), nil, own); got != want {
			t.Errorf("%s: %v", a, got)
		}
	}
	open := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	for a, want := range map[string]bool{"10.1.2.3": true, "fd12::1": true, "127.0.0.1": false, "169.254.169.254": false, "100.100.100.200": false,
		"fd00:ec2::254": false, "::1": false, "11.0.1.77": false, "fe80::1": false} {
		if got := s.reachable(netip.MustParseAddr(a), open, own); got != want {
			t.Errorf("with private networks open, %s: %v", a, got)
		}
	}
	if len(interfaceAddresses()) == 0 {
		t.Error("this machine has no addresses")
	}
}
