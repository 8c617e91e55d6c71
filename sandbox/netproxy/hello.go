package netproxy

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

const maxHello = 64 << 10 // bytes that may come until a ClientHello is complete

var errSeen = errors.New("the ClientHello was read")

// readHello lets crypto/tls read a ClientHello from r. It returns the server name in it, "" for none, and
// every byte that was read, to be sent on.
func readHello(r io.Reader) (name string, read []byte, err error) {
	var taken bytes.Buffer
	seen := false
	err = tls.Server(readOnly{r: io.TeeReader(io.LimitReader(r, maxHello), &taken)}, &tls.Config{
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			name, seen = h.ServerName, true
			return nil, errSeen
		},
	}).Handshake()
	if !seen {
		return "", taken.Bytes(), err
	}
	return name, taken.Bytes(), nil
}

// checkHello reads the first bytes of a tunnel to host. They must be a ClientHello for it; a host that is
// an address may have none, since TLS names no addresses.
func checkHello(r io.Reader, host string) ([]byte, *refusal) {
	name, read, err := readHello(r)
	if err != nil {
		return read, notTLS(host, "TLS", len(read))
	}
	if _, ip := isLiteral(host); name == "" && ip {
		return read, nil
	}
	if got, port, err := Canonical(name); err != nil || port != 0 || got != host {
		return read, &refusal{rule: RuleServerName, reason: "the connection to " + host + " asks for the server " +
			quoted(name) + "; it may ask for that host alone"}
	}
	return read, nil
}

// checkSSH reads the first bytes of a tunnel to port 22.
func checkSSH(r io.Reader, host string) ([]byte, *refusal) {
	read := make([]byte, 4)
	n, err := io.ReadFull(r, read)
	if err != nil || string(read) != "SSH-" {
		return read[:n], notTLS(host, "SSH", n)
	}
	return read, nil
}

func notTLS(host, what string, read int) *refusal {
	no := &refusal{rule: RuleNotTLS, reason: "the connection to " + host + " must begin with " + what}
	if read == 0 {
		no.reason = strings.Replace(no.reason, "must begin with", "ended before it began with", 1)
	}
	return no
}

// readOnly is a connection that can only be read: what a handshake writes into it fails. Its deadlines
// are those of the connection below, set before.
type readOnly struct {
	net.Conn // nil; nothing of it is called
	r        io.Reader
}

func (c readOnly) Read(b []byte) (int, error)     { return c.r.Read(b) }
func (readOnly) Write([]byte) (int, error)        { return 0, io.ErrClosedPipe }
func (readOnly) Close() error                     { return nil }
func (readOnly) SetDeadline(time.Time) error      { return nil }
func (readOnly) SetReadDeadline(time.Time) error  { return nil }
func (readOnly) SetWriteDeadline(time.Time) error { return nil }
