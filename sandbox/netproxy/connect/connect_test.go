package connect_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"carrel/sandbox/netproxy"
	"carrel/sandbox/netproxy/connect"
	"carrel/sandbox/netproxy/proxytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type everywhere struct{}

func (everywhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("11.0.1.1")}, nil
}

// proxy serves one host, host.test, which echoes at port 22, and returns its URL.
func proxy(t *testing.T) string {
	t.Helper()
	host, err := proxytest.Listen(proxytest.Echo(0))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := netproxy.New(netproxy.Config{Resolver: everywhere{}, Dial: func(ctx context.Context, network string, _ netip.AddrPort) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, host.Addr)
	}})
	c, release := p.Admit("ssh", func() netproxy.Rules { return netproxy.Rules{Allowed: []string{"host.test:22"}} })
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
	for _, v := range netproxy.Environment(l.Addr().String(), c, netproxy.Tools{}) {
		if value, ok := strings.CutPrefix(v, connect.Variable+"="); ok {
			return value
		}
	}
	t.Fatal("the environment lacks", connect.Variable)
	return ""
}

func TestPipeCarriesBothWays(t *testing.T) {
	sent := "SSH-2.0-test\r\n" + strings.Repeat("x", 1<<20)
	var got bytes.Buffer
	if err := connect.Pipe(t.Context(), proxy(t), "host.test", "22", strings.NewReader(sent), &got); err != nil || got.String() != sent {
		t.Errorf("%d bytes of %d: %v", got.Len(), len(sent), err)
	}
}

func TestPipeSaysWhyItWasRefused(t *testing.T) {
	url := proxy(t)
	var refused *connect.RefusedError
	err := connect.Pipe(t.Context(), url, "other.test", "22", strings.NewReader(""), io.Discard)
	if !errors.As(err, &refused) || refused.Status != 403 || refused.Rule != netproxy.RuleNotListed ||
		err.Error() != `connect to "other.test:22": other.test:22 is not in allowed_domains` {
		t.Errorf("%+v", err)
	}
	wrong := strings.Replace(url, "@", "x@", 1)
	if err := connect.Pipe(t.Context(), wrong, "host.test", "22", strings.NewReader(""), io.Discard); !errors.As(err, &refused) || refused.Status != 407 ||
		strings.Contains(err.Error(), wrong) {
		t.Errorf("%+v", err)
	}
}

func TestPipeRefusesWhatIsNoHost(t *testing.T) {
	url := proxy(t)
	for _, host := range []string{"a b", "a\r\nX: y", "ä.test", ""} {
		if err := connect.Pipe(t.Context(), url, host, "22", strings.NewReader(""), io.Discard); err == nil {
			t.Errorf("%q passes", host)
		}
	}
	for _, u := range []string{"", "socks5://u:p@127.0.0.1:1", "http://127.0.0.1:1"} {
		if err := connect.Pipe(t.Context(), u, "host.test", "22", strings.NewReader(""), io.Discard); err == nil || !strings.Contains(err.Error(), connect.Variable) || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%q: %v", u, err)
		}
	}
}

func TestPipeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, feed := io.Pipe()
	defer func() { _ = feed.Close() }()
	out := writerFunc(func(b []byte) (int, error) { cancel(); return len(b), nil })
	go func() { _, _ = io.WriteString(feed, "SSH-2.0-test\r\n") }()
	if err := connect.Pipe(ctx, proxy(t), "host.test", "22", in, out); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
