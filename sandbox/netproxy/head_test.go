package netproxy

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzHead holds that what passes here means the same to net/http: the same method, target, host and kind
// of body, and nothing of the head left over for a second request.
func FuzzHead(f *testing.F) {
	for _, s := range []string{
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "CONNECT a.test:443 HTTP/1.0\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
		"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "GET / HTTP/1.1\r\nHost:a\r\nConnection: x, Upgrade\r\nUpgrade: h2c\r\n\r\n",
		"GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nA\t: b\r\n\r\n",
		"get /\\ HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\nGET /2 HTTP/1.1\r\nHost: b\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, raw, rest, no := readHead(bytes.NewReader(data), 4096, 1024)
		slow, rawSlow, restSlow, noSlow := readHead(iotest.OneByteReader(bytes.NewReader(data)), 4096, 1024)
		if (no == nil) != (noSlow == nil) || no == nil && !bytes.Equal(raw, rawSlow) || slow.target != h.target {
			t.Fatalf("read at once %q %v, byte by byte %q %v", raw, no, rawSlow, noSlow)
		}
		if no != nil || raw == nil {
			return
		}
		if !bytes.HasPrefix(data, append(append([]byte{}, raw...), rest...)) || len(restSlow) != 0 {
			t.Fatalf("%q is not the beginning of %q", raw, data)
		}
		if strings.ContainsAny(strings.ReplaceAll(string(raw), "\r\n", ""), "\r\n\x00") {
			t.Fatalf("%q has line ends of two kinds", raw)
		}
		br := bufio.NewReader(io.MultiReader(bytes.NewReader(raw), strings.NewReader("REST")))
		r, err := http.ReadRequest(br)
		if err != nil || h.method == http.MethodConnect {
			return // net/http answers 400, and never sees a CONNECT
		}
		body := r.ContentLength != 0 || len(r.TransferEncoding) > 0
		if r.Method != h.method || r.RequestURI != h.target || body != h.body || r.URL.Host == "" && r.Host != h.host {
			t.Fatalf("%+v here, %+v for net/http", h, r)
		}
		if left, _ := io.ReadAll(br); string(left) != "REST" {
			t.Fatalf("net/http leaves %q", left)
		}
	})
}

func TestHeadsAreBounded(t *testing.T) {
	for text, want := range map[string]int{
		"GET /" + strings.Repeat("a", 2000) + " HTTP/1.1\r\nHost: a\r\n\r\n":                414,
		"GET /" + strings.Repeat("a", 2000):                                                 414,
		"GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("a", 5000) + "\r\n\r\n":         431,
		"GET / HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X: a\r\n", 600) + "\r\n":          431,
		"GET / HTTP/1.1\r\nHost: a\r\n":                                                     400,
		strings.Repeat("A", 33) + " / HTTP/1.1\r\nHost: a\r\n\r\n":                          400,
		"GET  / HTTP/1.1\r\nHost: a\r\n\r\n":                                                400,
		"GET / HTTP/1.1 \r\nHost: a\r\n\r\n":                                                400,
		"CONNECT a.test:443 HTTP/1.0\r\nHost: a.test\r\nHost: b.test\r\n\r\n":               400,
		"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n":         400,
		"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n": 400,
	} {
		_, _, _, no := readHead(strings.NewReader(text), 4096, 1024)
		if no == nil || no.status != want {
			t.Errorf("%.60q: %+v, want %d", text, no, want)
		}
	}
	if _, raw, _, no := readHead(strings.NewReader(""), 4096, 1024); raw != nil || no != nil {
		t.Error("a client that says nothing is refused", no)
	}
}
