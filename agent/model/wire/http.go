package wire

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// NewHTTP makes a client for streams: time limits for connecting, none for reading (see
// Client.Idle), the proxy of the environment except for the loopback, and no redirects, which could
// carry a key to another host. Keep one and share it: its connections are reused.
func NewHTTP() *http.Client {
	dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: proxy,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dialer.DialContext(ctx, network, address)
				if tcp, ok := conn.(*net.TCPConn); ok {
					return gathering{tcp}, err
				}
				return conn, err
			},
			TLSHandshakeTimeout: 15 * time.Second,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 4,
			IdleConnTimeout:     90 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// gathering is a connection that writes a body as it lies in memory, with few calls and no copy. It only
// matters without TLS, for servers nearby, which else would be woken for each small piece.
type gathering struct{ *net.TCPConn }

// ReadFrom writes what r has; package http asks for it with the body in a LimitedReader.
func (c gathering) ReadFrom(r io.Reader) (int64, error) {
	l, ok := r.(*io.LimitedReader)
	if !ok {
		return c.TCPConn.ReadFrom(r)
	}
	p, ok := l.R.(*payloadReader)
	if !ok {
		return c.TCPConn.ReadFrom(r)
	}
	n, err := p.gather(c.TCPConn, l.N)
	l.N -= n
	return n, err
}

func proxy(r *http.Request) (*url.URL, error) {
	if loopback(r.URL.Hostname()) {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

func loopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
