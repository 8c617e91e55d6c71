package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

// parrot is a proxy that answers each connection with its own address and the address that was
// wanted, and each datagram with itself.
type parrot struct {
	mu       sync.Mutex
	admitted []string
	serving  int
}

func (p *parrot) Admit(command string, _ policy.Policy, w Way) ([]string, func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.admitted = append(p.admitted, command)
	return []string{"HTTP_PROXY=http://" + w.Address}, func() { p.mu.Lock(); p.admitted = p.admitted[1:]; p.mu.Unlock() }, nil
}

func (p *parrot) Serve(ctx context.Context, l Listeners) {
	p.mu.Lock()
	p.serving++
	p.mu.Unlock()
	stop := context.AfterFunc(ctx, l.Close)
	defer stop()
	var all sync.WaitGroup
	for name, s := range map[string]net.Listener{"proxy": l.Proxy, "http": l.HTTP, "tls": l.TLS} {
		if s == nil {
			continue
		}
		all.Go(func() {
			for {
				c, err := s.Accept()
				if err != nil {
					return
				}
				_, _ = fmt.Fprintf(c, "%s %s\n", name, c.LocalAddr())
				_ = c.Close()
			}
		})
	}
	for _, pc := range l.Names {
		all.Go(func() {
			b := make([]byte, 512)
			for {
				n, from, err := pc.ReadFrom(b)
				if err != nil {
					return
				}
				_, _ = pc.WriteTo(append([]byte("name "), b[:n]...), from)
			}
		})
	}
	all.Wait()
}

func TestProxyIsTheOnlyWayOut(t *testing.T) { // L93
	host, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = host.Close() }()
	go func() {
		for {
			c, err := host.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "HOST\n")
			_ = c.Close()
		}
	}()
	eachTier(t, func(t *testing.T, tier plan.Tier) {
		p := &parrot{}
		l := open(t, tier, func(rules *policy.Policy, c *Config) {
			rules.Network, c.Proxy = policy.NetworkAllowlist, p
		})
		for range 2 {
			out, exit := l.sh(t, `a=${HTTP_PROXY#http://}; timeout 5 bash -c "exec 3<>/dev/tcp/${a%:*}/${a#*:}; cat <&3"`)
			if exit.Code != 0 || !strings.HasPrefix(out, "proxy ") {
				t.Fatalf("%+v %q", exit, out)
			}
			if out, _ = l.sh(t, fmt.Sprintf(`timeout 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/%d; cat <&3"`, host.Addr().(*net.TCPAddr).Port)); strings.Contains(out, "HOST") {
				t.Errorf("%q", out)
			}
		}
		if tier != plan.TierA { // the rest captures nothing
			return
		}
		for _, want := range []string{"http 192.0.2.7:80", "tls 192.0.2.8:443"} {
			host, port, _ := net.SplitHostPort(strings.Fields(want)[1])
			if out, _ := l.sh(t, fmt.Sprintf(`timeout 5 bash -c "exec 3<>/dev/tcp/%s/%s; cat <&3"`, host, port)); out != want {
				t.Errorf("%q, want %q", out, want)
			}
		}
		for _, at := range nameServers() {
			host, _, _ := net.SplitHostPort(at)
			out, _ := l.sh(t, fmt.Sprintf(`python3 -c 'import socket
s=socket.socket(socket.AF_INET6 if ":" in "%[1]s" else socket.AF_INET,socket.SOCK_DGRAM); s.settimeout(5)
s.connect(("%[1]s",53)); s.send(b"who"); print(s.recv(99))'`, host))
			if !strings.Contains(out, "name who") {
				t.Errorf("name server %s: %q", at, out)
			}
		}
	})
}

func TestListedHostsWithoutAProxyAreRefused(t *testing.T) {
	l := open(t, plan.TierA, func(p *policy.Policy, _ *Config) { p.Network = policy.NetworkAllowlist })
	_, err := l.Start(l.ctx, Command{Argv: []string{"true"}})
	var c *CannotEnforce
	if !errors.As(err, &c) || c.Why == "" {
		t.Errorf("%v", err)
	}
}
