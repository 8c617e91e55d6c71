package filter

import (
	"fmt"
	"slices"
	"testing"

	"carrel/sandbox"
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

// A running command keeps what was allowed to it alone, and loses what is taken from all.
func TestRunningCommandsFollowThePolicy(t *testing.T) {
	now := policy.Policy{Network: policy.NetworkAllowlist, Allowed: []string{"a.test", "b.test"}}
	f := New(Config{Policy: func() policy.Policy { return now }})
	own := now
	own.Allowed = []string{"a.test", "b.test", "once.test"}
	_, release, err := f.Admit("one", own, sandbox.Way{})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for _, step := range []struct {
		what    string
		policy  policy.Policy
		allowed []string
		denied  []string
		closed  bool
	}{
		{"nothing changed", now, []string{"a.test", "b.test", "once.test"}, nil, false},
		{"an entry is gone", policy.Policy{Network: policy.NetworkAllowlist, Allowed: []string{"b.test"}}, []string{"b.test", "once.test"}, nil, false},
		{"one is denied", policy.Policy{Network: policy.NetworkAllowlist, Allowed: []string{"c.test"}, Denied: []string{"once.test"}}, []string{"c.test", "once.test"}, []string{"once.test"}, false},
		{"the network is off", policy.Policy{Network: policy.NetworkDeny, Allowed: []string{"a.test"}}, []string{"a.test", "once.test"}, nil, true},
		{"the settings can't be read", policy.Policy{Allowed: []string{}}, []string{"once.test"}, nil, true},
		{"the network is open for others", policy.Policy{Network: policy.NetworkAllow, Allowed: []string{"z.test"}, Denied: []string{"d.test"}}, own.Allowed, []string{"d.test"}, false},
	} {
		now = step.policy
		r := f.anyRules()
		if !slices.Equal(r.Allowed, step.allowed) || !slices.Equal(r.Denied, step.denied) || r.Closed != step.closed {
			t.Errorf("%s: %+v", step.what, r)
		}
	}
	if !slices.Equal(own.Allowed, []string{"a.test", "b.test", "once.test"}) {
		t.Error("the caller's list was changed:", own.Allowed)
	}
	release()
	now = policy.Policy{Network: policy.NetworkDeny}
	if r := f.anyRules(); !r.Closed {
		t.Errorf("with no command: %+v", r)
	}
}
