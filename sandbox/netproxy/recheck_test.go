package netproxy

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// changing are rules that a test changes while they are asked.
type changing struct {
	mu    sync.Mutex
	rules Rules
}

func (c *changing) now() Rules {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rules
}

func (c *changing) set(r Rules) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rules = r
}

// held opens a tunnel to a port where the host waits for SSH, and answers only once.
func (r *rig) held(t *testing.T, c Credentials, host string) *bufio.Reader {
	t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(deadline))
	secret := base64.StdEncoding.EncodeToString([]byte(c.User + ":" + c.Password))
	_, _ = fmt.Fprintf(conn, "CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\nProxy-Authorization: Basic %[2]s\r\n\r\nSSH-2.0-x\r\n", host, secret)
	in := bufio.NewReader(conn)
	answer, err := http.ReadResponse(in, nil)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("%s: %v %v", host, answer, err)
	}
	if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "SSH-2.0") {
		t.Fatalf("%s: %q %v", host, line, err)
	}
	return in
}

// hungUp reports whether the proxy ends the connection.
func hungUp(in *bufio.Reader) bool {
	_, err := io.Copy(io.Discard, in)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

func TestChangedRulesEndWhatTheyNoLongerAllow(t *testing.T) {
	ten := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	before := Rules{Allowed: []string{"allowed.test:22", "sub.wild.test:22", "internal.test:22"}, Private: ten}
	for name, change := range map[string]struct {
		rules Rules
		ended map[string]string // host -> rule
	}{
		"the same": {before, map[string]string{}},
		"denied":   {Rules{Allowed: before.Allowed, Private: ten, Denied: []string{"*.wild.test"}}, map[string]string{"sub.wild.test": "denied:*.wild.test"}},
		"unlisted": {Rules{Allowed: []string{"allowed.test:22", "internal.test:22"}, Private: ten}, map[string]string{"sub.wild.test": RuleNotListed}},
		"private":  {Rules{Allowed: before.Allowed}, map[string]string{"internal.test": RuleAddress}},
		"off": {Rules{Allowed: before.Allowed, Private: ten, Closed: true},
			map[string]string{"allowed.test": RuleClosed, "sub.wild.test": RuleClosed, "internal.test": RuleClosed}},
		"broken": {Rules{Allowed: before.Allowed, Private: ten, Denied: []string{"http://x"}},
			map[string]string{"allowed.test": RuleUnreadable, "sub.wild.test": RuleUnreadable, "internal.test": RuleUnreadable}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, options{})
			c := &changing{rules: before}
			cred, release := r.proxy.Admit("talker", c.now)
			defer release()
			open := map[string]*bufio.Reader{}
			for _, h := range before.Allowed {
				open[strings.TrimSuffix(h, ":22")] = r.held(t, cred, h)
			}
			c.set(change.rules)
			r.proxy.Recheck()
			for host, in := range open {
				rule, ended := change.ended[host]
				if ended && !hungUp(in) {
					t.Errorf("%s stays open", host)
				}
				told := ""
				for _, d := range r.told() {
					if d.Host == host && !d.Allowed && d.Command == "talker" {
						told = d.Rule
					}
				}
				if told != rule {
					t.Errorf("%s: told %q, want %q", host, told, rule)
				}
			}
			r.proxy.Recheck() // nothing is told twice
			n := 0
			for _, d := range r.told() {
				if !d.Allowed {
					n++
				}
			}
			if n != len(change.ended) {
				t.Errorf("%d refusals for %d connections", n, len(change.ended))
			}
			release()
		})
	}
}

func TestChangedRulesEndAPlainDownload(t *testing.T) {
	c := &changing{rules: Rules{Allowed: []string{"allowed.test"}}}
	slow, stop := make(chan struct{}), make(chan struct{})
	r := newRig(t, options{})
	host := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.WriteString(w, "first\n")
		_ = http.NewResponseController(w).Flush()
		close(slow)
		select {
		case <-q.Context().Done():
		case <-stop:
		}
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { close(stop); _ = host.Close() }()
	go func() { _ = host.Serve(l) }()
	r.mu.Lock()
	r.real["127.0.1.1:80"] = l.Addr().String()
	r.accepted++ // nobody counts there
	r.mu.Unlock()
	cred, release := r.proxy.Admit("loader", c.now)
	defer release()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(deadline))
	_, _ = fmt.Fprintf(conn, "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nProxy-Authorization: Basic %s\r\n\r\n",
		base64.StdEncoding.EncodeToString([]byte(cred.User+":"+cred.Password)))
	<-slow
	c.set(Rules{Allowed: []string{"allowed.test"}, Denied: []string{"allowed.test"}})
	r.proxy.Recheck()
	if !hungUp(bufio.NewReader(conn)) {
		t.Error("the download goes on")
	}
}
