package netproxy

import (
	"fmt"
	"strings"
	"testing"
)

// Only networks that are private as a whole can be listed: what is never reachable stays so.
func TestNetworksAreReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.0/8": "10.0.0.0/8", "10.20.30.40/16": "10.20.0.0/16", "192.168.1.9": "192.168.1.9/32", "100.64.0.0/10": "100.64.0.0/10",
		"::ffff:10.1.2.3": "10.1.2.3/32", "fd12:3456::/32": "fd12:3456::/32", "fd00::1": "fd00::1/128",
		"": "", "10": "", "10.0.0.0": "10.0.0.0/32", "10.0.0.0/7": "", "0.0.0.0/0": "", "::/0": "", "fc00::/6": "", "127.0.0.0/8": "", "127.0.0.1": "",
		"169.254.169.254": "", "169.254.0.0/16": "", "8.8.8.0/24": "", "2001:db8::/32": "", "64:ff9b::/96": "", "::1": "", "fe80::1%eth0": "", "fe80::/10": "",
		"::ffff:10.0.0.0/104": "", "registry.corp.test": "", "010.0.0.1": "", "10.0.0.0/8 ": "", "10.0.0.0/08": "",
	} {
		list, err := Networks([]string{text, "172.16.0.0/12"})
		got := ""
		if len(list) == 2 {
			got = list[0].String()
		}
		if got != want || (err == nil) != (want != "") || list[len(list)-1].String() != "172.16.0.0/12" {
			t.Errorf("%q: %v, %v, want %q", text, list, err, want)
		}
	}
	if _, err := Networks([]string{"a\nb", "c"}); err == nil || strings.Count(fmt.Sprint(err), "\n") != 1 {
		t.Errorf("%v", err)
	}
}
