package netproxy

import (
	"context"
	"io"
	"net"
	"net/netip"
	"runtime"
	"testing"

	"carrel/sandbox/netproxy/proxytest"
)

// serveHost is a proxy whose one host, host.test, answers at handle.
func serveHost(t testing.TB, handle func(net.Conn), limits Limits) (addr string, c Credentials, p *Proxy) {
	t.Helper()
	host, err := proxytest.Listen(handle)
	if err != nil {
		t.Fatal(err)
	}
	p = New(Config{Limits: limits,
		Resolver: resolverFunc(func(string) []netip.Addr { return []netip.Addr{netip.MustParseAddr("11.0.1.1")} }),
		Dial: func(ctx context.Context, network string, _ netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, host.Addr)
		}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c, release := p.Admit("bench", func() Rules { return Rules{Allowed: []string{"host.test"}} })
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- p.Serve(ctx, l) }()
	t.Cleanup(func() {
		release()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		host.Close()
	})
	return l.Addr().String(), c, p
}

func openTunnel(t testing.TB, addr string, c Credentials, hello string) net.Conn {
	t.Helper()
	conn, err := proxytest.Open(t.Context(), addr, c.User, c.Password, "host.test:443", []byte(hello))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// A thousand tunnels that wait hold two goroutines each, and no buffers and no pipes.
func TestThousandTunnelsHoldNoBuffers(t *testing.T) {
	const count = 1000
	hello := clientHello(t, "host.test")
	addr, c, p := serveHost(t, proxytest.Echo(len(hello)), Limits{TunnelsPerCommand: count, Connections: count})
	goroutines, memory := runtime.NumGoroutine(), inUse()
	for range count {
		conn := openTunnel(t, addr, c, hello)
		if _, err := io.WriteString(conn, "ping"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d bytes for each tunnel, its client and its host", (inUse()-memory)/count)
	if got := (runtime.NumGoroutine() - goroutines + count/2) / count; got > 3 { // two, and the host's
		t.Errorf("%d goroutines for each tunnel", got)
	}
	if idle, lent := pipesMade(p); lent > 4 {
		t.Errorf("%d pipes idle, %d lent to tunnels that wait", idle, lent)
	}
}

func inUse() int64 {
	runtime.GC()
	runtime.GC() // what pools kept is gone after the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// throughput sends b.N pieces through conn and waits until the host has read them.
func throughput(b *testing.B, conn net.Conn, done chan struct{}) {
	piece := make([]byte, 256<<10)
	b.SetBytes(int64(len(piece)))
	b.ResetTimer()
	for range b.N {
		if _, err := conn.Write(piece); err != nil {
			b.Fatal(err)
		}
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	<-done
}

func swallow(done chan struct{}) func(net.Conn) {
	return func(c net.Conn) {
		proxytest.Swallow(c)
		close(done)
	}
}

func BenchmarkTunnel(b *testing.B) {
	done := make(chan struct{})
	addr, c, _ := serveHost(b, swallow(done), Limits{})
	throughput(b, openTunnel(b, addr, c, clientHello(b, "host.test")), done)
}

func BenchmarkBareCopy(b *testing.B) {
	done := make(chan struct{})
	host, err := proxytest.Listen(swallow(done))
	if err != nil {
		b.Fatal(err)
	}
	bare, err := proxytest.Listen(proxytest.Bare(host.Addr))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { bare.Close(); host.Close() })
	conn, err := net.Dial("tcp", bare.Addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	throughput(b, conn, done)
}
