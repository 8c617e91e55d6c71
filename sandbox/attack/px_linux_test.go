package attack

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// request is what px was asked for.
type request struct {
	noAuth              bool
	auth, connect       string
	tls, sni            string
	body, raw, then     string
	hasSNI, hasRaw, has bool // sni and raw were given; a line was
	line                string
	headers             []string
}

// px is the raw client of the proxy list:
//
//	px req [--noauth] [--auth V] [--connect H:P] [--tls HOST] [--sni S|-] [--body B] [--rawsend B] [--then S] 'LINE' 'Header: v'...
//
// It speaks to the proxy that PX names and prints what comes back.
func px(args []string) int {
	if len(args) == 0 || args[0] != "req" {
		return fail("usage: px req ...")
	}
	r, err := parsePx(args[1:])
	if err == nil {
		err = r.do()
	}
	if err != nil {
		fmt.Println("px:", err)
		return 1
	}
	return 0
}

func parsePx(args []string) (request, error) {
	r := request{auth: os.Getenv("AUTHVAL")}
	for len(args) > 0 && strings.HasPrefix(args[0], "--") {
		if args[0] == "--noauth" {
			r.noAuth, args = true, args[1:]
			continue
		}
		if len(args) < 2 {
			return r, fmt.Errorf("%s has no value", args[0])
		}
		value := unescape(args[1])
		switch args[0] {
		case "--auth":
			r.auth = value
		case "--connect":
			r.connect = value
		case "--tls":
			r.tls = value
			if r.connect == "" {
				r.connect = value + ":443"
			}
		case "--sni":
			r.sni, r.hasSNI = value, true
		case "--body":
			r.body = value
		case "--rawsend":
			r.raw, r.hasRaw = value, true
		case "--then":
			r.then = value
		default:
			return r, fmt.Errorf("unknown option %s", args[0])
		}
		args = args[2:]
	}
	if len(args) > 0 {
		r.line, r.has = unescape(args[0]), true
		for _, h := range args[1:] {
			r.headers = append(r.headers, unescape(h))
		}
	}
	return r, nil
}

// unescape understands \r \n \t \0 \\ and \xNN.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'r':
			b.WriteByte('\r')
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case '0':
			b.WriteByte(0)
		case 'x':
			if i+2 < len(s) {
				if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
					b.WriteByte(byte(n))
					i += 2
					continue
				}
			}
			b.WriteString(`\x`)
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func (r request) do() error {
	c, err := net.DialTimeout("tcp", os.Getenv("PX"), 3*time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(3 * time.Second)); err != nil {
		return err
	}
	auth := ""
	if !r.noAuth {
		auth = "Proxy-Authorization: " + r.auth + "\r\n"
	}
	var inner net.Conn = c
	if r.connect != "" {
		if inner, err = r.tunnel(c, auth); inner == nil {
			return err
		}
		auth = ""
	}
	text := r.raw
	if !r.hasRaw {
		if !r.has {
			return nil
		}
		text = r.line + "\r\n"
		for _, h := range r.headers {
			text += h + "\r\n"
		}
		text += auth + "\r\n" + r.body
	}
	if _, err := io.WriteString(inner, text); err != nil {
		return err
	}
	return r.answer(inner)
}

// tunnel asks for a CONNECT and, if wanted, speaks TLS in it. Without a tunnel it gives nil.
func (r request) tunnel(c net.Conn, auth string) (net.Conn, error) {
	if _, err := fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", r.connect, r.connect, auth); err != nil {
		return nil, err
	}
	in := bufio.NewReader(c)
	resp, err := http.ReadResponse(in, &http.Request{Method: "CONNECT"})
	if err != nil {
		return nil, err
	}
	fmt.Println("CONNECT", resp.Status)
	if resp.StatusCode != 200 {
		return nil, nil
	}
	if r.tls == "" {
		return prefixed{c, in}, nil
	}
	name := r.tls
	if r.hasSNI {
		name = strings.TrimPrefix(r.sni, "-")
	}
	t := tls.Client(prefixed{c, in}, &tls.Config{ServerName: name, InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
	if err := t.Handshake(); err != nil {
		return nil, err
	}
	return t, nil
}

// answer prints what comes back: one response when one is due, else all until nothing comes any more.
func (r request) answer(c net.Conn) error {
	in := bufio.NewReader(c)
	single := r.body == "" && !r.hasRaw && r.then == ""
	if single || r.then != "" {
		method, _, _ := strings.Cut(r.line, " ")
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return err
		}
		fmt.Println(resp.Proto, resp.Status)
		_ = resp.Header.Write(os.Stdout)
		if r.then != "" {
			_, _ = io.WriteString(c, r.then)
		}
		if single {
			_, err = io.Copy(os.Stdout, io.LimitReader(resp.Body, 1<<20))
			fmt.Println()
			return err
		}
	}
	b := make([]byte, 4096)
	for {
		n, err := in.Read(b)
		_, _ = os.Stdout.Write(b[:n])
		if err != nil {
			fmt.Println()
			return nil
		}
		_ = c.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
	}
}

// prefixed is a connection of which something has been read already.
type prefixed struct {
	net.Conn
	in *bufio.Reader
}

func (p prefixed) Read(b []byte) (int, error) { return p.in.Read(b) }
