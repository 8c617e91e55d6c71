// Package proxytest has what tests and the bench need to drive a filtering proxy without speaking TLS: a
// real ClientHello to begin a tunnel with, a client that opens one, a host that sends what it gets back,
// and the bare relay that a tunnel is measured against.
package proxytest

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
)

// Hello is the ClientHello with which crypto/tls asks for the server name.
func Hello(name string) ([]byte, error) {
	var sent capture
	err := tls.Client(&sent, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake() // nobody answers
	if !errors.Is(err, errCaptured) {
		return nil, fmt.Errorf("write a ClientHello for %q: %w", name, err)
	}
	return sent.Bytes(), nil
}

var errCaptured = errors.New("nobody answers")

// capture is a connection that keeps what is written and never answers.
type capture struct {
	net.Conn
	bytes.Buffer
}

func (c *capture) Write(b []byte) (int, error) { return c.Buffer.Write(b) }
func (c *capture) Read([]byte) (int, error)    { return 0, errCaptured }
func (c *capture) Close() error                { return nil }

// Open makes a tunnel to authority ("HOST:PORT") through the proxy at addr and sends hello through it.
func Open(ctx context.Context, addr, user, password, authority string, hello []byte) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("open a tunnel: %w", err)
	}
	_, err = fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\nProxy-Authorization: Basic %s\r\n\r\n", authority, authority,
		base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	var answer []byte
	for b := make([]byte, 1); err == nil && !bytes.HasSuffix(answer, []byte("\r\n\r\n")); answer = append(answer, b[0]) {
		_, err = conn.Read(b)
	}
	if err == nil && !strings.HasPrefix(string(answer), "HTTP/1.1 200 ") {
		err = fmt.Errorf("the proxy answered %.100q", answer)
	}
	if err == nil {
		_, err = conn.Write(hello)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("open a tunnel to %q: %w", authority, err)
	}
	return conn, nil
}

// Listener serves each connection with handle in a goroutine of its own, until Close, which ends them.
type Listener struct {
	Addr string
	l    net.Listener
	wait sync.WaitGroup
	mu   sync.Mutex
	open map[net.Conn]bool // nil once closed
}

// Listen starts one on loopback. handle need not close its connection.
func Listen(handle func(net.Conn)) (*Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on loopback: %w", err)
	}
	s := &Listener{Addr: l.Addr().String(), l: l, open: map[net.Conn]bool{}}
	s.wait.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.wait.Go(func() { s.serve(c, handle) })
		}
	})
	return s, nil
}

func (s *Listener) serve(c net.Conn, handle func(net.Conn)) {
	defer func() { _ = c.Close() }()
	s.mu.Lock()
	ended := s.open == nil
	if !ended {
		s.open[c] = true
	}
	s.mu.Unlock()
	if ended {
		return
	}
	handle(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// Close ends the listener and its connections, and returns after the last one.
func (s *Listener) Close() {
	_ = s.l.Close()
	s.mu.Lock()
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for c := range open {
		_ = c.Close()
	}
	s.wait.Wait()
}

// Echo sends back what it gets, but for the first skip bytes.
func Echo(skip int) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := io.CopyN(io.Discard, c, int64(skip)); err == nil {
			_, _ = io.Copy(c, c)
		}
	}
}

// Swallow reads and drops everything, then ends its side.
func Swallow(c net.Conn) { _, _ = io.Copy(io.Discard, struct{ io.Reader }{c}) }

// Bare is the relay that a tunnel is measured against: two io.Copy between sockets and nothing else.
func Bare(target string) func(net.Conn) {
	return func(c net.Conn) {
		up, err := net.Dial("tcp", target)
		if err != nil {
			return
		}
		defer func() { _ = up.Close() }()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = io.Copy(up, c)
			_ = up.(*net.TCPConn).CloseWrite()
		}()
		_, _ = io.Copy(c, up)
		_ = c.(*net.TCPConn).CloseWrite()
		<-done
	}
}
