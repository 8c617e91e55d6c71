package filter

import (
	"bufio"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"carrel/sandbox"
	"carrel/sandbox/netproxy"
	"carrel/sandbox/netproxy/proxytest"
	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

// host is one machine of the Internet, example.com: httptest's certificate is for that name.
type host struct {
	plain, secure *httptest.Server
	ssh           *proxytest.Listener

	filter *Filter // of the last box

	mu   sync.Mutex
	told []netproxy.Decision
	edit func(*policy.Policy) // what has changed in the policy; may be nil
}

// change changes the policy of the last box, for commands that run too.
func (h *host) change(edit func(*policy.Policy)) {
	h.mu.Lock()
	h.edit = edit
	h.mu.Unlock()
	h.filter.Recheck()
}

func newHost(t *testing.T) *host {
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "page of "+r.Host+"\n") })
	h := &host{plain: httptest.NewServer(page), secure: httptest.NewTLSServer(page)}
	var err error
	if h.ssh, err = proxytest.Listen(proxytest.Echo(0)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.ssh.Close)
	t.Cleanup(h.plain.Close)
	t.Cleanup(h.secure.Close)
	return h
}

func (h *host) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("11.0.1.1")}, nil
}

func (h *host) dial(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	where := map[uint16]string{80: h.plain.Listener.Addr().String(), 443: h.secure.Listener.Addr().String(), 22: h.ssh.Addr}
	return (&net.Dialer{}).DialContext(ctx, network, where[to.Port()])
}

func (h *host) log(d netproxy.Decision) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, d)
}

func (h *host) trust() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.secure.Certificate().Raw}))
}

// box opens a sandbox in tier A whose commands reach example.com.
func box(t *testing.T, h *host) (b *sandbox.Box, project string) {
	t.Helper()
	return boxIn(t, h, plan.TierA)
}

// boxIn opens one in a tier.
func boxIn(t *testing.T, h *host, tier plan.Tier) (b *sandbox.Box, project string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	helper := filepath.Join(base, "carrel-sandbox")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", helper, "../jail/main")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build helper: %v %s", err, out)
	}
	home := filepath.Join(base, "home")
	project = filepath.Join(home, "project")
	p := policy.Defaults(home, filepath.Join(home, ".carrel"))
	p.Project, p.Private, p.Network = project, filepath.Join(home, ".carrel", "sandbox", "w"), policy.NetworkAllowlist
	p.Allowed, p.Denied = []string{"example.com", "example.com:22"}, []string{"no.example.com"}
	for _, d := range []string{project, p.Private} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	rules := func() policy.Policy {
		h.mu.Lock()
		defer h.mu.Unlock()
		now := p
		if h.edit != nil {
			h.edit(&now)
		}
		return now
	}
	h.filter = New(Config{Policy: rules, Proxy: netproxy.Config{Resolver: h, Dial: h.dial, Log: h.log}})
	b, err = sandbox.Open(t.Context(), sandbox.Config{Policy: rules, Tier: tier, Program: helper, OldBwrap: true,
		Proxy: h.filter})
	if err != nil {
		t.Fatalf("no tier %s here: %v", tier, err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b, project
}

func run(t *testing.T, b *sandbox.Box, script string) string {
	t.Helper()
	out, wait := begin(t, b, script)
	text, err := io.ReadAll(out)
	if werr := wait(); err != nil || werr != nil {
		t.Fatal(err, werr)
	}
	return string(text)
}

// begin starts a script, and gives its output while it runs.
func begin(t *testing.T, b *sandbox.Box, script string) (out *bufio.Reader, wait func() error) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	p, err := b.Start(ctx, sandbox.Command{Argv: []string{"sh", "-c", script}, Stdout: w, Stderr: w, Name: "cmd1"})
	_ = w.Close()
	if err != nil {
		_ = r.Close()
		t.Fatal(err)
	}
	return bufio.NewReader(r), func() error {
		_, err := p.Wait()
		return errors.Join(err, r.Close())
	}
}

const noProxies = "unset $(env | sed -n 's/^\\([A-Za-z_]*_\\(PROXY\\|proxy\\)\\)=.*/\\1/p'); "

// One program knows proxies, the other does not: the same hosts answer, the others are refused, and the
// log says by whom.
func TestProgramsReachListedHostsByEitherWay(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal("curl is not installed: run make setup")
	}
	h := newHost(t)
	b, project := box(t, h)
	if err := os.WriteFile(filepath.Join(project, "ca.pem"), []byte(h.trust()), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, before := range map[string]string{"proxy": "", "captured": noProxies} {
		t.Run(name, func(t *testing.T) {
			for address, want := range map[string]string{
				"https://example.com/": "page of example.com\n", "http://example.com/": "page of example.com\n",
				"http://no.example.com/":  "no.example.com is denied by the entry no.example.com",
				"http://other.test/":      "other.test is not in allowed_domains\n",
				"http://169.254.169.254/": "the address 169.254.169.254 has no entry of its own",
			} {
				if out := run(t, b, before+"curl -sS -m 20 --cacert ca.pem "+address); !strings.HasPrefix(out, want) {
					t.Errorf("%s: %q", address, out)
				}
			}
			if out := run(t, b, "env"); strings.Contains(out, "JAVA_TOOL_OPTIONS") {
				t.Error("plain Java can't show credentials, and need not: it is captured")
			}
			if out := run(t, b, before+"curl -sS -m 20 --cacert ca.pem https://other.test/; echo $?"); strings.Contains(out, "page") || strings.HasSuffix(out, "\n0\n") {
				t.Errorf("%q", out)
			}
		})
	}
	var refused []string
	for _, d := range h.told {
		if d.Rule == netproxy.RuleNotListed {
			refused = append(refused, fmt.Sprintf("%s %s %d %s", d.Command, d.Host, d.Port, d.Grant))
		}
	}
	text := strings.Join(refused, "\n")
	for _, want := range []string{"cmd1 other.test 80 other.test", "cmd1 other.test 443 other.test"} {
		if strings.Count(text, want) != 2 { // by each way
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n := len(refused); n != 4 {
		t.Errorf("%d refusals:\n%s", n, text)
	}
}

// A server of the command itself is reached without the proxy, also at names that mean it.
func TestOwnServersAreNotProxied(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Fatal("python3 is not installed: run make setup")
	}
	h := newHost(t)
	b, _ := box(t, h)
	out := run(t, b, `echo mine >page; python3 -m http.server -b 127.0.0.1 8123 >/dev/null 2>&1 &
		for i in $(seq 100); do curl -s -m 5 http://localhost:8123/page && break; sleep 0.05; done; `+noProxies+`curl -sS -m 5 http://x.localhost:8123/page; kill $!`)
	if out != "mine\nmine\n" {
		t.Errorf("%q", out)
	}
	if len(h.told) > 0 {
		t.Errorf("%+v", h.told)
	}
}

// SSH knows no proxies; its host needs an entry with the port.
func TestSSHIsCaptured(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Fatal("bash is not installed")
	}
	h := newHost(t)
	b, _ := box(t, h)
	const ask = `timeout 20 bash -c 'exec 3<>/dev/tcp/%s/22; printf "%s\\r\\n" >&3; head -n1 <&3'; echo`
	for host, want := range map[string]string{"example.com": "SSH-2.0-x\r\n\n", "other.test": "other.test:22 is not in allowed_domains\r\n\n"} {
		if out := run(t, b, fmt.Sprintf(ask, host, "SSH-2.0-x")); out != want {
			t.Errorf("%s: %q", host, out)
		}
	}
	if out := run(t, b, fmt.Sprintf(ask, "example.com", "GET / HTTP/1.1")); strings.Contains(out, "GET") {
		t.Errorf("%q", out)
	}
	for _, d := range h.told {
		if d.Host == "other.test" && d.Grant == "other.test:22" {
			return
		}
	}
	t.Errorf("%+v", h.told)
}

// What a person takes back counts for what runs: its open connections end, and new ones are refused.
func TestConnectionsEndWhenTheirHostIsTakenBack(t *testing.T) {
	for name, edit := range map[string]func(*policy.Policy){
		"denied": func(p *policy.Policy) { p.Denied = []string{"example.com"} },
		"off":    func(p *policy.Policy) { p.Network = policy.NetworkDeny },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			b, _ := box(t, h)
			out, wait := begin(t, b, `bash -c 'exec 3<>/dev/tcp/example.com/22; printf "SSH-2.0-x\r\n" >&3; head -n1 <&3; cat <&3; echo over'; curl -sS -m 20 http://example.com/`)
			if line, err := out.ReadString('\n'); err != nil || line != "SSH-2.0-x\r\n" {
				t.Fatalf("%q %v", line, err)
			}
			h.change(edit)
			rest, err := io.ReadAll(out)
			if werr := wait(); err != nil || werr != nil {
				t.Error(err, werr)
			}
			if text := string(rest); !strings.HasPrefix(text, "over\n") || strings.Contains(text, "page of") ||
				!strings.Contains(text, map[string]string{"denied": "denied by the entry", "off": "switched off"}[name]) {
				t.Errorf("%q", text)
			}
		})
	}
}
