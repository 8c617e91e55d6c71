package netproxy

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	maxNames  = 4096
	nameTTL   = 60  // seconds
	maxPacket = 512 // bytes of a question; longer ones are cut and make no sense then
)

// Names is a name server that knows every name: each one gets an address of its own from 198.18.0.0/15,
// by which ServeTransparent recognises it. No other server is asked, so a question carries nothing out.
// Safe for concurrent use.
type Names struct {
	pool netip.Prefix

	mu     sync.Mutex
	byName map[string]*list.Element // of *given
	byAddr map[netip.Addr]*list.Element
	recent *list.List // the first was used last
	next   netip.Addr
}

type given struct {
	name string
	addr netip.Addr
}

// NewNames returns an empty one. It remembers the 4,096 names that were used last.
func NewNames() *Names {
	pool := netip.MustParsePrefix("198.18.0.0/15")
	return &Names{pool: pool, byName: map[string]*list.Element{}, byAddr: map[netip.Addr]*list.Element{},
		recent: list.New(), next: pool.Addr().Next()}
}

// Address returns the address that stands for a name, giving it one first.
func (n *Names) Address(name string) (netip.Addr, error) {
	host, port, err := Canonical(name)
	if _, ip := isLiteral(host); err != nil || ip || port != 0 {
		return netip.Addr{}, fmt.Errorf("give %s an address: it is no name (%w)", quoted(name), err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if e := n.byName[host]; e != nil {
		n.recent.MoveToFront(e)
		return e.Value.(*given).addr, nil
	}
	if n.recent.Len() >= maxNames {
		old := n.recent.Remove(n.recent.Back()).(*given)
		delete(n.byName, old.name)
		delete(n.byAddr, old.addr)
	}
	g := &given{name: host, addr: n.free()}
	e := n.recent.PushFront(g)
	n.byName[host], n.byAddr[g.addr] = e, e
	return g.addr, nil
}

// free takes the next address round the pool, so that one is used again as late as can be. The pool is
// larger than what is remembered.
func (n *Names) free() netip.Addr {
	for {
		a := n.next
		if n.next = a.Next(); !n.pool.Contains(n.next) {
			n.next = n.pool.Addr().Next()
		}
		if n.byAddr[a] == nil {
			return a
		}
	}
}

// Host returns the name that an address stands for.
func (n *Names) Host(a netip.Addr) (string, bool) {
	if n == nil {
		return "", false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.byAddr[a]
	if e == nil {
		return "", false
	}
	n.recent.MoveToFront(e)
	return e.Value.(*given).name, true
}

// gave reports whether a can only be an address that was given to a name.
func (n *Names) gave(a netip.Addr) bool { return n != nil && n.pool.Contains(a) }

// ServeDNS answers on pc until ctx ends, then closes it and returns nil.
func (n *Names) ServeDNS(ctx context.Context, pc net.PacketConn) error {
	stop := context.AfterFunc(ctx, func() { _ = pc.Close() })
	defer stop()
	defer func() { _ = pc.Close() }()
	buf := make([]byte, maxPacket)
	for failures := 0; ; {
		size, from, err := pc.ReadFrom(buf)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			// One client's port may be closed before its answer comes; a socket that only fails is gone.
			if failures++; errors.Is(err, net.ErrClosed) || failures > 100 {
				return fmt.Errorf("answer names: %w", err)
			}
			continue
		}
		failures = 0
		if answer := n.answer(buf[:size]); answer != nil {
			_, _ = pc.WriteTo(answer, from) // a client that is gone asks no more
		}
	}
}

// answer is the answer to one packet; nil when it deserves none.
func (n *Names) answer(packet []byte) []byte {
	var p dnsmessage.Parser
	h, err := p.Start(packet)
	if err != nil || h.Response {
		return nil
	}
	reply := dnsmessage.Message{Header: dnsmessage.Header{ID: h.ID, Response: true, OpCode: h.OpCode,
		Authoritative: true, RecursionDesired: h.RecursionDesired, RecursionAvailable: true}}
	q, err := p.Question()
	switch {
	case err != nil || h.OpCode != 0:
		reply.RCode = dnsmessage.RCodeNotImplemented
	default:
		reply.Questions = []dnsmessage.Question{q}
		reply.Answers, reply.RCode = n.records(q)
	}
	out, err := reply.Pack()
	if err != nil {
		return nil
	}
	return out
}

func (n *Names) records(q dnsmessage.Question) ([]dnsmessage.Resource, dnsmessage.RCode) {
	host, _, err := Canonical(q.Name.String())
	if _, ip := isLiteral(host); err != nil || ip || q.Class != dnsmessage.ClassINET {
		return nil, dnsmessage.RCodeNameError
	}
	addr := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	switch {
	case host == "localhost" || strings.HasSuffix(host, ".localhost"):
	case !strings.Contains(host, ".") || strings.HasSuffix(host, ".arpa"): // nothing on the Internet
		return nil, dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		if addr, err = n.Address(host); err != nil {
			return nil, dnsmessage.RCodeNameError
		}
	}
	if q.Type != dnsmessage.TypeA {
		return nil, dnsmessage.RCodeSuccess // the name is there, but not in that kind
	}
	return []dnsmessage.Resource{{
		Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: nameTTL},
		Body:   &dnsmessage.AResource{A: addr.As4()},
	}}, dnsmessage.RCodeSuccess
}
