package netproxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// open makes a TCP tunnel to host:port and sends first through it.
func (r *rig) open(c Credentials, authority, first string) (net.Conn, answer) {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(deadline))
	s := shot{connect: authority, auth: (&rig{cred: c}).authorization()}
	_, _ = io.WriteString(conn, r.request("CONNECT "+authority+" HTTP/1.1", []string{"Host: " + authority}, s, true))
	head, _ := readUntil(conn, "\r\n\r\n")
	_, _ = io.WriteString(conn, first)
	return conn, parse(head)
}

func ended(conn net.Conn) bool {
	_, err := io.Copy(io.Discard, conn)
	var timeout net.Error
	return !errors.As(err, &timeout) || !timeout.Timeout()
}

// P64: the client follows a redirect and is checked again.
func TestRedirectThatTheClientFollowsIsCheckedAgain(t *testing.T) {
	r := newRig(t, options{})
	transport := &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: r.addr, User: url.UserPassword(r.cred.User, r.cred.Password)})}
	client := http.Client{Transport: transport}
	for path, want := range map[string]int{"/": 200, "/redirect": 403} {
		resp, err := client.Get("http://allowed.test" + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want || want == 403 && resp.Header.Get("X-Proxy-Rule") != RuleNotListed {
			t.Errorf("%s: %s %v", path, resp.Status, resp.Header)
		}
	}
	r.stop()
	if log := r.text(); strings.Contains(log, "127.0.1.2") || !strings.Contains(log, `"/redirect"`) {
		t.Error(log)
	}
}

// P81: many idle tunnels of one command leave room for the others.
func TestTunnelsOfOneCommandAreLimited(t *testing.T) {
	r := newRig(t, options{limits: Limits{TunnelsPerCommand: 40}})
	other, release := r.proxy.Admit("cmd8", func() Rules { return r.rules })
	defer release()
	count := map[int]int{}
	for range 400 {
		_, a := r.open(r.cred, "allowed.test:443", "")
		count[a.status]++
	}
	if count[200] != 40 || count[429] != 360 {
		t.Errorf("answers: %v", count)
	}
	if _, a := r.open(other, "allowed.test:443", ""); a.status != 200 {
		t.Errorf("another command: %v", a)
	}
	if a := r.fire(plainGet); a.status != 429 {
		t.Errorf("plain requests are not counted: %v", a)
	}
}

// crowd counts the connections of a listener that are open at once.
type crowd struct {
	net.Listener
	now, most atomic.Int64
}

type oneOfMany struct {
	*net.TCPConn
	left func()
}

func (c *crowd) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c.most.Store(max(c.most.Load(), c.now.Add(1))) // one goroutine accepts
	return &oneOfMany{conn.(*net.TCPConn), sync.OnceFunc(func() { c.now.Add(-1) })}, nil
}

func (o *oneOfMany) Close() error {
	o.left()
	return o.TCPConn.Close()
}

func TestConnectionsOfOneListenerWaitForTheirTurn(t *testing.T) {
	r := newRig(t, options{limits: Limits{Connections: 4, Head: 20 * time.Millisecond}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{Listener: l}
	served := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { served <- r.proxy.Serve(ctx, c) }()
	r.addr = l.Addr().String()
	for range 20 { // which say nothing
		conn, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
	}
	if a := r.fire(plainGet); a.status != 200 {
		t.Error(a)
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if most := c.most.Load(); most != 4 {
		t.Errorf("%d connections at once", most)
	}
}

func TestGatewayJudgesEveryRequestOfAConnection(t *testing.T) {
	g := rigGateway()
	r := newRig(t, options{gateway: &g})
	conn, a := r.open(r.cred, "allowed.test:443", "")
	if a.status != 200 {
		t.Fatal(a)
	}
	secure := tls.Client(conn, &tls.Config{RootCAs: r.trust, ServerName: "allowed.test"})
	br := bufio.NewReader(secure)
	for _, c := range []struct {
		line, host string
		status     int
	}{
		{"GET /1", "allowed.test", 200}, {"GET /2", "allowed.test", 200}, {"HEAD /3", "allowed.test", 200}, {"POST /4", "allowed.test", 403},
	} {
		_, _ = io.WriteString(secure, c.line+" HTTP/1.1\r\nHost: "+c.host+"\r\n\r\n")
		resp, err := http.ReadResponse(br, &http.Request{Method: c.line[:strings.Index(c.line, " ")]})
		if err != nil {
			t.Fatal(c, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		if resp.StatusCode != c.status {
			t.Errorf("%v: %s", c, resp.Status)
		}
	}
	if !ended(secure) {
		t.Error("a refusal does not end the connection")
	}
	for line, want := range map[string]int{"GET /" + strings.Repeat("A", 5000): 414, "GET http://denied.test/": 400, "CONNECT denied.test:443": 400} {
		conn, _ := r.open(r.cred, "allowed.test:443", "")
		secure := tls.Client(conn, &tls.Config{RootCAs: r.trust, ServerName: "allowed.test"})
		_, _ = io.WriteString(secure, "GET /first HTTP/1.1\r\nHost: allowed.test\r\n\r\n"+line+" HTTP/1.1\r\nHost: allowed.test\r\n\r\n")
		text, _ := io.ReadAll(secure)
		if !strings.Contains(string(text), "BACKEND") || !strings.Contains(string(text), fmt.Sprintf("HTTP/1.1 %d ", want)) {
			t.Errorf("%.40s: %q", line, text)
		}
	}
	r.stop()
	if log := r.text(); strings.Contains(log, "/4") || strings.Contains(log, "denied") || strings.Contains(log, "AAAA") {
		t.Error(log)
	}
}

func TestReleaseEndsWhatTheCommandHasOpen(t *testing.T) {
	hello := clientHello(t, "allowed.test")
	r := newRig(t, options{})
	conn, a := r.open(r.cred, "allowed.test:443", hello)
	idle, b := r.open(r.cred, "allowed.test:443", "")
	if a.status != 200 || b.status != 200 {
		t.Fatal(a, b)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal("the tunnel does not work:", err)
	}
	r.release()
	r.release()
	if !ended(conn) || !ended(idle) {
		t.Error("a tunnel outlives its command")
	}
	if a := r.fire(plainGet); a.status != 407 {
		t.Error("credentials outlive their command:", a)
	}
}

// lastRefused is the last refusal; what was allowed may end later.
func (r *rig) lastRefused() Decision {
	var last Decision
	for _, d := range r.told() {
		if !d.Allowed {
			last = d
		}
	}
	return last
}

func TestApprovalCountsAtOnce(t *testing.T) {
	var rules atomic.Pointer[Rules]
	rules.Store(&Rules{})
	r := newRig(t, options{})
	c, release := r.proxy.Admit("cmd9", func() Rules { return *rules.Load() })
	defer release()
	r.cred = c
	if a := r.fire(secureGet); a.status != 403 {
		t.Fatal(a)
	}
	d := r.lastRefused()
	if d.Command != "cmd9" || d.Host != "allowed.test" || d.Port != 443 || d.Allowed || d.Rule != RuleNotListed || d.Grant != "allowed.test" ||
		d.Reason != "allowed.test is not in allowed_domains" || d.Time.IsZero() {
		t.Errorf("%+v", d)
	}
	rules.Store(&Rules{Allowed: []string{d.Grant}})
	if a := r.fire(secureGet); a.status != 200 {
		t.Error(a)
	}
	rules.Store(&Rules{Allowed: []string{d.Grant}, Denied: []string{"allowed.test"}})
	a := r.fire(secureGet)
	if d := r.lastRefused(); a.status != 403 || d.Grant != "" || !strings.Contains(d.Reason, "after that entry is removed") ||
		!strings.Contains(a.text, "X-Proxy-Rule: denied:allowed.test\r\n") || !strings.HasSuffix(a.text, d.Reason+"\n") {
		t.Errorf("%v %+v", a, d)
	}
}

func TestDecisionsTellBeginningAndEnd(t *testing.T) {
	r := newRig(t, options{})
	post := shot{line: "POST http://allowed.test/x HTTP/1.1", headers: []string{"Host: allowed.test", "Content-Length: 4"}, body: "data"}
	for _, s := range []shot{post, secureGet, get("http://internal.test/", "Host: internal.test")} {
		r.fire(s)
	}
	r.stop()
	pairs := map[int64][]Decision{}
	for _, d := range r.told() {
		pairs[d.ID] = append(pairs[d.ID], d)
	}
	if len(pairs) != 3 {
		t.Fatalf("%+v", pairs)
	}
	for id, p := range pairs {
		if len(p) != 2 || p[0].Ended || !p[0].Allowed || !p[1].Ended {
			t.Fatalf("%d: %+v", id, p)
		}
		d := p[1]
		ok := false
		switch d.Host + " " + d.Method {
		case "allowed.test POST":
			ok = d.Allowed && d.Status == 200 && d.Sent == 4 && d.Received == int64(len("BACKEND 127.0.1.1"))
		case "allowed.test CONNECT":
			ok = d.Allowed && d.Sent > 200 && d.Received > 500 && d.Rule == "allowed:allowed.test"
		case "internal.test GET": // its addresses are known only after the name was allowed
			ok = !d.Allowed && d.Rule == RuleAddress && d.Grant == "" && d.Received == 0
		}
		if !ok {
			t.Errorf("%+v", d)
		}
	}
}

func TestPrivateNetworksOpenOnlyByName(t *testing.T) {
	r := newRig(t, options{rules: &Rules{Allowed: []string{"internal.test", "metadata.test", "zero.test"}, Private: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}})
	if a := r.fire(get("http://internal.test/", "Host: internal.test")); a.status != 200 {
		t.Error(a)
	}
	for _, h := range []string{"metadata.test", "zero.test", "10.0.1.9"} {
		if a := r.fire(get("http://"+h+"/", "Host: "+h)); a.status != 403 {
			t.Error(h, a)
		}
	}
}

func TestLoopbackIsReachedByExactAddressAlone(t *testing.T) {
	r := newRig(t, options{rules: &Rules{Allowed: []string{"127.0.1.1", "localhost"}}})
	for host, want := range map[string]int{"127.0.1.1": 200, "127.0.1.9": 403, "localhost": 403} {
		if a := r.fire(get("http://"+host+"/", "Host: "+host)); a.status != want {
			t.Error(host, a)
		}
	}
	if a := r.fire(shot{tls: "127.0.1.1", sni: "-", line: "GET / HTTP/1.1", headers: []string{"Host: 127.0.1.1"}}); a.status != 200 {
		t.Error("TLS without a server name to an address:", a)
	}
}

func TestTunnelToPort22CarriesSSHAlone(t *testing.T) {
	r := newRig(t, options{rules: &Rules{Allowed: []string{"allowed.test:22", "allowed.test:8443"}}})
	if a := r.fire(shot{connect: "allowed.test:22", raw: "SSH-2.0-x\r\n"}); !strings.Contains(a.text, "SSH-2.0-rig") {
		t.Error(a)
	}
	r.fire(shot{connect: "allowed.test:22", raw: "GET /EXFIL HTTP/1.1\r\nHost: allowed.test\r\n\r\n"})
	r.fire(shot{connect: "allowed.test:8443", raw: "SSH-2.0-EXFIL\r\n"})
	if a := r.fire(through("allowed.test:443")); a.status != 403 {
		t.Error("a port in the entry is the only one:", a)
	}
	r.stop()
	if strings.Contains(r.text(), "EXFIL") {
		t.Error(r.text())
	}
}

func TestTunnelToPort80CarriesRequestsForItsHost(t *testing.T) {
	for _, profile := range []string{"local", "gateway"} {
		o := options{}
		if profile == "gateway" {
			g := rigGateway()
			o.gateway = &g
		}
		r := newRig(t, o)
		for host, want := range map[string]int{"allowed.test": 200, "denied.test": 421} {
			if a := r.fire(shot{connect: "allowed.test:80", line: "GET / HTTP/1.1", headers: []string{"Host: " + host}}); a.status != want {
				t.Error(profile, host, a)
			}
		}
		if a := r.fire(shot{connect: "allowed.test:80", raw: "SSH-2.0-EXFIL\r\n\r\n"}); a.status != 400 {
			t.Error(profile, a)
		}
		r.stop()
		if strings.Contains(r.text(), "EXFIL") || strings.Contains(r.text(), "denied") {
			t.Error(r.text())
		}
	}
}

func TestUnreachableHostsAreToldWithoutOurNetwork(t *testing.T) {
	r := newRig(t, options{rules: &Rules{Allowed: []string{"nowhere.test", "allowed.test:81"}}})
	for _, s := range []shot{get("http://nowhere.test/", "Host: nowhere.test"), through("nowhere.test:443"), get("http://allowed.test:81/", "Host: allowed.test:81")} {
		a := r.fire(s)
		if a.status != 502 || !strings.Contains(a.text, "X-Proxy-Rule: unreachable") || strings.Contains(a.text, "11.0") || strings.Contains(a.text, "no such host") {
			t.Error(a)
		}
	}
}

func TestExpectContinueAndChunkedBodiesPass(t *testing.T) {
	r := newRig(t, options{})
	s := shot{line: "POST http://allowed.test/x HTTP/1.1", headers: []string{"Host: allowed.test", "Transfer-Encoding: chunked", "Expect: 100-continue"}, body: "4\r\ndata\r\n0\r\n\r\n"}
	r.fire(s)
	r.stop()
	if log := r.text(); !strings.Contains(log, `"body":"data"`) || strings.Contains(log, "Expect") {
		t.Error(log)
	}
}

func TestServeEndsWithItsListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- New(Config{}).Serve(t.Context(), l) }()
	_ = l.Close()
	if err := <-served; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func TestCredentialsHideTheirPassword(t *testing.T) {
	c := Credentials{User: "u", Password: "secret"}
	if s := fmt.Sprintf("%v %+v %#v %s", c, c, c, c); strings.Contains(s, "secret") {
		t.Error(s)
	}
}
