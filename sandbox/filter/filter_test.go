package filter

import (
	"fmt"
	"testing"

	"carrel/sandbox/policy"
)

func TestPrivateNetworksComeFromThePolicy(t *testing.T) {
	f := New(Config{})
	if got := f.rules(policy.Policy{}).Private; len(got) != 0 {
		t.Errorf("%v without an entry", got)
	}
	got := fmt.Sprint(f.rules(policy.Policy{AllowPrivate: []string{"10.20.0.0/16", "127.0.0.1", "x", "192.168.7.7"}}).Private)
	if got != "[10.20.0.0/16 192.168.7.7/32]" {
		t.Error(got)
	}
}
