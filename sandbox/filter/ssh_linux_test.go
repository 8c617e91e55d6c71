package filter

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carrel/sandbox/netproxy"
	"carrel/sandbox/plan"
)

// sshd is a real one that lets the user who runs the test in, with the key.
type sshd struct{ address, key, user string }

func newSSHD(t *testing.T) sshd {
	t.Helper()
	program := "/usr/sbin/sshd"
	if _, err := os.Stat(program); err != nil {
		t.Fatal("openssh-server is not installed: run make setup")
	}
	who, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if who.Uid == "0" { // where root's sshd locks itself in
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	s := sshd{key: filepath.Join(dir, "key"), user: who.Username}
	for _, name := range []string{"key", "host"} {
		if out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	// Each connection gets an sshd of its own, as inetd would do it: no port has to be found free.
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f, err := c.(*net.TCPConn).File()
			_ = c.Close()
			if err != nil {
				continue
			}
			cmd := exec.Command(program, "-i", "-e", "-f", "/dev/null", "-h", filepath.Join(dir, "host"), "-o", "AuthorizedKeysFile="+s.key+".pub",
				"-o", "StrictModes=no", "-o", "UsePAM=no", "-o", "PidFile=none", "-o", "LogLevel=ERROR")
			cmd.Stdin, cmd.Stdout = f, f
			if err := cmd.Start(); err == nil {
				go func() { _ = cmd.Wait() }()
			}
			_ = f.Close()
		}
	}()
	return s
}

// git runs git outside.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// git fetches through a listed host, by a connection that is captured or by our program; another host
// is refused with the entry that would let it pass.
func TestGitOverSSHReachesListedHosts(t *testing.T) {
	server := newSSHD(t)
	origin := filepath.Join(t.TempDir(), "origin")
	git(t, "/", "init", "-q", "-b", "main", origin)
	git(t, origin, "commit", "-q", "--allow-empty", "-m", "one")
	want := git(t, origin, "rev-parse", "HEAD")
	key, err := os.ReadFile(server.key)
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range []plan.Tier{plan.TierA, plan.TierB, plan.TierC} {
		t.Run(string(tier), func(t *testing.T) {
			h := newHost(t)
			h.ssh.Addr = server.address
			b, project := boxIn(t, h, tier)
			git(t, project, "init", "-q")
			if err := os.WriteFile(filepath.Join(project, "key"), key, 0o600); err != nil {
				t.Fatal(err)
			}
			fetch := func(host string) string {
				return run(t, b, fmt.Sprintf(`export GIT_SSH_COMMAND="${GIT_SSH_COMMAND:-ssh} -i $PWD/key -o IdentityAgent=none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
					timeout 50 git fetch -q ssh://%s@%s%s main; git rev-parse FETCH_HEAD`, server.user, host, origin))
			}
			start := time.Now()
			if out := fetch("example.com"); !strings.HasSuffix(strings.TrimSpace(out), want) {
				t.Errorf("after %v: %s", time.Since(start), out)
			}
			if out := fetch("other.test"); strings.HasSuffix(strings.TrimSpace(out), want) {
				t.Errorf("%s", out)
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			for _, d := range h.told {
				if d.Rule == netproxy.RuleNotListed && d.Grant == "other.test:22" {
					return
				}
			}
			t.Errorf("no refusal of other.test in %+v", h.told)
		})
	}
}

// What opens tunnels is all of Carrel's data that a command sees, and it can't be changed.
func TestOnlyTheHelperIsSeen(t *testing.T) {
	for _, tier := range []plan.Tier{plan.TierB, plan.TierC} {
		t.Run(string(tier), func(t *testing.T) {
			b, _ := boxIn(t, newHost(t), tier)
			out := run(t, b, `p=$(printf %s "$GIT_SSH_COMMAND" | grep -o '/[^ ]*carrel-sandbox'); echo "$p"; test -x "$p" && echo runs; head -c 4 "$p" | tail -c 3; echo
				echo x >>"$p"; rm -f "$p"; mv "$p" "$p.old"; test -x "$p" && echo still`)
			if !strings.Contains(out, "runs\nELF\n") || !strings.Contains(out, "still\n") {
				t.Errorf("%s", out)
			}
		})
	}
}
