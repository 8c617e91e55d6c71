package netproxy

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/netip"
	"strings"
	"sync"
)

// session is one admitted command: its policy, and what it has open.
type session struct {
	command  func() string // bounded
	rules    func() Rules
	password string
	most     int // open connections

	mu   sync.Mutex
	open map[*opened]struct{} // nil once the command is over
}

// opened is one connection of a command.
type opened struct {
	session *session
	end     context.CancelFunc
	way     *way // what was allowed in it last; nil: nothing. The session's lock guards it
}

// way is where a connection leads.
type way struct {
	decision Decision
	tunnel   bool       // opaque, or to be terminated
	address  netip.Addr // that was connected; invalid before, and where the host is an address itself
}

func newSession(command string, rules func() Rules, most int) *session {
	command = bounded(command)
	return &session{command: func() string { return command }, rules: rules, most: most, open: map[*opened]struct{}{}}
}

// enter counts a connection, which end closes; leave gives its place back.
func (s *session) enter(end context.CancelFunc) (*opened, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.open == nil:
		return nil, credentialsRefusal()
	case len(s.open) >= s.most:
		return nil, &refusal{status: http.StatusTooManyRequests, rule: RuleLimit,
			reason: "the command has too many connections open at once"}
	}
	o := &opened{session: s, end: end}
	s.open[o] = struct{}{}
	return o, nil
}

func (o *opened) leave() {
	o.session.mu.Lock()
	defer o.session.mu.Unlock()
	delete(o.session.open, o)
}

// leads notes where a connection leads; nil: nowhere any more.
func (o *opened) leads(w *way) {
	o.session.mu.Lock()
	defer o.session.mu.Unlock()
	o.way = w
}

// connected notes the address that a name led to.
func (o *opened) connected(a netip.Addr) {
	o.session.mu.Lock()
	defer o.session.mu.Unlock()
	if o.way != nil {
		led := *o.way
		led.address = a
		o.way = &led
	}
}

// end closes what the command has open and lets nothing in any more.
func (s *session) end() {
	s.mu.Lock()
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for o := range open {
		o.end()
	}
}

// bounded keeps a command's name fit for a log: one line of printable ASCII, else quoted.
func bounded(command string) string {
	if len(command) > maxCommand || strings.ContainsFunc(command, func(r rune) bool { return r < ' ' || r > '~' }) {
		return quoted(command)
	}
	return command
}

const maxCommand = 120 // bytes

// sessions are the admitted commands by user name.
type sessions struct {
	mu     sync.Mutex
	byUser map[string]*session
	caught map[*session]struct{} // those of captured connections
}

// Admit lets a command in. rules is asked for each decision, so an approval counts at once; what was allowed
// before stays open until Recheck. release takes the credentials back and ends what the command still has open; it may be called more than once.
func (p *Proxy) Admit(command string, rules func() Rules) (c Credentials, release func()) {
	c = Credentials{User: "c" + random(6), Password: random(20)}
	s := newSession(command, rules, p.config.Limits.TunnelsPerCommand)
	s.password = c.Password
	p.sessions.mu.Lock()
	defer p.sessions.mu.Unlock()
	p.sessions.byUser[c.User] = s
	return c, func() {
		p.sessions.mu.Lock()
		delete(p.sessions.byUser, c.User)
		p.sessions.mu.Unlock()
		s.end()
	}
}

// random is n bytes from the system as hex digits, which need no escaping in a URL.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails: see its documentation
	return hex.EncodeToString(b)
}

// identify finds the command that a request's Proxy-Authorization headers belong to.
func (p *Proxy) identify(headers []string) (*session, *refusal) {
	if len(headers) != 1 {
		return nil, credentialsRefusal()
	}
	scheme, text, _ := strings.Cut(headers[0], " ")
	pair, err := base64.StdEncoding.DecodeString(text)
	if err != nil || lower(scheme) != "basic" {
		return nil, credentialsRefusal()
	}
	user, password, _ := strings.Cut(string(pair), ":")
	p.sessions.mu.Lock()
	s := p.sessions.byUser[user]
	p.sessions.mu.Unlock()
	if s == nil || subtle.ConstantTimeCompare([]byte(password), []byte(s.password)) != 1 {
		return nil, credentialsRefusal()
	}
	return s, nil
}

func credentialsRefusal() *refusal {
	return &refusal{status: http.StatusProxyAuthRequired, rule: RuleCredentials,
		reason: "the proxy wants this command's credentials; use HTTP_PROXY as it is set"}
}
