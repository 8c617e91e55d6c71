package netproxy

import (
	"strings"
	"testing"
	"time"
)

// What speaks another protocol at the proxy's port gets nowhere, though it knows the way.
func TestOtherProtocolsAreNoWayOut(t *testing.T) {
	r := newRig(t, options{limits: Limits{Head: 100 * time.Millisecond}})
	for name, raw := range map[string]string{
		"SOCKS5":        "\x05\x01\x00\x05\x01\x00\x03\x0ballowed.test\x00\x50GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
		"SOCKS5 login":  "\x05\x01\x02\x01\x04cmd7\x06s3cret\x05\x01\x00\x03\x0callowed.test\x01\xbb",
		"SOCKS4a":       "\x04\x01\x00\x50\x00\x00\x00\x01cmd7\x00allowed.test\x00GET / HTTP/1.1\r\n\r\n",
		"SOCKS4":        "\x04\x01\x00\x50\x0b\x00\x01\x01\x00",
		"TLS":           clientHello(t, "allowed.test"),
		"HTTP/2":        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
		"PROXY":         "PROXY TCP4 11.0.1.1 11.0.1.1 1 80\r\nGET / HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
		"PROXY 2":       "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\x0b\x00\x01\x01\x0b\x00\x01\x01\x00\x01\x00\x50GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
		"SSH":           "SSH-2.0-x\r\n",
		"DNS over TCP":  "\x00\x1e\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07allowed\x04test\x00\x00\x01\x00\x01",
		"an empty line": "\r\nGET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
	} {
		if a := r.fire(shot{raw: raw}); a.status == 200 || strings.Contains(a.text, "BACKEND") {
			t.Errorf("%s: %+v", name, a)
		}
	}
	r.stop()
	if log := r.text(); log != "" {
		t.Errorf("something arrived:\n%s", log)
	}
}
