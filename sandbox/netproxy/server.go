package netproxy

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy serves any number of listeners and commands.
type Proxy struct {
	config    Config
	sessions  sessions
	addresses addresses
	forward   *httputil.ReverseProxy
	carriers  *carriers
	lastID    atomic.Int64
	changes   atomic.Int64 // calls of Recheck
}

// New makes a proxy. It holds nothing that needs closing.
func New(c Config) *Proxy {
	orNumber(&c.Limits.TunnelsPerCommand, 256)
	orNumber(&c.Limits.Connections, 1024)
	orNumber(&c.Limits.HeaderBytes, 32<<10)
	orNumber(&c.Limits.Head, 10*time.Second)
	orNumber(&c.Limits.Dial, 15*time.Second)
	orNumber(&c.Limits.Answer, 5*time.Minute)
	if c.Gateway != nil {
		orNumber(&c.Limits.URIBytes, 4<<10)
	}
	orNumber(&c.Limits.URIBytes, 8<<10)
	if c.Resolver == nil {
		c.Resolver = &net.Resolver{}
	}
	if c.Dial == nil {
		c.Dial = func(ctx context.Context, network string, a netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialTCP(ctx, network, netip.AddrPort{}, a)
		}
	}
	p := &Proxy{config: c, addresses: newAddresses(), carriers: newCarriers()}
	p.sessions.byUser, p.sessions.caught = map[string]*session{}, map[*session]struct{}{}
	p.forward = p.newForwarder()
	return p
}

func orNumber[T int | time.Duration](field *T, usual T) {
	if *field <= 0 {
		*field = usual
	}
}

// door is how a connection came in, and what is known about it before its first request.
type door struct {
	session *session // nil until the credentials were read
	open    *opened  // the connection
	// host and port bind every request to one target, as in a tunnel or behind a captured address; host is
	// "" where the client names the target with each request.
	host   string
	port   int
	scheme string
	first  head // of the first request
}

// server is one listener's share of a proxy.
type server struct {
	p     *Proxy
	slots chan struct{}
	http  *http.Server
	hand  *handoff
	wait  sync.WaitGroup
}

// Serve is the explicit proxy on l, until ctx ends or l fails. It closes l, ends every connection that
// came through it, and returns after the last one: nil when ctx ended.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	return p.serve(ctx, l, func(s *server, ctx context.Context, c net.Conn) { s.explicit(ctx, c) })
}

func (p *Proxy) serve(ctx context.Context, l net.Listener, handle func(*server, context.Context, net.Conn)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{p: p, slots: make(chan struct{}, p.config.Limits.Connections), hand: newHandoff(l.Addr())}
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.request), ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: p.config.Limits.Head, IdleTimeout: time.Minute, MaxHeaderBytes: p.config.Limits.HeaderBytes,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, doorKey{}, c.(*handed).door)
		},
		ConnState: func(c net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				close(c.(*handed).done)
			}
		},
	}
	s.wait.Go(func() { _ = s.http.Serve(s.hand) }) // it ends with ErrServerClosed
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	err := s.accept(ctx, l, handle)
	if ctx.Err() != nil {
		err = nil
	}
	cancel()
	_ = l.Close()
	_ = s.http.Close() // the connections are closed by their own contexts too
	s.wait.Wait()
	p.carriers.drain()
	return err
}

func (s *server) accept(ctx context.Context, l net.Listener, handle func(*server, context.Context, net.Conn)) error {
	pause := time.Duration(0)
	for {
		select {
		case s.slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		conn, err := l.Accept()
		if err != nil {
			<-s.slots
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) || pause > time.Second {
				return err
			}
			pause = max(2*pause, 5*time.Millisecond) // out of descriptors, most likely
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
			continue
		}
		pause = 0
		s.wait.Go(func() {
			defer func() { <-s.slots }()
			s.own(ctx, conn, handle)
		})
	}
}

// own serves one connection until its end, and closes it when ctx ends.
func (s *server) own(ctx context.Context, conn net.Conn, handle func(*server, context.Context, net.Conn)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer func() { _ = conn.Close() }()
	handle(s, ctx, conn)
}

type doorKey struct{}

// handed is a connection on its way through net/http, with the bytes of it that were read already.
type handed struct {
	net.Conn
	door *door
	read []byte
	done chan struct{} // closed by the server after the last request was served
}

func (c *handed) Read(b []byte) (int, error) {
	if len(c.read) > 0 {
		n := copy(b, c.read)
		c.read = c.read[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

// handoff is the listener from which net/http gets them.
type handoff struct {
	conns chan *handed
	addr  net.Addr
	once  sync.Once
	end   chan struct{}
}

func newHandoff(addr net.Addr) *handoff {
	return &handoff{conns: make(chan *handed), addr: addr, end: make(chan struct{})}
}

// serve hands c to the server and returns when it is closed.
func (h *handoff) serve(c *handed) {
	c.done = make(chan struct{})
	select {
	case h.conns <- c:
		<-c.done
	case <-h.end:
	}
}

func (h *handoff) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.end:
		return nil, net.ErrClosed
	}
}

func (h *handoff) Close() error {
	h.once.Do(func() { close(h.end) })
	return nil
}

func (h *handoff) Addr() net.Addr { return h.addr }
