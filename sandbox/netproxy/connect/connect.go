// Package connect is the client side of the proxy for tools that speak no HTTP, such as ssh: the static
// helper's command "connect HOST PORT". It needs nothing but sockets, so that the helper stays small.
package connect

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Variable names the environment variable with the proxy's URL, credentials included.
const Variable = "CARREL_SANDBOX_PROXY"

const (
	maxAnswer = 16 << 10         // bytes of the proxy's answer
	patience  = 30 * time.Second // until the proxy answered
)

// RefusedError is what the proxy answered instead of a tunnel.
type RefusedError struct {
	Host   string // HOST:PORT
	Status int
	Rule   string // X-Proxy-Rule
	Reason string // a sentence for people
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("connect to %q: %s", e.Host, e.Reason)
}

// Pipe opens a tunnel to host:port through the proxy ("http://USER:PASSWORD@HOST:PORT") and copies in to
// it and it to out, until the host ended its side or the context ended. A refusal is a *RefusedError.
// After in has ended the host may still answer. in is not closed: a read of it may outlive Pipe.
func Pipe(ctx context.Context, proxy, host, port string, in io.Reader, out io.Writer) error {
	conn, early, err := dial(ctx, proxy, host, port)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	go func() {
		if _, err := io.Copy(conn, in); err == nil {
			_ = conn.CloseWrite()
		}
	}()
	if _, err := out.Write(early); err != nil {
		return fmt.Errorf("write what %q sent: %w", host, err)
	}
	if _, err := io.Copy(out, conn); err != nil {
		return fmt.Errorf("carry the connection to %q: %w", host, errors.Join(ctx.Err(), err))
	}
	return nil
}

// dial asks the proxy for a tunnel. early is what came through it already.
func dial(ctx context.Context, proxy, host, port string) (conn *net.TCPConn, early []byte, err error) {
	address, authorization, err := readProxy(proxy)
	if err != nil {
		return nil, nil, err
	}
	target := net.JoinHostPort(host, port)
	if strings.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, nil, fmt.Errorf("connect to %q: it is no host and port", target)
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, nil, fmt.Errorf("reach the proxy: %w", err)
	}
	conn = c.(*net.TCPConn)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(patience)) // a failure shows below
	_, err = fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\nProxy-Authorization: Basic %s\r\n\r\n", target, target, authorization)
	if err == nil {
		early, err = readAnswer(conn, target)
	}
	if err != nil {
		_ = conn.Close()
		return nil, nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	return conn, early, nil
}

// readProxy takes the URL apart. Its error does not repeat it: it holds a password.
func readProxy(proxy string) (address, authorization string, err error) {
	rest, ok := strings.CutPrefix(proxy, "http://")
	i := strings.LastIndexByte(rest, '@')
	if !ok || i < 0 {
		return "", "", fmt.Errorf("read %s: it is no http URL with credentials; is this a sandbox with network rules?", Variable)
	}
	return strings.TrimSuffix(rest[i+1:], "/"), base64.StdEncoding.EncodeToString([]byte(rest[:i])), nil
}

func readAnswer(conn io.Reader, target string) (early []byte, err error) {
	var answer []byte
	head, rest, found := "", "", false
	for !found && len(answer) < maxAnswer {
		buf := make([]byte, 4096)
		n, err := conn.Read(buf)
		answer = append(answer, buf[:n]...)
		if head, rest, found = strings.Cut(string(answer), "\r\n\r\n"); !found && err != nil {
			return nil, fmt.Errorf("read the proxy's answer: %w", err)
		}
	}
	lines := strings.Split(head, "\r\n")
	fields := strings.Fields(lines[0])
	if len(fields) < 2 || !strings.HasPrefix(fields[0], "HTTP/1.") {
		return nil, errors.New("read the proxy's answer: it is no HTTP")
	}
	if fields[1] == "200" {
		return []byte(rest), nil
	}
	refused := &RefusedError{Host: target}
	if refused.Status, err = strconv.Atoi(fields[1]); err != nil {
		return nil, errors.New("read the proxy's answer: it has no status")
	}
	for _, line := range lines[1:] {
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "X-Proxy-Rule") {
			refused.Rule = strings.TrimSpace(value)
		}
	}
	more, _ := io.ReadAll(io.LimitReader(conn, maxAnswer)) // what there is of the sentence is enough
	refused.Reason = strings.TrimSpace(rest + string(more))
	return nil, refused
}
