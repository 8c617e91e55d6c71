package netproxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// What decided, besides "allowed:PATTERN" and "denied:PATTERN".
const (
	RuleNotListed   = "not-listed"        // a person may allow it: see Decision.Grant
	RuleLiteral     = "ip-literal"        // likewise; an address needs an entry of its own
	RuleClosed      = "closed"            // the network was switched off
	RulePort        = "port"              // likewise outside a gateway; the host is allowed, the port is not
	RuleAddress     = "address"           // the name leads to this machine or a private network
	RuleUnreachable = "unreachable"       // allowed, but it could not be resolved or connected
	RuleUnreadable  = "unreadable-rule"   // an entry of denied_domains makes no sense
	RuleLimit       = "limit"             // the command has too much open at once
	RuleCredentials = "credentials"       // missing, wrong or over
	RuleRequest     = "bad-request"       // the head of the request is not strictly HTTP
	RuleVersion     = "http-version"      // not HTTP/1.1
	RuleHeaders     = "headers-too-large" //
	RuleURI         = "uri-too-long"      //
	RuleForm        = "target-form"       // neither http://HOST/..., nor what a tunnel carries
	RuleAuthority   = "bad-authority"     // Canonical refuses the host
	RuleHost        = "host-mismatch"     // the Host header names another host than the target
	RuleUpgrade     = "upgrade"           // the connection was to become something else than HTTP
	RuleNotTLS      = "not-tls"           // a tunnel began with something else; also of SSH at port 22
	RuleServerName  = "server-name"       // the ClientHello names another host than the tunnel
	RuleMethod      = "method"            // gateway: not a read
	RuleBody        = "body"              // gateway: a read with a body; everywhere: CONNECT with one
	RuleGit         = "git"               // gateway: a git service other than fetching, or a git path with tricks
	RuleMirror      = "mirror"            // gateway: a mirror may not fetch from that origin
)

// refusal is why something does not pass, and how the client hears of it.
type refusal struct {
	status int
	rule   string
	reason string // a sentence for people, without its last dot
	grant  string // see Decision
}

// Error makes a refusal travel through dialling.
func (r *refusal) Error() string { return r.reason }

func badRequest(reason string) *refusal {
	return &refusal{status: http.StatusBadRequest, rule: RuleRequest, reason: reason}
}

// headers of the answer that tells the client.
func (r *refusal) headers(h http.Header) {
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Proxy-Rule", r.rule)
	h.Set("Connection", "close")
	if r.status == http.StatusProxyAuthRequired {
		h.Set("Proxy-Authenticate", `Basic realm="carrel"`)
	}
}

// answer sends the refusal over a plain connection and closes it so that the client can read it.
func (r *refusal) answer(c net.Conn) {
	text := r.reason + "\n"
	h := http.Header{"Content-Length": {strconv.Itoa(len(text))}}
	r.headers(h)
	_ = c.SetWriteDeadline(time.Now().Add(patience)) // a dead connection fails below
	if _, err := fmt.Fprintf(c, "HTTP/1.1 %d %s\r\n", r.status, http.StatusText(r.status)); err != nil {
		return
	}
	if h.Write(c) != nil {
		return
	}
	if _, err := io.WriteString(c, "\r\n"+text); err == nil {
		linger(c)
	}
}

const (
	patience  = 5 * time.Second        // for a few bytes to a client
	lingering = 500 * time.Millisecond // for a client to read its refusal
)

// say tells a client in its own protocol that it is refused, and closes like answer.
func say(c net.Conn, text []byte) {
	_ = c.SetWriteDeadline(time.Now().Add(patience))
	if _, err := c.Write(text); err == nil {
		linger(c)
	}
}

// linger ends our side and swallows what the client still sends: closing with unread bytes would make
// the kernel reset the connection and drop the answer.
func linger(c net.Conn) {
	if w, ok := c.(interface{ CloseWrite() error }); !ok || w.CloseWrite() != nil {
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(lingering))
	_, _ = io.CopyN(io.Discard, c, 256<<10) // whatever ends it, the connection is closed next
}
