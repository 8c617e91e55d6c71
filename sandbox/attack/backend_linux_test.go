package attack

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// The addresses that stand for the internet and for a private network. The list calls them
// 127.0.1.1, .2, .3 and .9, and so does the log.
const (
	publicAllowed = "93.184.216.1"
	publicDenied  = "93.184.216.2"
	publicGit     = "93.184.216.3"
	privateHost   = "10.9.9.9"
	backendLog    = rigLog + "/backend"
)

// visit is a connection of one run.
type visit struct {
	net.Conn
	run int
}

// label is what the list calls an address.
func label(addr string) string {
	switch addr {
	case publicAllowed:
		return "127.0.1.1"
	case publicDenied:
		return "127.0.1.2"
	case publicGit:
		return "127.0.1.3"
	case privateHost:
		return "127.0.1.9"
	}
	return addr
}

// backend is every server behind the proxy. It logs what really arrived.
type backend struct {
	key *ecdsa.PrivateKey
	mu  sync.Mutex
	log *os.File
	run int // counts the resets: what is left of an earlier run is not logged
}

func serveBackends() (*backend, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	b := &backend{key: key}
	b.reset()
	for _, addr := range []string{publicAllowed, publicDenied, publicGit, privateHost, "127.0.1.1", "127.0.1.2", "127.0.1.3", "127.0.1.9"} {
		for _, port := range []string{"80", "443", "22", "8443"} {
			l, err := net.Listen("tcp", net.JoinHostPort(addr, port))
			if err != nil {
				return nil, err
			}
			go accept(l, func(c net.Conn) { b.serve(c, label(addr), port) })
		}
	}
	return b, nil
}

// reset empties the log.
func (b *backend) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.log != nil {
		_ = b.log.Close()
	}
	b.log, _ = os.Create(backendLog)
	b.run++
}

func (b *backend) now() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.run
}

func (b *backend) note(run int, what map[string]any) {
	line, _ := json.Marshal(what)
	b.mu.Lock()
	defer b.mu.Unlock()
	if run != b.run {
		return
	}
	_, _ = b.log.Write(append(line, '\n'))
}

func (b *backend) serve(conn net.Conn, ip, port string) {
	c := visit{conn, b.now()}
	b.note(c.run, map[string]any{"ip": ip, "port": port, "tcp": true})
	in := bufio.NewReader(c)
	first, err := in.Peek(1)
	if err != nil {
		return
	}
	if port != "443" || first[0] != 22 {
		b.requests(c, in, ip, port, "")
		return
	}
	t := tls.Server(prefixed{c.Conn, in}, &tls.Config{GetCertificate: b.certificate})
	if t.Handshake() != nil {
		return
	}
	b.requests(visit{t, c.run}, bufio.NewReader(t), ip, port, t.ConnectionState().ServerName)
}

func (b *backend) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := hello.ServerName
	if name == "" {
		name = "none.test"
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &b.key.PublicKey, b.key)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: b.key}, err
}

func (b *backend) requests(c visit, in *bufio.Reader, ip, port, sni string) {
	for {
		if start, err := in.Peek(4); err == nil && string(start) == "SSH-" {
			b.note(c.run, map[string]any{"ip": ip, "port": port, "raw": "SSH"})
			return
		}
		r, err := http.ReadRequest(in)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				b.note(c.run, map[string]any{"ip": ip, "port": port, "err": err.Error()})
			}
			return
		}
		body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		b.note(c.run, map[string]any{"ip": ip, "port": port, "sni": sni, "method": r.Method, "uri": r.RequestURI, "host": r.Host,
			"header": r.Header, "body": string(body), "te": r.TransferEncoding})
		if !b.answer(c, in, r, ip) {
			return
		}
	}
}

func (b *backend) answer(c visit, in *bufio.Reader, r *http.Request, ip string) (more bool) {
	text := "BACKEND " + ip
	switch {
	case r.Header.Get("Upgrade") == "websocket":
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n")
		got := make([]byte, 100)
		n, _ := in.Read(got)
		b.note(c.run, map[string]any{"ip": ip, "ws": string(got[:n])})
		return false
	case strings.HasPrefix(r.URL.Path, "/redirect"):
		_, _ = io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: http://denied.test/stolen\r\nContent-Length: 0\r\n\r\n")
	case r.URL.Path == "/bomb":
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nBOMB")
	case r.Method == http.MethodHead:
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(text))
	default:
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nAlt-Svc: h3=\":443\"\r\n\r\n%s", len(text), text)
	}
	return true
}
