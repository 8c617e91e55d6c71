package netproxy

import (
	"context"
	"errors"
	"net"
)

var errLater = errors.New("not there yet")

// Proxy serves any number of listeners and commands.
type Proxy struct{ config Config }

// New makes a proxy. It holds nothing that needs closing.
func New(c Config) *Proxy { return &Proxy{config: c} }

// Admit lets a command in. rules is asked for each decision, so an approval counts at once. release takes
// the credentials back and ends what the command still has open; it may be called more than once.
func (p *Proxy) Admit(command string, rules func() Rules) (c Credentials, release func()) {
	return Credentials{}, func() {}
}

// Serve is the explicit proxy on l, until ctx ends or l fails. It closes l, ends every connection that
// came through it, and returns after the last one: nil when ctx ended.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error { return errLater }

// ServeTransparent takes connections whose LocalAddr is where the client wanted to go: an address that
// names gave out, or a literal one. Port 443 must carry TLS for that host, port 80 HTTP for it; other
// ports are refused. All of them count as command's. It ends like Serve.
func (p *Proxy) ServeTransparent(ctx context.Context, l net.Listener, names *Names, command string, rules func() Rules) error {
	return errLater
}

// Names is a name server that knows every name: each one gets an address of its own from 198.18.0.0/15,
// by which ServeTransparent recognises it. Nothing is asked of any other server. Safe for concurrent use.
type Names struct{}

// NewNames returns an empty one. It remembers the 4,096 names that were used last.
func NewNames() *Names { return &Names{} }

// ServeDNS answers on pc until ctx ends, then closes it and returns nil.
func (n *Names) ServeDNS(ctx context.Context, pc net.PacketConn) error { return errLater }

// Environment returns the variables ("NAME=value") that send a command's tools through the proxy at addr
// ("127.0.0.1:PORT"): both cases for those who read either, git, node, java, grpc. helper is the path of
// our static helper, for ssh; "" leaves ssh out.
func Environment(addr string, c Credentials, helper string) []string { return nil }

// Canonical reads "host" or "host:port". The name comes back in lower case without a last dot, an IP
// literal in its shortest form without brackets; the port is 0 when there is none. Whatever two parsers
// could read in two ways is an error.
func Canonical(authority string) (host string, port int, err error) { return "", 0, errLater }

// Gateway makes the proxy a read-only way out: TLS is terminated with Authority, only GET, HEAD and what
// git needs to fetch pass, request headers are cut to an allow list.
type Gateway struct{}
