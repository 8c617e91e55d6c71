package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

func TestNoDescriptorLeaksIn(t *testing.T) { // L13, L106
	eachTier(t, func(t *testing.T, tier plan.Tier) {
		l := open(t, tier, nil)
		fd, err := unix.Open(l.outside, unix.O_RDONLY|unix.O_DIRECTORY, 0) // not closed on exec
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = unix.Close(fd) }()
		for range 2 {
			if out, _ := l.sh(t, `for f in /proc/self/fd/*; do echo ${f##*/} $(readlink $f); done`); strings.Contains(out, "outside") ||
				len(strings.Split(out, "\n")) > 5 { // streams, the folder that the shell lists, and its script
				t.Errorf("open inside: %s", out)
			}
		}
	})
}

func TestSignalsReachTheProcessGroup(t *testing.T) {
	eachTier(t, func(t *testing.T, tier plan.Tier) {
		l := open(t, tier, nil)
		in, feed := pipe(t)
		r := l.start(t, `trap 'echo got; exit 3' TERM; echo up; read x`, func(c *Command) { c.Stdin = in })
		_ = in.Close()
		defer func() { _ = feed.Close() }()
		waitFor(t, "the trap", func() bool { return r.Signal(0) == nil })
		time.AfterFunc(100*time.Millisecond, func() { _ = r.Signal(syscall.SIGTERM) })
		exit, err := r.Wait()
		if err != nil || exit.Code != 3 && exit.Signal != syscall.SIGTERM {
			t.Fatalf("%+v %v", exit, err)
		}
		if err := r.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("signal after the end: %v", err)
		}
	})
}

func TestCommandsCantEndTheirFirstProcess(t *testing.T) {
	for _, tier := range []plan.Tier{plan.TierA, plan.TierB} {
		l := open(t, tier, nil)
		out, exit := l.sh(t, `for s in TERM INT HUP QUIT SEGV ABRT USR1 PIPE KILL STOP; do kill -$s 1; done; echo alive; exit 4`)
		if !strings.HasSuffix(out, "alive") || exit.Code != 4 {
			t.Errorf("tier %s: %+v %q", tier, exit, out)
		}
	}
}

func TestNamesNeedNotBeText(t *testing.T) {
	eachTier(t, func(t *testing.T, tier plan.Tier) {
		l := open(t, tier, nil)
		name := "caf\xe9"
		writeFile(t, l.home+"/"+name, "in the home")
		out, exit := l.sh(t, "", func(c *Command) {
			c.Argv = []string{"sh", "-c", `cat ~/"$1"; echo; echo there > "$1"; printf %s "$LANG"`, "sh", name}
			c.Env = append(c.Env, "LANG=\xff")
		})
		if exit.Code != 0 || out != "in the home\n\xff" {
			t.Errorf("%+v %q", exit, out)
		}
		if text, err := os.ReadFile(l.project + "/" + name); err != nil || string(text) != "there\n" {
			t.Errorf("%q %v", text, err)
		}
	})
}

func TestContextEndsACommand(t *testing.T) {
	eachTier(t, func(t *testing.T, tier plan.Tier) {
		l := open(t, tier, nil)
		ctx, cancel := context.WithCancel(l.ctx)
		p, err := l.Start(ctx, Command{Argv: []string{"sleep", "600"}})
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if exit, err := p.Wait(); err != nil || exit.Signal != syscall.SIGKILL {
			t.Errorf("%+v %v", exit, err)
		}
	})
}

func TestCloseEndsEverything(t *testing.T) {
	eachTier(t, func(t *testing.T, tier plan.Tier) {
		l := open(t, tier, nil)
		p, err := l.Start(l.ctx, Command{Argv: []string{"sleep", "600"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-p.Done():
		default:
			t.Error("the command is still there")
		}
		if _, err := l.Start(l.ctx, Command{Argv: []string{"true"}}); !errors.Is(err, ErrClosed) {
			t.Errorf("start after close: %v", err)
		}
	})
}

func TestTerminalIsTheControllingTerminal(t *testing.T) { // L29, L31
	eachTier(t, func(t *testing.T, tier plan.Tier) {
		l := open(t, tier, nil)
		for _, own := range []bool{true, false} {
			master, slave := terminal(t)
			p, err := l.Start(l.ctx, Command{
				Argv:  []string{"sh", "-c", `if (echo mine > /dev/tty) 2>/dev/null; then echo yes; else echo no; fi; stty size; true`},
				Stdin: slave, Stdout: slave, Stderr: slave, Terminal: own,
			})
			if err != nil {
				t.Fatal(err)
			}
			_ = slave.Close()
			text := make(chan string, 1)
			go func() { b, _ := io.ReadAll(master); text <- string(b) }()
			if _, err := p.Wait(); err != nil {
				t.Fatal(err)
			}
			if out := <-text; strings.Contains(out, "yes") != own || strings.Contains(out, "mine") != own || !strings.Contains(out, "24 80") {
				t.Errorf("terminal %v: %q", own, out)
			}
		}
	})
}

func TestCommandsReachEachOthersServers(t *testing.T) {
	for _, tier := range []plan.Tier{plan.TierA, plan.TierC} { // B: a network namespace for each
		t.Run(string(tier), func(t *testing.T) {
			l := open(t, tier, func(p *policy.Policy, _ *Config) {
				if tier == plan.TierA {
					p.Network = policy.NetworkDeny
				}
			})
			server := l.start(t, `exec python3 -c '
import http.server,sys
s=http.server.HTTPServer(("127.0.0.1",0),http.server.SimpleHTTPRequestHandler)
open("port","w").write(str(s.server_port)+"\n")
s.serve_forever()'`)
			port := 0
			waitFor(t, "the server", func() bool {
				text, _ := os.ReadFile(l.project + "/port")
				port, _ = strconv.Atoi(strings.TrimSpace(string(text)))
				return strings.HasSuffix(string(text), "\n")
			})
			writeFile(t, l.project+"/page", "served")
			out, exit := l.sh(t, fmt.Sprintf(`python3 -c 'import urllib.request as u; print(u.urlopen("http://127.0.0.1:%d/page").read())'`, port))
			if exit.Code != 0 || !strings.Contains(out, "served") {
				t.Errorf("%+v %q", exit, out)
			}
			client := http.Client{Transport: &http.Transport{DisableKeepAlives: true,
				DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx, port) }}}
			answer, err := client.Get("http://inside/page")
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if string(body) != "served" {
				t.Errorf("dialled: %q", body)
			}
			server.Kill()
			if _, err := server.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNetworkIsDenied(t *testing.T) { // L94, L108
	eachTier(t, func(t *testing.T, tier plan.Tier) {
		host, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = host.Close() }()
		port := host.Addr().(*net.TCPAddr).Port
		l := open(t, tier, nil)
		try := fmt.Sprintf(`timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/%d' && echo reached`, port)
		if out, _ := l.sh(t, try); !strings.Contains(out, "reached") {
			t.Fatalf("control: %q", out)
		}
		deny := policy.NetworkDeny
		if out, _ := l.sh(t, try, func(c *Command) { c.Network = &deny }); strings.Contains(out, "reached") {
			t.Errorf("%q", out)
		}
	})
}

func TestKilledSupervisorIsReplaced(t *testing.T) {
	l := open(t, plan.TierA, nil)
	r := l.start(t, `sleep 600`)
	y := l.tiers.(*namespaces).pod
	if err := y.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Wait(); err == nil {
		t.Error("the end of a command whose supervisor was killed is no error")
	}
	if out, exit := l.sh(t, `echo again`); out != "again" || exit.Code != 0 {
		t.Errorf("%+v %q", exit, out)
	}
}

func TestKilledHelperTakesNobodyElseAway(t *testing.T) {
	l := open(t, plan.TierA, nil)
	r := l.start(t, `read x; echo $x`, func(c *Command) {
		in, feed := pipe(t)
		c.Stdin = in
		t.Cleanup(func() { _ = in.Close(); _ = feed.Close() })
	})
	y := l.tiers.(*namespaces).yards[policy.NetworkAllow]
	if err := l.Warm(l.ctx, Command{Env: testEnvironment(l)}); err != nil {
		t.Fatal(err)
	}
	y.pool.mu.Lock()
	killFD(y.pool.waiting.pidfd)
	awaitFD(y.pool.waiting.pidfd)
	y.pool.mu.Unlock()
	if y.spare != nil {
		killFD(y.spare.pidfd)
		awaitFD(y.spare.pidfd)
	}
	if out, exit := l.sh(t, `echo fine`); out != "fine" || exit.Code != 0 {
		t.Errorf("%+v %q", exit, out)
	}
	select {
	case <-r.Done():
		t.Error("the other command has ended")
	default:
	}
}

func TestBoxEndsWithTheProcessThatOwnsIt(t *testing.T) {
	if out := os.Getenv("CARREL_TEST_OWNER"); out != "" {
		l := open(t, plan.TierA, nil)
		p, err := l.Start(l.ctx, Command{Argv: []string{"sleep", "600"}})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("started", l.tiers.(*namespaces).pod.cmd.Process.Pid)
		_, _ = p.Wait()
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "CARREL_TEST_OWNER=yes", "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, aerr := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "started ")))
	if err != nil || aerr != nil {
		t.Fatalf("%q %v", line, err)
	}
	children := childrenOf(t, pid)
	if len(children) == 0 {
		t.Fatal("the supervisor has no helper")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for _, pid := range append(children, pid) {
		waitFor(t, fmt.Sprint("the end of ", pid), func() bool { return !isAlive(pid) })
	}
}

// childrenOf lists the processes whose parent is pid.
func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, name := range tasks {
		text, _ := os.ReadFile(name)
		for _, f := range strings.Fields(string(text)) {
			n, _ := strconv.Atoi(f)
			all = append(all, n)
		}
	}
	return slices.Compact(all)
}

func isAlive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// terminal opens a pty of 24 lines and 80 columns.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0),
		unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "ptmx"), slave
}

// waitFor polls where nothing tells.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come", what)
		}
	}
}
