package netproxy

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// shot is one connection of an attacker: raw bytes, so that nothing repairs them on the way.
type shot struct {
	line    string   // request line
	headers []string // besides Proxy-Authorization
	body    string
	then    string // sent after the first answer
	connect string // HOST:PORT to tunnel to first
	tls     string // host to tunnel to at port 443, with TLS inside
	sni     string // instead of that host; "-" is none
	raw10   string // the line of a CONNECT without Host, as old clients write it
	raw     string // sent instead of a request
	noauth  bool
	auth    string // instead of the right Proxy-Authorization
}

// answer is what came back: the status of the last answer that could be read, 0 when there was none.
type answer struct {
	status int
	text   string
}

func (r *rig) authorization() string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(r.cred.User+":"+r.cred.Password))
}

// request spells a shot's request.
func (r *rig) request(line string, headers []string, s shot, proxied bool) string {
	text := line + "\r\n"
	for _, h := range headers {
		text += h + "\r\n"
	}
	switch {
	case !proxied || s.noauth:
	case s.auth != "":
		text += "Proxy-Authorization: " + s.auth + "\r\n"
	default:
		text += "Proxy-Authorization: " + r.authorization() + "\r\n"
	}
	return text + "\r\n"
}

// fire sends one shot to the explicit proxy.
func (r *rig) fire(s shot) answer {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(deadline))
	if s.tls != "" {
		s.connect = s.tls + ":443"
	}
	inner := s.connect == ""
	if !inner {
		a, ok := r.tunnel(conn, s)
		if !ok {
			return a
		}
	}
	return r.inside(conn, s, inner)
}

// tunnel asks for a tunnel and reports whether it stands.
func (r *rig) tunnel(conn net.Conn, s shot) (answer, bool) {
	line, headers := "CONNECT "+s.connect+" HTTP/1.1", []string{"Host: " + s.connect}
	if s.raw10 != "" {
		line, headers = s.raw10, nil
	}
	_, _ = io.WriteString(conn, r.request(line, headers, s, true))
	head, _ := readUntil(conn, "\r\n\r\n")
	if a := parse(head); a.status != 200 {
		rest, _ := io.ReadAll(conn)
		a.text += string(rest)
		return a, false
	}
	return answer{}, true
}

func (r *rig) inside(conn net.Conn, s shot, proxied bool) answer {
	if s.tls != "" {
		config := &tls.Config{RootCAs: r.trust, ServerName: s.tls}
		switch s.sni {
		case "":
		case "-":
			config.ServerName, config.InsecureSkipVerify = "", true
		default:
			config.ServerName = s.sni
		}
		secure := tls.Client(conn, config)
		if secure.Handshake() != nil {
			return answer{}
		}
		conn = secure
	}
	text := s.raw
	if text == "" {
		text = r.request(s.line, s.headers, s, proxied) + s.body
	}
	_, _ = io.WriteString(conn, text)
	if s.then != "" {
		head, _ := readUntil(conn, "\r\n\r\n")
		_, _ = io.WriteString(conn, s.then)
		rest, _ := io.ReadAll(conn)
		return parse(head + string(rest))
	}
	return r.collect(conn, strings.HasPrefix(text, "HEAD "))
}

// collect reads answers until the other side ends, or the one that it must wait for is complete.
func (r *rig) collect(conn net.Conn, head bool) answer {
	br := bufio.NewReader(conn)
	var all strings.Builder
	for {
		line, err := br.ReadString('\n')
		all.WriteString(line)
		if err != nil {
			break
		}
		if line == "\r\n" {
			if n := contentLength(all.String()); head || n >= 0 {
				if head {
					break
				}
				body := make([]byte, n)
				m, _ := io.ReadFull(br, body)
				all.Write(body[:m])
				break
			}
		}
	}
	return parse(all.String())
}

var lengthHeader = regexp.MustCompile(`(?i)\r\ncontent-length: (\d+)\r\n`)

func contentLength(head string) int {
	m := lengthHeader.FindStringSubmatch(head)
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

func readUntil(conn net.Conn, end string) (string, error) {
	var all []byte
	b := make([]byte, 1)
	for !strings.HasSuffix(string(all), end) {
		if _, err := conn.Read(b); err != nil {
			return string(all), err
		}
		all = append(all, b[0])
	}
	return string(all), nil
}

var statusLine = regexp.MustCompile(`^HTTP/1\.1 (\d{3}) `)

func parse(text string) answer {
	a := answer{text: text}
	if m := statusLine.FindStringSubmatch(text); m != nil {
		a.status, _ = strconv.Atoi(m[1])
	}
	return a
}

func get(target string, headers ...string) shot {
	return shot{line: "GET " + target + " HTTP/1.1", headers: headers}
}

func (a answer) String() string { return fmt.Sprintf("%d %.200q", a.status, a.text) }
