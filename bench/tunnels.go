package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime"
	"slices"

	"carrel/sandbox/netproxy"
	"carrel/sandbox/netproxy/proxytest"
)

const (
	tunnelCount  = 1000
	tunnelHost   = "host.test"
	tunnelBytes  = 256 << 20 // through one tunnel
	tunnelRounds = 10
	tunnelMemory = 64 // KiB of each, its client and its host in this process included
)

// oneHost is a resolver and a way there.
type oneHost string

func (oneHost) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("11.0.1.1")}, nil
}

func (h oneHost) dial(ctx context.Context, network string, _ netip.AddrPort) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, string(h))
}

// filtered is a proxy in front of one host.
type filtered struct {
	addr  string
	c     netproxy.Credentials
	hello []byte
	close func() error
}

func startFiltered(host string) (*filtered, error) {
	hello, err := proxytest.Hello(tunnelHost)
	if err != nil {
		return nil, err
	}
	p := netproxy.New(netproxy.Config{Resolver: oneHost(host), Dial: oneHost(host).dial,
		Limits: netproxy.Limits{TunnelsPerCommand: tunnelCount, Connections: tunnelCount}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c, release := p.Admit("bench", func() netproxy.Rules { return netproxy.Rules{Allowed: []string{tunnelHost}} })
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, l) }()
	return &filtered{addr: l.Addr().String(), c: c, hello: hello, close: func() error {
		release()
		cancel()
		return <-served
	}}, nil
}

func (f *filtered) open(ctx context.Context) (net.Conn, error) {
	return proxytest.Open(ctx, f.addr, f.c.User, f.c.Password, tunnelHost+":443", f.hello)
}

// measureTunnels holds a thousand tunnels through the filtering proxy, and sends much through one.
func measureTunnels(ctx context.Context, _ *bench) (lines []line, err error) {
	l, err := holdTunnels(ctx)
	if err != nil {
		return nil, err
	}
	host, err := proxytest.Listen(func(c net.Conn) {
		proxytest.Swallow(c)
		_, _ = c.Write([]byte{1}) // all of it arrived
	})
	if err != nil {
		return nil, err
	}
	defer host.Close()
	bare, err := proxytest.Listen(proxytest.Bare(host.Addr))
	if err != nil {
		return nil, err
	}
	defer bare.Close()
	f, err := startFiltered(host.Addr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	p, err := alternate(ctx, tunnelRounds,
		pour(func(ctx context.Context) (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "tcp", bare.Addr) }), pour(f.open))
	if err != nil {
		return nil, err
	}
	// Throughput of at least 0.9 is time of at most its inverse.
	return append(l, p.ratio("256 MiB through a tunnel; through a bare io.Copy relay", 1/0.9)), nil
}

// pour sends much through a connection and waits until all of it has arrived.
func pour(open func(context.Context) (net.Conn, error)) work {
	piece := make([]byte, 256<<10)
	return func(ctx context.Context) (sample, error) {
		c, err := open(ctx)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = c.Close() }()
		return timed(func() error {
			for range tunnelBytes / len(piece) {
				if _, err := c.Write(piece); err != nil {
					return err
				}
			}
			if err := c.(*net.TCPConn).CloseWrite(); err != nil {
				return err
			}
			_, err := io.ReadFull(c, make([]byte, 1))
			return err
		})
	}
}

// holdTunnels compares the memory of the second half of the tunnels with that of the first.
func holdTunnels(ctx context.Context) (lines []line, err error) {
	hello, err := proxytest.Hello(tunnelHost)
	if err != nil {
		return nil, err
	}
	host, err := proxytest.Listen(proxytest.Echo(len(hello)))
	if err != nil {
		return nil, err
	}
	defer host.Close()
	f, err := startFiltered(host.Addr)
	if err != nil {
		return nil, err
	}
	var all []net.Conn
	defer func() {
		for _, c := range all {
			_ = c.Close()
		}
		err = errors.Join(err, f.close())
	}()
	before, atOnce := held(), int64(0)
	for range tunnelCount {
		c, err := f.open(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
		if err := ping(c); err != nil {
			return nil, err
		}
	}
	atOnce = held()
	for range 10 { // they are used, and nothing grows
		for _, c := range slices.Backward(all) {
			if err := ping(c); err != nil {
				return nil, err
			}
		}
	}
	used := held()
	return []line{
		{work: "memory of each of 1,000 tunnels, with its client and its host", unit: "KiB", limit: tunnelMemory, value: float64(atOnce-before) / tunnelCount / 1024},
		{work: "memory of 1,000 tunnels after 10 messages each; before", unit: "x", limit: 1.1,
			ours: mebi(used - before), baseline: mebi(atOnce - before), value: float64(used-before) / float64(atOnce-before)},
	}, nil
}

func mebi(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func ping(c net.Conn) error {
	if _, err := io.WriteString(c, "ping"); err != nil {
		return err
	}
	_, err := io.ReadFull(c, make([]byte, 4))
	return err
}

// held is the memory that this process holds on to.
func held() int64 {
	runtime.GC()
	runtime.GC() // what pools kept is gone after the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
