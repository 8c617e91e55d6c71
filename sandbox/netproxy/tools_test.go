package netproxy

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carrel/sandbox/netproxy/connect"
)

// The tools of a command find their way by the environment alone. Each test runs the real tool.

// host puts a real server, with TLS, where the rig's own backend was.
func (r *rig) host(ip string, h http.Handler) {
	r.t.Helper()
	site, err := siteAuthority()
	if err != nil {
		r.t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	srv := &http.Server{Handler: h, TLSConfig: &tls.Config{GetCertificate: func(i *tls.ClientHelloInfo) (*tls.Certificate, error) {
		return site.certificate(i.ServerName, time.Now())
	}}, ConnState: func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			r.mu.Lock()
			r.accepted++
			r.mu.Unlock()
		}
	}}
	r.mu.Lock()
	r.real[ip+":443"] = l.Addr().String()
	r.mu.Unlock()
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.ServeTLS(l, "", "") }()
	r.t.Cleanup(func() { r.stop(); _ = srv.Close(); <-done })
}

// tool runs a program with the command's environment and nothing else of ours.
func (r *rig) tool(name string, args ...string) (string, error) {
	r.t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		r.t.Fatal(name, " is not installed: run make setup")
	}
	home := r.t.TempDir()
	site, err := siteAuthority()
	if err != nil {
		r.t.Fatal(err)
	}
	trust := site.PEM()
	if r.authority != nil {
		trust = r.authority.PEM()
	}
	file := filepath.Join(home, "authority.pem")
	if err := os.WriteFile(file, trust, 0o600); err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.CommandContext(r.t.Context(), path, args...)
	cmd.Dir = home
	cmd.Env = append(Environment(r.addr, r.cred, Tools{}), "PATH="+os.Getenv("PATH"), "HOME="+home, "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_NOSYSTEM=1")
	cmd.Env = append(cmd.Env, TrustEnvironment(file)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestCurlFindsItsWay(t *testing.T) {
	r := newRig(t, options{})
	for address, want := range map[string]string{
		"https://allowed.test/": "BACKEND 127.0.1.1", "http://allowed.test/": "BACKEND 127.0.1.1", "http://denied.test/": "denied.test is not in allowed_domains",
	} {
		if out, err := r.tool("curl", "-sS", "--max-time", "10", address); err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v %q", address, err, out)
		}
	}
	if out, err := r.tool("curl", "-sS", "--max-time", "10", "https://denied.test/"); err == nil || !strings.Contains(out, "403") {
		t.Errorf("%v %q", err, out)
	}
	if n := strings.Count(fmt.Sprint(r.told()), RuleCredentials); n > 0 {
		t.Error("curl asked without credentials first")
	}
}

func TestPythonFindsItsWay(t *testing.T) {
	r := newRig(t, options{})
	out, err := r.tool("python3", "-c", `
import urllib.request, urllib.error
for u in ("https://allowed.test/", "http://allowed.test/", "http://denied.test/"):
    try: print(urllib.request.urlopen(u, timeout=10).read().decode())
    except urllib.error.HTTPError as e: print(e.code, e.headers["X-Proxy-Rule"])
`)
	if err != nil || out != "BACKEND 127.0.1.1\nBACKEND 127.0.1.1\n403 not-listed\n" {
		t.Errorf("%v %q", err, out)
	}
}

// repository serves a bare repository with one commit at /o/r.git, to read and to write.
func repository(t *testing.T) http.Handler {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is not installed")
	}
	root := t.TempDir()
	env := append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "HOME="+root, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@a.test",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@a.test")
	for _, args := range [][]string{{"init", "-q", "-b", "main", "work"}, {"-C", "work", "commit", "-q", "--allow-empty", "-m", "one"},
		{"clone", "-q", "--bare", "work", "o/r.git"}, {"-C", "o/r.git", "config", "http.receivepack", "true"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = root, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	return &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + root}}
}

func TestGitFetchesThroughBothProfilesAndPushesThroughNoGateway(t *testing.T) {
	for _, profile := range []string{"local", "gateway"} {
		t.Run(profile, func(t *testing.T) {
			o := options{}
			if profile == "gateway" {
				g := rigGateway()
				o.gateway = &g
			}
			r := newRig(t, o)
			r.host("127.0.1.3", repository(t))
			const script = `git clone -q https://git.test/o/r.git c && cd c && git log --format=%s &&
				git fetch -q --depth=1 origin main && git -c user.name=a -c user.email=a@a.test commit -q --allow-empty -m two && echo cloned
				git push -q origin HEAD:refs/heads/new && echo pushed`
			out, _ := r.tool("sh", "-c", script)
			if !strings.Contains(out, "one\n") || !strings.Contains(out, "cloned\n") || strings.Contains(out, "pushed") != (profile == "local") {
				t.Errorf("%s", out)
			}
			rules := map[string]int{}
			for _, d := range r.told() {
				rules[d.Rule]++
			}
			if rules[RuleCredentials] > 0 {
				t.Error("git asked without credentials first")
			}
			if (profile == "gateway") != (rules[RuleGit] > 0) {
				t.Error(rules)
			}
		})
	}
}

func TestSSHGoesThroughOurHelper(t *testing.T) {
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Fatal("ssh is not installed: run make setup")
	}
	dir := filepath.Join(t.TempDir(), "it's 100% odd")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	helper := filepath.Join(dir, "helper")
	if err := os.WriteFile(helper, []byte("#!/bin/sh\necho \"$@\" >\"$HOME/args\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	var command string
	for _, v := range Environment("127.0.0.1:1", Credentials{"u", "secret"}, Tools{Helper: helper}) {
		if after, ok := strings.CutPrefix(v, "GIT_SSH_COMMAND="); ok {
			command = after
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command+" -F /dev/null git@git.test true")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SHELL=/bin/sh"}
	out, _ := cmd.CombinedOutput() // the helper connects to nothing
	args, err := os.ReadFile(filepath.Join(home, "args"))
	if err != nil || string(args) != "connect git.test 22\n" {
		t.Errorf("%s: %q %v\n%s", command, args, err, out)
	}
	if strings.Contains(command, "secret") {
		t.Error("the password is on a command line")
	}
}

func TestEnvironmentSpeaksToAll(t *testing.T) {
	c := Credentials{"user", "word"}
	got := map[string]string{}
	for _, v := range Environment("127.0.0.1:3128", c, Tools{Helper: "/run/helper"}) {
		name, value, _ := strings.Cut(v, "=")
		if _, twice := got[name]; twice {
			t.Error(name, "is there twice")
		}
		got[name] = value
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "GRPC_PROXY", connect.Variable} {
		if got[name] != "http://user:word@127.0.0.1:3128" || name != connect.Variable && got[strings.ToLower(name)] != got[name] {
			t.Error(name, got[name])
		}
	}
	if got["NO_PROXY"] != "localhost,127.0.0.1,::1" || got["no_proxy"] != got["NO_PROXY"] || got["NODE_USE_ENV_PROXY"] != "1" ||
		!strings.Contains(got["JAVA_TOOL_OPTIONS"], "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128") {
		t.Error(got)
	}
	for _, v := range Environment("127.0.0.1:3128", c, Tools{Captured: true}) {
		if strings.HasPrefix(v, "JAVA_TOOL_OPTIONS") || strings.HasPrefix(v, "GIT_SSH_COMMAND") {
			t.Error(v)
		}
	}
}
