package main

import (
	"context"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"carrel/sandbox/netproxy"
	"carrel/sandbox/netproxy/proxytest"
)

type everywhere struct{}

func (everywhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("11.0.1.1")}, nil
}

func TestConnectIsAProxyCommand(t *testing.T) {
	program := filepath.Join(t.TempDir(), "carrel-sandbox")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	host, err := proxytest.Listen(proxytest.Echo(0))
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := netproxy.New(netproxy.Config{Resolver: everywhere{}, Dial: func(ctx context.Context, network string, _ netip.AddrPort) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, host.Addr)
	}})
	c, release := p.Admit("ssh", func() netproxy.Rules { return netproxy.Rules{Allowed: []string{"host.test:22"}} })
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- p.Serve(ctx, l) }()
	for name, want := range map[string]string{
		"host.test": "SSH-2.0-me\r\n", "other.test": "carrel-sandbox: connect to \"other.test:22\": other.test:22 is not in allowed_domains\n",
	} {
		cmd := exec.Command(program, "connect", name, "22")
		cmd.Env = append(os.Environ(), netproxy.Environment(l.Addr().String(), c, netproxy.Tools{})...)
		cmd.Stdin = strings.NewReader("SSH-2.0-me\r\n")
		out, err := cmd.CombinedOutput()
		if string(out) != want || (err == nil) != (name == "host.test") {
			t.Errorf("%s: %v %q", name, err, out)
		}
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
