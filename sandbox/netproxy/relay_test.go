package netproxy

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"carrel/sandbox/netproxy/proxytest"
)

func clientHello(t testing.TB, name string) string {
	t.Helper()
	hello, err := proxytest.Hello(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(hello)
}

// pairs are two connected sockets: a client with its side of the proxy, and the other way round.
func socketPair(t testing.TB) (outer, inner net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	outer, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if inner, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = outer.Close(), inner.Close() })
	return outer, inner
}

// opaque hides that a connection is a socket.
type opaque struct{ net.Conn }

func (o opaque) CloseWrite() error { return o.Conn.(*net.TCPConn).CloseWrite() }

func TestRelayCarriesEveryByteBothWays(t *testing.T) {
	for name, wrap := range map[string]func(net.Conn) net.Conn{
		"sockets": func(c net.Conn) net.Conn { return c },
		"plain":   func(c net.Conn) net.Conn { return opaque{c} },
	} {
		t.Run(name, func(t *testing.T) {
			client, front := socketPair(t)
			host, back := socketPair(t)
			data := make([]byte, 3<<20+17)
			_, _ = rand.Read(data)
			p := New(Config{})
			var sent, received int64
			done := make(chan struct{})
			go func() {
				defer close(done)
				sent, received = p.relay(wrap(front), wrap(back), data[:100])
			}()
			var wait sync.WaitGroup
			wait.Go(func() { send(t, client, data[100:]) })
			wait.Go(func() { send(t, host, data[:1<<20]) })
			wait.Go(func() { expect(t, host, data) })
			wait.Go(func() { expect(t, client, data[:1<<20]) })
			wait.Wait()
			<-done
			if sent != int64(len(data)) || received != 1<<20 {
				t.Errorf("sent %d received %d", sent, received)
			}
			p.carriers.drain()
		})
	}
}

// send writes in pieces of all sizes, then ends its side.
func send(t *testing.T, c net.Conn, data []byte) {
	for size := 1; len(data) > 0; size = size*3%65521 + 1 {
		n := min(size, len(data))
		if _, err := c.Write(data[:n]); err != nil {
			t.Error(err)
			return
		}
		data = data[n:]
	}
	_ = c.(*net.TCPConn).CloseWrite()
}

func expect(t *testing.T, c net.Conn, want []byte) {
	_ = c.SetReadDeadline(time.Now().Add(deadline))
	got, err := io.ReadAll(c)
	if err != nil || sha256.Sum256(got) != sha256.Sum256(want) {
		t.Errorf("got %d bytes of %d: %v", len(got), len(want), err)
	}
}

func TestRelayEndsWhenEitherSideBreaks(t *testing.T) {
	for _, clientBreaks := range []bool{true, false} {
		client, front := socketPair(t)
		host, back := socketPair(t)
		done := make(chan struct{})
		p := New(Config{})
		go func() { p.relay(front, back, nil); close(done) }()
		broken, other := client, host
		if !clientBreaks {
			broken, other = host, client
		}
		_ = broken.(*net.TCPConn).SetLinger(0) // a reset, not an end
		_ = broken.Close()
		_ = other.SetReadDeadline(time.Now().Add(deadline))
		if _, err := other.Read(make([]byte, 1)); err == nil {
			t.Error("read something")
		}
		select {
		case <-done:
		case <-time.After(deadline):
			t.Error("the relay goes on")
		}
		p.carriers.drain()
	}
}

func TestHostThatEndsFirstStillGetsTheRest(t *testing.T) {
	client, front := socketPair(t)
	host, back := socketPair(t)
	p := New(Config{})
	done := make(chan struct{})
	go func() { p.relay(front, back, nil); close(done) }()
	_ = host.(*net.TCPConn).CloseWrite()
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if _, err := io.WriteString(client, "rest"); err != nil {
		t.Fatal(err)
	}
	_ = client.Close()
	got, err := io.ReadAll(host)
	if err != nil || string(got) != "rest" {
		t.Errorf("%q %v", got, err)
	}
	<-done
	p.carriers.drain()
}
