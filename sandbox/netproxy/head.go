package netproxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// head is the beginning of a request as the client spelled it. net/http repairs or drops some of what is
// checked here (two ways to end a line, a Host that disagrees with the target, two lengths), so it sees
// only heads that leave nothing to repair.
type head struct {
	method, target string
	host           string
	credentials    []string // each Proxy-Authorization
	body           bool     // a length other than 0, or chunks
	upgrade        bool
}

// readHead reads until the blank line. raw is the head with it, rest what came after it in the same read.
// Of a client that left without a word raw is nil, and nothing is refused.
func readHead(r io.Reader, most, mostURI int) (h head, raw, rest []byte, no *refusal) {
	buf := make([]byte, 0, 4096)
	line := false // the request line was checked
	for {
		from := max(0, len(buf)-3)
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, min(2*cap(buf), most+1)), buf...)
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if end := bytes.Index(buf, []byte("\r\n")); end >= 0 && !line || end < 0 && len(buf) > mostURI+64 {
			line = true
			if no := h.readLine(buf, end, mostURI); no != nil {
				return h, nil, nil, no
			}
		}
		if i := bytes.Index(buf[from:], []byte("\r\n\r\n")); i >= 0 && from+i+4 <= most {
			end := from + i + 4
			return h, buf[:end], buf[end:], h.readFields(string(buf[:end-2]))
		}
		switch {
		case len(buf) > most:
			return h, nil, nil, &refusal{status: http.StatusRequestHeaderFieldsTooLarge, rule: RuleHeaders,
				reason: fmt.Sprintf("the request's headers are longer than %d bytes", most)}
		case err != nil:
			if len(buf) == 0 {
				return h, nil, nil, nil
			}
			return h, nil, nil, badRequest("the request ended before its headers did")
		}
	}
}

// readLine checks "METHOD TARGET HTTP/1.1"; end is where it ends, -1 when it is too long to tell. CONNECT
// may be of HTTP/1.0, as that of Python before 3.12 and so of many pip: what follows it is not HTTP anyway.
func (h *head) readLine(buf []byte, end, mostURI int) *refusal {
	tooLong := &refusal{status: http.StatusRequestURITooLong, rule: RuleURI,
		reason: fmt.Sprintf("the request's target is longer than %d bytes", mostURI)}
	if end < 0 {
		return tooLong
	}
	line := string(buf[:end])
	for _, c := range []byte(line) {
		if c < ' ' || c > '~' {
			return badRequest("the request line has a byte that is not printable ASCII")
		}
	}
	method, rest, _ := strings.Cut(line, " ")
	target, version, ok := strings.Cut(rest, " ")
	switch {
	case !isToken(method) || len(method) > 32 || target == "" || !ok || strings.Contains(version, " "):
		return badRequest("the request line is not METHOD TARGET HTTP/1.1")
	case version != "HTTP/1.1" && !(version == "HTTP/1.0" && method == http.MethodConnect):
		status := http.StatusBadRequest
		if strings.HasPrefix(version, "HTTP/") {
			status = http.StatusHTTPVersionNotSupported
		}
		return &refusal{status: status, rule: RuleVersion, reason: "only HTTP/1.1 passes"}
	case len(target) > mostURI:
		return tooLong
	}
	h.method, h.target = method, target
	return nil
}

// readFields checks the head from its first line to the CR LF of its last.
func (h *head) readFields(text string) *refusal {
	lines := strings.Split(strings.TrimSuffix(text, "\r\n"), "\r\n")[1:]
	if len(lines) > 200 {
		return &refusal{status: http.StatusRequestHeaderFieldsTooLarge, rule: RuleHeaders,
			reason: "the request has more than 200 headers"}
	}
	count := map[string]int{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok || !isToken(name) {
			return badRequest("a header has no plain name")
		}
		value = strings.Trim(value, " \t")
		for _, c := range []byte(value) {
			if c < ' ' && c != '\t' || c == 127 {
				return badRequest("a header has a control character")
			}
		}
		name = lower(name)
		count[name]++
		if no := h.note(name, value); no != nil {
			return no
		}
	}
	switch {
	case count["host"] != 1 && (h.method != http.MethodConnect || count["host"] > 1):
		return badRequest("a request has exactly one Host header")
	case count["content-length"]+count["transfer-encoding"] > 1:
		return badRequest("the request gives its length twice")
	}
	return nil
}

// note keeps what decides.
func (h *head) note(name, value string) *refusal {
	switch name {
	case "host":
		h.host = value
	case "proxy-authorization":
		h.credentials = append(h.credentials, value)
	case "content-length":
		if value == "" || strings.Trim(value, "0123456789") != "" || len(value) > 18 {
			return badRequest("Content-Length is no plain number")
		}
		h.body = h.body || strings.Trim(value, "0") != ""
	case "transfer-encoding":
		if lower(value) != "chunked" {
			return badRequest("only chunked is known as Transfer-Encoding")
		}
		h.body = true
	case "upgrade":
		h.upgrade = true
	case "connection":
		for token := range strings.SplitSeq(value, ",") {
			h.upgrade = h.upgrade || lower(strings.Trim(token, " \t")) == "upgrade"
		}
	}
	return nil
}

// isToken reports whether s is a token of RFC 9110.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}
