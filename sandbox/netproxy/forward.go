package netproxy

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
)

// passage is one plain or terminated request on its way.
type passage struct {
	target
	scheme string
	rule   string
	status int
	no     *refusal // what stopped it after it was allowed
}

type passageKey struct{}

// request serves one request whose bytes the proxy reads: plain HTTP, and what a gateway terminated.
func (s *server) request(w http.ResponseWriter, r *http.Request) {
	d := r.Context().Value(doorKey{}).(*door)
	if d.scheme != "https" { // one request per plain connection, see explicit
		w.Header().Set("Connection", "close")
	}
	dec := Decision{Command: d.session.command(), Method: r.Method, URIBytes: len(r.RequestURI)}
	way, no := s.p.judge(d, r, &dec)
	if no != nil {
		s.p.refused(dec, no)
		deny(w, no)
		return
	}
	body := &counter{ReadCloser: r.Body}
	r.Body = body
	answer := &counted{ResponseWriter: w}
	dec.Rule = way.rule
	dec = s.p.allowed(dec)
	defer func() { // also when the answer breaks off, which panics on purpose
		dec.Status, dec.Sent = way.status, body.n.Load()
		if way.no != nil {
			s.p.refused(dec, way.no)
			return
		}
		dec.Received = answer.n
		s.p.ended(dec)
	}()
	s.p.forward.ServeHTTP(answer, r.WithContext(context.WithValue(r.Context(), passageKey{}, way)))
}

// deny answers a request through net/http.
func deny(w http.ResponseWriter, no *refusal) {
	no.headers(w.Header())
	w.WriteHeader(no.status)
	_, _ = io.WriteString(w, no.reason+"\n") // the client may be gone
}

// newForwarder carries requests that were allowed. Each gets a connection of its own: nothing that one
// request leaves in a connection meets another.
func (p *Proxy) newForwarder() *httputil.ReverseProxy {
	transport := &http.Transport{
		DisableCompression: true, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10,
		ResponseHeaderTimeout: p.config.Limits.Answer, TLSHandshakeTimeout: p.config.Limits.Dial,
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1 alone
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return p.dial(ctx, ctx.Value(passageKey{}).(*passage).target)
		},
	}
	if g := p.config.Gateway; g != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: g.Roots, MinVersion: tls.VersionTLS12}
	}
	return &httputil.ReverseProxy{
		Transport: transport, BufferPool: &buffers{}, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(pr *httputil.ProxyRequest) {
			way := pr.In.Context().Value(passageKey{}).(*passage)
			pr.Out.URL = &url.URL{Scheme: way.scheme, Host: join(way.host, way.port, usualPort(way.scheme)),
				Path: pr.In.URL.Path, RawPath: pr.In.URL.RawPath,
				RawQuery: pr.In.URL.RawQuery, ForceQuery: pr.In.URL.ForceQuery}
			pr.Out.Host = "" // that of the URL
			p.cutHeaders(pr.Out.Header)
		},
		ModifyResponse: func(r *http.Response) error {
			r.Request.Context().Value(passageKey{}).(*passage).status = r.StatusCode
			r.Header.Del("Alt-Svc") // it would lead clients past the proxy
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			way := r.Context().Value(passageKey{}).(*passage)
			if !errors.As(err, &way.no) {
				way.no = unreachable(way.target, "gave no proper answer", err)
			}
			way.status = way.no.status
			deny(w, way.no)
		},
	}
}

// cutHeaders drops what is meant for the proxy or would make it obey a client. net/http has dropped what
// belongs to one connection.
func (p *Proxy) cutHeaders(h http.Header) {
	for _, name := range []string{"Te", "Expect", "Via", "Http2-Settings", "Proxy-Connection", "Forwarded",
		"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		h.Del(name)
	}
	if g := p.config.Gateway; g != nil {
		g.cutHeaders(h)
	}
	if h.Get("User-Agent") == "" {
		h["User-Agent"] = []string{""} // else net/http names itself
	}
}

// judge says whether a request may pass, and fills in what the log says of its target.
func (p *Proxy) judge(d *door, r *http.Request, dec *Decision) (*passage, *refusal) {
	way := &passage{scheme: d.scheme}
	var no *refusal
	if d.host == "" {
		way.host, way.port, no = absolute(d, r)
		dec.Host, dec.Port = named(head{method: r.Method, target: r.RequestURI})
	} else {
		way.host, way.port, no = d.host, d.port, inside(d, r)
		dec.Host, dec.Port = d.host, d.port
	}
	if no != nil {
		return nil, no
	}
	way.open = d.open
	var rules Rules
	if way.rule, rules, no = p.allow(d.open, wanted(*dec, way.host, way.port), d.scheme == "https"); no != nil {
		return nil, no
	}
	way.private = rules.Private
	switch {
	case len(r.RequestURI) > p.config.Limits.URIBytes:
		return nil, &refusal{status: http.StatusRequestURITooLong, rule: RuleURI, reason: "the request's target is too long"}
	case d.host == "" && !sameHost(d.first.host, way.host, way.port, 80):
		return nil, &refusal{status: http.StatusForbidden, rule: RuleHost,
			reason: "the Host header names another host than the target"}
	case r.Header.Get("Upgrade") != "" || d.first.upgrade:
		return nil, &refusal{status: http.StatusForbidden, rule: RuleUpgrade,
			reason: "an Upgrade would make the connection something else than HTTP; use TLS"}
	case p.config.Gateway != nil:
		return way, p.config.Gateway.judge(way, r)
	}
	return way, nil
}

// wanted is a decision's beginning about a host.
func wanted(d Decision, host string, port int) Decision {
	d.Host, d.Port = host, port
	return d
}

// absolute reads the target "http://HOST[:PORT][/PATH]".
func absolute(d *door, r *http.Request) (string, int, *refusal) {
	form := &refusal{status: http.StatusBadRequest, rule: RuleForm, reason: "the proxy wants http://HOST/... or CONNECT HOST:PORT"}
	after, ok := strings.CutPrefix(r.RequestURI, "http://")
	u := r.URL
	if !ok || u.Scheme != "http" || u.Opaque != "" || u.Fragment != "" || strings.ContainsAny(after, "#\\") {
		return "", 0, form
	}
	host, port, err := Canonical(u.Host)
	if err != nil || u.User != nil || !strings.HasPrefix(after, u.Host) {
		return "", 0, &refusal{status: http.StatusBadRequest, rule: RuleAuthority, reason: "the target's host is not spelled plainly"}
	}
	if _, _, err := Canonical(d.first.host); err != nil {
		return "", 0, &refusal{status: http.StatusBadRequest, rule: RuleAuthority, reason: "the Host header is not spelled plainly"}
	}
	if port == 0 {
		port = 80
	}
	return host, port, nil
}

// inside checks a request in a tunnel or behind a captured address: it is for that host alone.
func inside(d *door, r *http.Request) *refusal {
	if r.Method == http.MethodConnect || !strings.HasPrefix(r.RequestURI, "/") || strings.ContainsAny(r.RequestURI, "#\\") {
		return &refusal{status: http.StatusBadRequest, rule: RuleForm, reason: "only plain requests for a path pass inside a tunnel"}
	}
	if !sameHost(r.Host, d.host, d.port, usualPort(d.scheme)) {
		return &refusal{status: http.StatusMisdirectedRequest, rule: RuleHost,
			reason: "the Host header names another host than the connection, which is for " + d.host}
	}
	return nil
}

func sameHost(header, host string, port, usual int) bool {
	h, p, err := Canonical(header)
	if p == 0 {
		p = usual
	}
	return err == nil && h == host && p == port
}

func usualPort(scheme string) int {
	if scheme == "https" {
		return 443
	}
	return 80
}

// buffers lends the copies of answers their memory.
type buffers struct{ pool sync.Pool }

const bufferBytes = 32 << 10

func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, bufferBytes)
}

func (b *buffers) Put(buf []byte) { b.pool.Put(&buf) }

// counter counts a request's body.
type counter struct {
	io.ReadCloser
	n atomic.Int64 // the transport may still read when the answer is done
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// counted counts an answer's body.
type counted struct {
	http.ResponseWriter
	n int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.n += int64(n)
	return n, err
}

// Unwrap lets the forwarder flush.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }
