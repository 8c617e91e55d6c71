package app

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"carrel/sandbox"
	"carrel/sandbox/netproxy"
	"carrel/sandbox/policy"
)

const (
	maxDecisions = 200 // that are kept of a workspace
	maxNetDesks  = 64  // workspaces whose decisions are kept
	maxNextHosts = 100 // that wait for a workspace's next command
	// decisionPause is how long decisions gather before hosts are told of them.
	decisionPause = 150 * time.Millisecond
)

// netLog keeps what the filtering proxy decided lately about the commands of each workspace, and the
// hosts that a person allowed for the next one. It may be used by several goroutines.
type netLog struct {
	tell func(workspace string) // hosts, in a goroutine of its own

	mu     sync.Mutex
	closed bool
	serial int
	of     map[string]*netDesk
}

// netDesk is one workspace's part of the log.
type netDesk struct {
	list []NetworkDecision // oldest first
	next []string          // entries for the next command
	mode policy.Mode       // what held commands before the person switched the sandbox off
	used time.Time
	told *time.Timer // set while hosts are about to be told
}

func newNetLog(tell func(workspace string)) *netLog {
	return &netLog{tell: tell, of: map[string]*netDesk{}}
}

// recorder gives what notes the decisions of one proxy of a workspace.
func (l *netLog) recorder(workspace string) func(netproxy.Decision) {
	l.mu.Lock()
	l.serial++
	serial := l.serial
	l.mu.Unlock()
	return func(d netproxy.Decision) { l.note(workspace, decisionView(serial, d)) }
}

func decisionView(serial int, d netproxy.Decision) NetworkDecision {
	return NetworkDecision{ID: fmt.Sprintf("%d-%d", serial, d.ID), Time: d.Time, Command: short(d.Command), Host: short(d.Host), Port: d.Port,
		Method: d.Method, Rule: short(d.Rule), Reason: short(d.Reason), Grant: short(d.Grant), Allowed: d.Allowed, Ended: d.Ended,
		Sent: d.Sent, Received: d.Received}
}

// note adds a decision, or the end of one that is there.
func (l *netLog) note(workspace string, v NetworkDecision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	desk := l.desk(workspace)
	at := slices.IndexFunc(desk.list, func(o NetworkDecision) bool { return o.ID == v.ID })
	switch {
	case at >= 0:
		v.Time = desk.list[at].Time // when it began
		desk.list[at] = v
	case v.Allowed && v.Ended: // its beginning was pushed out meanwhile
		return
	default:
		if len(desk.list) >= maxDecisions {
			desk.list = slices.Delete(desk.list, 0, len(desk.list)-maxDecisions+1)
		}
		desk.list = append(desk.list, v)
	}
	l.announce(workspace, desk)
}

// desk gives a workspace's part, and forgets the one that was used least lately where there are many.
func (l *netLog) desk(workspace string) *netDesk {
	desk := l.of[workspace]
	if desk == nil {
		desk = &netDesk{}
		if len(l.of) >= maxNetDesks {
			oldest := ""
			for id, d := range l.of {
				if oldest == "" || d.used.Before(l.of[oldest].used) {
					oldest = id
				}
			}
			delete(l.of, oldest)
		}
		l.of[workspace] = desk
	}
	desk.used = time.Now()
	return desk
}

// announce tells hosts, soon and once for all that happens until then.
func (l *netLog) announce(workspace string, desk *netDesk) {
	if desk.told != nil {
		return
	}
	desk.told = time.AfterFunc(decisionPause, func() {
		l.mu.Lock()
		desk.told = nil
		closed := l.closed
		l.mu.Unlock()
		if !closed {
			l.tell(workspace)
		}
	})
}

// changed tells hosts, soon, that there is something new about a workspace's sandbox.
func (l *netLog) changed(workspace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.announce(workspace, l.desk(workspace))
	}
}

// decisions gives what was decided, newest first, and the hosts that the next command may reach.
func (l *netLog) decisions(workspace string) NetworkDecisions {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := NetworkDecisions{List: []NetworkDecision{}, Next: []string{}}
	if desk := l.of[workspace]; desk != nil {
		out.List, out.Next = append(out.List, desk.list...), append(out.Next, desk.next...)
		slices.Reverse(out.List)
	}
	return out
}

// grantable finds the refusal that an entry would have prevented. Where none would, the error says why.
func (l *netLog) grantable(workspace, entry string) error {
	for _, d := range l.decisions(workspace).List {
		switch {
		case d.Allowed:
		case d.Grant == entry && entry != "":
			return nil
		case d.Host == entry && strings.HasPrefix(d.Rule, deniedRule):
			return &Error{Code: "denied_domain", Message: fmt.Sprintf("%s is denied by the entry %s of denied_domains. Remove that entry first, in the settings.",
				entry, strings.TrimPrefix(d.Rule, deniedRule))}
		case d.Host == entry && d.Grant == "":
			return &Error{Code: "not_grantable", Message: fmt.Sprintf("No entry would let this pass: %s.", d.Reason)}
		}
	}
	return &Error{Code: "not_refused", Message: "Only a host that was refused can be allowed here; others belong in the settings."}
}

// deniedRule begins the rule of a decision that an entry of denied_domains made.
const deniedRule = "denied:"

// allowNext lets the next command of a workspace reach hosts.
func (l *netLog) allowNext(workspace string, entries ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	desk := l.desk(workspace)
	for _, e := range entries {
		if !slices.Contains(desk.next, e) && len(desk.next) < maxNextHosts {
			desk.next = append(desk.next, e)
		}
	}
	l.announce(workspace, desk)
}

// takeNext gives what was allowed for the next command, which that uses up.
func (l *netLog) takeNext(workspace string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	desk := l.of[workspace]
	if desk == nil || len(desk.next) == 0 {
		return nil
	}
	next := desk.next
	desk.next = nil
	l.announce(workspace, desk)
	return next
}

// swapMode remembers how commands are held while they are not, and gives what was remembered before.
func (l *netLog) swapMode(workspace string, now policy.Mode) (before policy.Mode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	desk := l.desk(workspace)
	before, desk.mode = desk.mode, now
	return before
}

// forget drops a workspace that is gone.
func (l *netLog) forget(workspace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.of, workspace)
}

// close makes it tell nobody any more.
func (l *netLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, desk := range l.of {
		if desk.told != nil {
			desk.told.Stop()
		}
	}
}

// oneOff is a proxy that lets one command reach what a person allowed for the next one.
type oneOff struct {
	sandbox.Proxy
	log        *netLog
	workspace  string
	configured []string // hosts that a policy without a list allows too
}

// Admit lets a command in, with what waits for it on top of its policy.
func (o oneOff) Admit(command string, p policy.Policy, w sandbox.Way) (env []string, release func(), err error) {
	next := o.log.takeNext(o.workspace)
	if len(next) > 0 {
		p.Allowed = slices.Concat(p.AllowedHosts(o.configured), next)
	}
	env, release, err = o.Proxy.Admit(command, p, w)
	if err != nil {
		o.log.allowNext(o.workspace, next...)
	}
	return env, release, err
}
