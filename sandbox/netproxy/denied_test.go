package netproxy

import "testing"

func TestDeniedEntryIsFound(t *testing.T) {
	r := Rules{Denied: []string{"bad.example.org", "*.evil.example", "odd.example.org:8443", "192.0.2.7"}}
	for entry, want := range map[string]string{
		"bad.example.org":      "bad.example.org",
		"bad.example.org:8443": "bad.example.org",
		"a.evil.example":       "*.evil.example",
		"*.evil.example":       "*.evil.example",
		"evil.example":         "",
		"odd.example.org":      "",
		"odd.example.org:8443": "odd.example.org:8443",
		"192.0.2.7":            "192.0.2.7",
		"good.example.org":     "",
		"*":                    "",
	} {
		if got := r.DeniedBy(entry); got != want {
			t.Errorf("DeniedBy(%q) = %q, want %q", entry, got, want)
		}
	}
	if got := (Rules{Denied: []string{"http://x"}}).DeniedBy("good.example.org"); got != "http://x" {
		t.Errorf("an entry that can't be read lets %q pass", got)
	}
}
