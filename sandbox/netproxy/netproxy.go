// Package netproxy decides which hosts a confined command reaches, and carries what it may send.
//
// It promises: one function (Canonical) turns the name of a host into the value that policy, resolver,
// TLS, Host header and log all use; a denied pattern wins over an allowed one; a name is resolved once
// and the address that was checked is the one that is dialled; addresses of this machine and of private
// networks are never reached through a name; a tunnel carries TLS for its own host and nothing else;
// whatever can't be read without doubt is refused; and every decision is told to Config.Log.
//
// A command comes in by one of three ways. Serve is an explicit HTTP proxy (absolute form and CONNECT)
// with credentials per command. ServeTransparent takes connections that a network namespace captured,
// for tools that know no proxies, together with Names, its name server. With Config.Gateway set both
// terminate TLS and let only reads pass, for a remote sandbox.
package netproxy

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// Resolver looks names up. Names come with their last dot, so that no search list applies.
// *net.Resolver is one.
type Resolver interface {
	// LookupNetIP returns the addresses of host; network is "ip".
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Limits bound what commands cost. Zero fields take the defaults.
type Limits struct {
	// TunnelsPerCommand is how many tunnels and requests one command has open at once; 256.
	TunnelsPerCommand int
	// Connections is how many one listener serves at once, 1,024. More wait in its backlog.
	Connections int
	// HeaderBytes bounds the head of a request, 32 KiB; URIBytes its target, 8 KiB and 4 KiB in a gateway.
	HeaderBytes, URIBytes int
	// Head is how long a client may take to send a request's head or a ClientHello, 10 s; Dial how long
	// one host may take to be resolved and connected, 15 s; Answer how long until its answer begins, 5 min.
	Head, Dial, Answer time.Duration
}

// Config is what a Proxy works with. The zero value works.
type Config struct {
	Resolver Resolver // nil is the system's
	// Dial connects to a checked address; nil is a plain net.Dialer.
	Dial func(ctx context.Context, network string, address netip.AddrPort) (net.Conn, error)
	// Log gets every decision, from many goroutines at once; it must not block. A refusal comes once, what
	// was allowed comes when it begins and again, with Ended set, when it is over.
	Log     func(Decision)
	Limits  Limits
	Gateway *Gateway // nil: tunnels stay opaque and every method passes
}

// Decision is one answer of the policy. Every text in it is bounded and printable ASCII.
type Decision struct {
	ID      int64 // pairs the beginning of what was allowed with its end
	Time    time.Time
	Command string // as given to Admit; "" when the credentials were missing or wrong
	// Host is canonical. Of a target that could not be read it is the target's quoted beginning.
	Host   string
	Port   int    // 0 when the target could not be read
	Method string // CONNECT for tunnels, captured ones too
	// Rule is what decided: a Rule constant, "allowed:PATTERN" or "denied:PATTERN".
	Rule    string
	Allowed bool
	// Reason is a sentence for people, "" when allowed.
	Reason string
	// Grant is the entry of Rules.Allowed that a person may add so that the same request passes. "" means
	// that no approval helps: a denied entry stands, or the request is refused whatever the list says.
	Grant string
	Ended bool
	// Sent and Received count the payload in bytes, seen from the command; both 0 until Ended.
	Sent, Received int64
	Status         int // of the answer to a plain or terminated request; 0 for an opaque tunnel
	URIBytes       int // length of the target: what a read could have leaked
}

// Credentials are what one command shows to the proxy. They end with the command.
type Credentials struct{ User, Password string }

// String hides the password, so that no log shows it by accident.
func (c Credentials) String() string { return c.User + ":***" }

// GoString hides the password too.
func (c Credentials) GoString() string { return c.String() }
