package attack

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

// The naive proxy is the control of the proxy list: it makes the mistakes that the entries are about,
// and nobody has to say who he is. An entry that gets nowhere through it proves nothing.

const naiveLog = rigLog + "/naive"

// naive is that proxy.
type naive struct {
	mu   sync.Mutex
	run  int // counts the resets
	open map[net.Conn]bool
	busy sync.WaitGroup
}

func serveNaive(addr string) (*naive, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	p := &naive{open: map[net.Conn]bool{}}
	go accept(l, func(c net.Conn) {
		run := p.begin(c)
		defer p.busy.Done()
		in := bufio.NewReader(c)
		for p.request(c, in, run) {
		}
		p.forget(c)
	})
	return p, nil
}

func (p *naive) begin(c net.Conn) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy.Add(1)
	p.open[c] = true
	return p.run
}

func (p *naive) forget(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

// dial connects for a client of a run, unless that run is over.
func (p *naive) dial(addr string, run int) (net.Conn, error) {
	up, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run != run {
		_ = up.Close()
		return nil, net.ErrClosed
	}
	p.open[up] = true
	return up, nil
}

// reset ends what a run left, so that nothing of it reaches the servers in the next one.
func (p *naive) reset() {
	p.mu.Lock()
	p.run++
	for c := range p.open {
		_ = c.Close()
	}
	clear(p.open)
	p.mu.Unlock()
	p.busy.Wait()
}

// request serves one request of a client.
func (p *naive) request(c net.Conn, in *bufio.Reader, run int) (more bool) {
	line, err := in.ReadString('\n')
	if err != nil {
		return false
	}
	method, target, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
	if i := strings.LastIndexByte(target, ' '); i >= 0 {
		target = target[:i]
	}
	var head bytes.Buffer
	host, length := "", 0
	for {
		h, err := in.ReadString('\n')
		if h == "\r\n" || h == "\n" || err != nil {
			break
		}
		key, value, _ := strings.Cut(strings.TrimRight(h, "\r\n"), ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(key) {
		case "host":
			host = value
		case "content-length":
			length, _ = strconv.Atoi(value)
		}
		head.WriteString(h)
	}
	path := target
	if i := strings.Index(target, "//"); i >= 0 && method != "CONNECT" {
		var rest string
		host, rest, _ = strings.Cut(target[i+2:], "/")
		path = "/" + rest
	}
	if method == "CONNECT" {
		host = target
	}
	addr := naiveAddress(host, method == "CONNECT")
	up, err := p.dial(addr, run)
	if err != nil {
		_, err = io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
		return err == nil
	}
	defer func() { p.forget(up); _ = up.Close() }()
	if method == "CONNECT" {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(up, in) }()
		_, _ = io.Copy(c, up)
		return false
	}
	body, _ := io.ReadAll(io.LimitReader(in, int64(length)))
	_, _ = fmt.Fprintf(up, "%s %s HTTP/1.1\r\n%s\r\n%s", method, decode(path), head.Bytes(), body)
	return p.answer(c, up, method, run)
}

func (p *naive) answer(c, up net.Conn, method string, run int) bool {
	in := bufio.NewReader(up)
	resp, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		return true // and takes what follows for the next request
	}
	if resp.StatusCode == 101 {
		_ = resp.Write(c)
		go func() { _, _ = io.Copy(up, c) }()
		_, _ = io.Copy(c, in)
		return false
	}
	if to := resp.Header.Get("Location"); to != "" { // follows what it is told
		if other, err := p.dial(naiveAddress(strings.TrimPrefix(to, "http://"), false), run); err == nil {
			_, _ = fmt.Fprintf(other, "GET /stolen HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			_, _ = bufio.NewReader(other).ReadString('\n')
			p.forget(other)
			_ = other.Close()
		}
	}
	if resp.Header.Get("Content-Encoding") == "gzip" { // unpacks what it gets
		resp.Header.Del("Content-Encoding")
		resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader("unpacked")), int64(len("unpacked"))
	}
	return resp.Write(c) == nil
}

func decode(s string) string {
	return strings.NewReplacer("%0d", "\r", "%0a", "\n", "%20", " ", "%00", "\x00").Replace(s)
}

// naiveAddress finds a host somehow, and logs it as it came.
func naiveAddress(authority string, tls bool) string {
	authority, _, _ = strings.Cut(decode(authority), "/")
	if f, err := os.OpenFile(naiveLog, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644); err == nil {
		_, _ = fmt.Fprintf(f, "host=%s\n", authority)
		_ = f.Close()
	}
	authority, _, _ = strings.Cut(authority, "\x00")
	authority, _, _ = strings.Cut(authority, "\r")
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	host, port, _ := strings.Cut(authority, ":")
	host = strings.NewReplacer("а", "a", "ａ", "a", "。", ".").Replace(host)
	digits := strings.TrimLeft(port, "+0 ")
	for len(digits) > 0 && strings.Trim(digits, "0123456789") != "" {
		digits = digits[:len(digits)-1]
	}
	n, _ := strconv.Atoi(digits)
	if n %= 1 << 16; n == 0 {
		n = 80
		if tls {
			n = 443
		}
	}
	addr := host
	if net.ParseIP(host) == nil {
		found := addresses(host, 1)
		if found == nil {
			found = []string{publicAllowed}
		}
		addr = found[0]
	}
	return net.JoinHostPort(addr, strconv.Itoa(n))
}
