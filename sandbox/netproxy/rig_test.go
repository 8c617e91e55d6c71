package netproxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// The rig plays the Internet on loopback: hosts with one listener per port, a resolver and a dialer that
// lead there, and a log of what really arrived, one JSON object per line. The addresses in the log are
// those of the attack list: .1 is allowed, .2 forbidden, .3 has git, .9 is the private network.

const deadline = 10 * time.Second // of everything that a test waits for

type rig struct {
	t         *testing.T
	proxy     *Proxy
	addr      string // of the explicit proxy
	cred      Credentials
	release   func()
	authority *Authority // of the gateway; nil in the local profile
	rules     Rules
	trust     *x509.CertPool
	stop      func()

	mu        sync.Mutex
	lines     []string
	decisions []Decision
	listeners []net.Listener
	real      map[string]string // "127.0.1.1:443" -> where it listens
	asked     int               // for rebind.test
	dialled   int
	accepted  int
	backends  sync.WaitGroup
}

var publicAddresses = map[string]string{ // what names resolve to, and who answers there
	"11.0.1.1": "127.0.1.1", "11.0.1.2": "127.0.1.2", "11.0.1.3": "127.0.1.3",
	"10.0.1.9": "127.0.1.9", "0.0.0.0": "127.0.1.9", "127.0.1.1": "127.0.1.1", "127.0.1.9": "127.0.1.9",
}

var rigNames = map[string][]string{
	"allowed.test": {"11.0.1.1"}, "sub.wild.test": {"11.0.1.1"}, "wild.test": {"11.0.1.2"}, "denied.wild.test": {"11.0.1.2"},
	"denied.test": {"11.0.1.2"}, "evilallowed.test": {"11.0.1.2"}, "allowed.test.evil.test": {"11.0.1.2"},
	"git.test": {"11.0.1.3"}, "internal.test": {"10.0.1.9"}, "xn--lowed-6ua5c.test": {"11.0.1.2"},
	"mapped.test": {"::ffff:10.0.1.9"}, "zero.test": {"0.0.0.0"}, "mixed.test": {"10.0.1.9", "11.0.1.1"},
	"localhost": {"127.0.1.9"}, "own.test": {"11.0.1.77"}, "metadata.test": {"169.254.169.254"},
}

var siteAuthority = sync.OnceValues(func() (*Authority, error) { return NewAuthority("rig sites") })

// options change a rig before it starts.
type options struct {
	gateway *Gateway // its Authority and Roots are filled in
	limits  Limits
	rules   *Rules
}

func newRig(t *testing.T, o options) *rig {
	t.Helper()
	site, err := siteAuthority()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, real: map[string]string{}, trust: x509.NewCertPool()}
	r.trust.AppendCertsFromPEM(site.PEM())
	r.rules = Rules{
		Allowed: []string{"allowed.test", "*.wild.test", "git.test", "internal.test", "mapped.test", "zero.test", "mixed.test", "rebind.test"},
		Denied:  []string{"denied.wild.test"},
	}
	if o.rules != nil {
		r.rules = *o.rules
	}
	if o.gateway != nil {
		if r.authority, err = NewAuthority("rig gateway"); err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(site.PEM())
		o.gateway.Authority, o.gateway.Roots = r.authority, roots
		r.trust.AppendCertsFromPEM(r.authority.PEM())
	}
	for _, ip := range []string{"127.0.1.1", "127.0.1.2", "127.0.1.3", "127.0.1.9"} {
		for _, port := range []string{"80", "443", "22", "8443"} {
			r.listen(ip, port, site)
		}
	}
	r.proxy = New(Config{Resolver: r, Dial: r.dial, Log: r.log, Limits: o.limits, Gateway: o.gateway})
	r.proxy.addresses.own = func() []netip.Addr { return []netip.Addr{netip.MustParseAddr("11.0.1.77")} }
	r.start()
	return r
}

func (r *rig) start() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.addr = l.Addr().String()
	r.cred, r.release = r.proxy.Admit("cmd7", func() Rules { return r.rules })
	served := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { served <- r.proxy.Serve(ctx, l) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			r.t.Errorf("Serve: %v", err)
		}
		r.settle()
		for _, l := range r.listeners {
			_ = l.Close()
		}
		r.backends.Wait()
	})
	r.t.Cleanup(r.stop)
}

// settle waits until the backends accepted all that was dialled, so that a log without a line proves that
// nothing came.
func (r *rig) settle() {
	waitFor(r.t, "the backends to accept what was dialled", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.accepted == r.dialled
	})
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (r *rig) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	name, rooted := strings.CutSuffix(host, ".")
	if !rooted {
		r.t.Errorf("looked %q up without its last dot: a search list would apply", host)
	}
	var list []netip.Addr
	found := rigNames[name]
	if name == "rebind.test" { // it changes its mind from one question to the next
		r.mu.Lock()
		found = rigNames[[]string{"allowed.test", "internal.test"}[r.asked%2]]
		r.asked++
		r.mu.Unlock()
	}
	for _, a := range found {
		list = append(list, netip.MustParseAddr(a))
	}
	if list == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return list, nil
}

func (r *rig) dial(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	r.mu.Lock()
	where := r.real[fmt.Sprintf("%s:%d", publicAddresses[to.Addr().String()], to.Port())]
	r.mu.Unlock()
	if where == "" {
		return nil, fmt.Errorf("dial %s: nobody is there", to)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, where)
	if err == nil {
		r.mu.Lock()
		r.dialled++
		r.mu.Unlock()
	}
	return conn, err
}

func (r *rig) log(d Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.decisions = append(r.decisions, d)
}

// text is the log so far.
func (r *rig) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "\n")
}

func (r *rig) told() []Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Decision(nil), r.decisions...)
}

func (r *rig) record(fields map[string]any) {
	line, err := json.Marshal(fields)
	if err != nil {
		r.t.Error(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, string(line))
}

func (r *rig) listen(ip, port string, site *Authority) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.listeners = append(r.listeners, l)
	r.real[ip+":"+port] = l.Addr().String()
	r.backends.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.mu.Lock()
			r.accepted++
			r.mu.Unlock()
			r.record(map[string]any{"ip": ip, "port": port, "tcp": true})
			r.backends.Go(func() {
				defer func() { _ = c.Close() }()
				_ = c.SetDeadline(time.Now().Add(deadline))
				r.backend(c, ip, port, site)
			})
		}
	})
}

func (r *rig) backend(c net.Conn, ip, port string, site *Authority) {
	br := bufio.NewReader(c)
	first, err := br.Peek(1)
	if err != nil || first[0] != 22 {
		r.plain(br, c, ip, port, "")
		return
	}
	conn := tls.Server(&peeked{Conn: c, r: br}, &tls.Config{GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if h.ServerName == "" {
			return site.certificate("none.test", time.Now())
		}
		return site.certificate(h.ServerName, time.Now())
	}})
	if conn.Handshake() == nil {
		r.plain(bufio.NewReader(conn), conn, ip, port, conn.ConnectionState().ServerName)
	}
}

type peeked struct {
	net.Conn
	r io.Reader
}

func (p *peeked) Read(b []byte) (int, error) { return p.r.Read(b) }

func (r *rig) plain(br *bufio.Reader, c net.Conn, ip, port, sni string) {
	for {
		if b, err := br.Peek(4); err == nil && string(b) == "SSH-" {
			line, _ := br.ReadString('\n')
			r.record(map[string]any{"ip": ip, "port": port, "raw": line})
			_, _ = io.WriteString(c, "SSH-2.0-rig\r\n")
			return
		}
		q, err := http.ReadRequest(br)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				r.record(map[string]any{"ip": ip, "port": port, "err": err.Error()})
			}
			return
		}
		body, _ := io.ReadAll(q.Body)
		r.record(map[string]any{"ip": ip, "port": port, "sni": sni, "method": q.Method, "uri": q.RequestURI, "host": q.Host,
			"header": q.Header, "body": string(body), "te": q.TransferEncoding})
		if !r.respond(c, br, q, ip) {
			return
		}
	}
}

// respond answers one request and says whether the connection goes on.
func (r *rig) respond(c net.Conn, br *bufio.Reader, q *http.Request, ip string) bool {
	text := "BACKEND " + ip
	switch {
	case q.Header.Get("Upgrade") == "websocket":
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		b := make([]byte, 100)
		n, _ := br.Read(b)
		r.record(map[string]any{"ip": ip, "ws": string(b[:n])})
		return false
	case strings.HasPrefix(q.URL.Path, "/redirect"):
		_, _ = io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: http://denied.test/stolen\r\nContent-Length: 0\r\n\r\n")
	case q.URL.Path == "/bomb":
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nBOMB")
	case q.Method == http.MethodHead:
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(text))
	default:
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nAlt-Svc: h3=\":443\"\r\n\r\n%s", len(text), text)
	}
	return !q.Close
}
