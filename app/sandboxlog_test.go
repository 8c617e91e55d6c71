package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"carrel/sandbox"
	"carrel/sandbox/netproxy"
	"carrel/sandbox/policy"
)

// quietLog is a log that tells nobody.
func quietLog(t *testing.T) *netLog {
	l := newNetLog(func(string) {})
	t.Cleanup(l.close)
	return l
}

func refusal(id int64, host, rule, grant string) netproxy.Decision {
	return netproxy.Decision{ID: id, Time: time.Now(), Host: host, Port: 443, Rule: rule, Reason: host + " is refused", Grant: grant, Ended: true}
}

func codeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestDecisionAndItsEndAreOneLine(t *testing.T) {
	l := quietLog(t)
	one, two := l.recorder("w"), l.recorder("w") // proxies count from one each
	begun := time.Now().Add(-time.Minute)
	one(netproxy.Decision{ID: 1, Time: begun, Host: "a.example", Allowed: true})
	two(netproxy.Decision{ID: 1, Time: begun, Host: "b.example", Allowed: true})
	one(netproxy.Decision{ID: 1, Time: time.Now(), Host: "a.example", Allowed: true, Ended: true, Sent: 3, Received: 5})
	got := l.decisions("w").List
	if len(got) != 2 {
		t.Fatalf("%d lines: %+v", len(got), got)
	}
	if a := got[1]; a.Host != "a.example" || !a.Ended || a.Sent != 3 || a.Received != 5 || !a.Time.Equal(begun) {
		t.Errorf("the end of a connection reads %+v", a)
	}
	if got[0].Host != "b.example" || got[0].Ended {
		t.Errorf("the other proxy's connection reads %+v", got[0])
	}
}

func TestDecisionsAreBounded(t *testing.T) {
	l := quietLog(t)
	note := l.recorder("w")
	for i := range int64(maxDecisions + 50) {
		note(refusal(i, fmt.Sprintf("h%d.example", i), netproxy.RuleNotListed, ""))
	}
	got := l.decisions("w").List
	if len(got) != maxDecisions || got[0].Host != "h249.example" {
		t.Errorf("%d decisions, the newest about %s", len(got), got[0].Host)
	}
	note(netproxy.Decision{ID: 1, Host: "h1.example", Allowed: true, Ended: true}) // the end of one that was pushed out
	if got := l.decisions("w").List; got[0].Host != "h249.example" {
		t.Errorf("an end without a beginning is listed: %+v", got[0])
	}
	for i := range maxNetDesks + 5 {
		l.recorder(fmt.Sprint("w", i))(refusal(1, "x.example", netproxy.RuleNotListed, ""))
	}
	if len(l.of) > maxNetDesks {
		t.Errorf("decisions of %d workspaces are kept", len(l.of))
	}
}

func TestOnlyARefusedHostThatNoEntryDeniesCanBeAllowed(t *testing.T) {
	l := quietLog(t)
	note := l.recorder("w")
	note(refusal(1, "new.example", netproxy.RuleNotListed, "new.example"))
	note(refusal(2, "bad.example", "denied:*.example", ""))
	note(refusal(3, "own.example", "private", ""))
	for host, want := range map[string]string{"new.example": "", "bad.example": "denied_domain", "own.example": "not_grantable", "other.example": "not_refused", "": "not_refused"} {
		if got := codeOf(l.grantable("w", host)); got != want {
			t.Errorf("allow %q: %q, want %q", host, got, want)
		}
	}
	if got := codeOf(l.grantable("other", "new.example")); got != "not_refused" {
		t.Errorf("what was refused in one workspace can be allowed in another: %q", got)
	}
}

// door records the policies that commands come in under.
type door struct {
	seen []policy.Policy
	fail error
}

func (*door) Serve(context.Context, sandbox.Listeners) {}

func (d *door) Admit(_ string, p policy.Policy, _ sandbox.Way) ([]string, func(), error) {
	d.seen = append(d.seen, p)
	return nil, func() {}, d.fail
}

func TestHostForTheNextCommandIsUsedUpByIt(t *testing.T) {
	l := quietLog(t)
	d := &door{}
	p := oneOff{Proxy: d, log: l, workspace: "w", configured: []string{"mirror.example"}}
	l.allowNext("w", "new.example")
	l.allowNext("w", "new.example")
	if got := l.decisions("w").Next; !slices.Equal(got, []string{"new.example"}) {
		t.Fatalf("waiting: %v", got)
	}
	d.fail = errors.New("no")
	if _, _, err := p.Admit("one", policy.Policy{}, sandbox.Way{}); err == nil {
		t.Fatal("the failure got lost")
	}
	d.fail = nil
	for range 2 {
		if _, _, err := p.Admit("one", policy.Policy{}, sandbox.Way{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.seen[1].Allowed; !slices.Contains(got, "new.example") || !slices.Contains(got, "mirror.example") {
		t.Errorf("the next command reaches %v", got)
	}
	if got := d.seen[2].Allowed; got != nil {
		t.Errorf("the one after it reaches %v too", got)
	}
	if got := l.decisions("w").Next; len(got) != 0 {
		t.Errorf("still waiting: %v", got)
	}
}

func TestManyDecisionsAreToldAtOnce(t *testing.T) {
	told := make(chan string, 100)
	l := newNetLog(func(id string) { told <- id })
	defer l.close()
	note := l.recorder("w")
	for i := range int64(50) {
		note(refusal(i, "a.example", netproxy.RuleNotListed, ""))
	}
	if id := <-told; id != "w" {
		t.Fatalf("told of %q", id)
	}
	if n := len(told); n > 2 {
		t.Errorf("told %d times more", n)
	}
}
