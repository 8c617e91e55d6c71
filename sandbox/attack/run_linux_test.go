package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// job is one run of an entry: without a sandbox ("control"), or in a tier.
type job struct {
	Entry entry
	Mode  string
}

// result is how a run went.
type result struct {
	Worked bool   // the attack
	Began  bool   // the snippet was reached
	Exit   int    // of the command; -1 when a signal ended it
	Output string // of the command, the last 8 KiB
	Absent bool   // the control failed, and what it attacks is proven not to exist here
	Err    string // what went wrong with the rig
	Took   time.Duration
}

const (
	began      = "RIG-BEGAN"
	runTimeout = 40 * time.Second
	pxOut      = rigLog + "/pxout"
	proxyLog   = rigLog + "/decisions"
)

func (m *machine) run(j job) (result, error) {
	start := time.Now()
	r, err := m.attempt(j)
	r.Took = time.Since(start)
	return r, err
}

func (m *machine) attempt(j job) (result, error) {
	m.killLeftovers()
	if err := m.reset(); err != nil {
		return result{}, fmt.Errorf("reset the home: %w", err)
	}
	if err := m.victims(j.Entry); err != nil {
		return result{}, fmt.Errorf("start the other processes: %w", err)
	}
	var r result
	for range 1 + b2i(j.Entry.Twice) {
		var err error
		if r, err = m.once(j); err != nil {
			return r, err
		}
	}
	if err := m.services.settle(); err != nil {
		return r, err
	}
	check := j.Entry.Check + j.Entry.Want
	if check == "" || check == "exit" {
		r.Worked = r.Exit == 0
	} else {
		r.Worked = m.host(check, 10*time.Second) == nil
	}
	r.Absent = j.Mode == "control" && !r.Worked && m.absent(j.Entry)
	return r, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// absent runs the proof that a machine lacks what an entry attacks.
func (m *machine) absent(e entry) bool {
	return e.Absent != "" && m.host(e.Absent, 20*time.Second) == nil
}

// once runs the command and, when the snippet has begun, what the host does meanwhile.
func (m *machine) once(j job) (result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	defer cancel()
	cmd, out, err := m.command(ctx, j)
	if err != nil {
		return result{}, err
	}
	if err := cmd.Start(); err != nil {
		return result{}, fmt.Errorf("start %q: %w", cmd.Args[0], err)
	}
	var during sync.WaitGroup
	if j.Entry.During != "" {
		during.Go(func() {
			select {
			case <-out.began:
				_ = m.host(j.Entry.During, 10*time.Second)
			case <-ctx.Done():
			}
		})
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return result{}, fmt.Errorf("run %q: %w", cmd.Args[0], err)
	}
	cancel()
	during.Wait()
	text := out.text()
	if err := os.WriteFile(pxOut, []byte(text), 0o644); err != nil {
		return result{}, err
	}
	decisions := []byte(text)
	if j.Mode == "control" {
		decisions, _ = os.ReadFile(naiveLog)
	}
	if err := os.WriteFile(proxyLog, decisions, 0o644); err != nil {
		return result{}, err
	}
	return result{Began: strings.Contains(text, began), Exit: cmd.ProcessState.ExitCode(), Output: tail(text, 8<<10)}, nil
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// command is the application under test as the user starts it: with secrets in its environment, and
// descriptors that it should not hand on.
func (m *machine) command(ctx context.Context, j job) (*exec.Cmd, *output, error) {
	argv := []string{rigBin + "/rig", "rig-app"}
	if j.Mode != "control" {
		network := j.Entry.Network
		if network == "" {
			network = "allowlist"
		}
		argv = []string{rigBin + "/carrel", "sandbox", "exec", "--json", "--tier", j.Mode, "--write", worktree,
			"--network", network}
		for _, host := range []string{"allowed.test", "*.wild.test", "git.test", "internal.test", "rebind.test", "mapped.test", "zero.test"} {
			argv = append(argv, "--allow", host)
		}
		if j.Mode == "B" {
			argv = append(argv, "--old-bwrap") // Debian's; nothing races its mounts here
		}
		argv = append(argv, "--deny", "denied.wild.test", "--")
	}
	argv = append(argv, "bash", "-c", m.script(j))
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = project, environment(), user()
	cmd.Cancel = func() error { return cmd.Process.Kill() }
	cmd.WaitDelay = time.Second // a daemon that got away may hold the pipe
	out := &output{began: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = out, out
	var err error
	if cmd.ExtraFiles, err = leaked(outside); err != nil {
		return nil, nil, err
	}
	for bit := range 64 {
		if j.Entry.Caps&(1<<bit) != 0 {
			cmd.SysProcAttr.AmbientCaps = append(cmd.SysProcAttr.AmbientCaps, uintptr(bit))
		}
	}
	if j.Entry.Stdin == "pty" {
		_, slave, err := openPty()
		if err != nil {
			return nil, nil, err
		}
		cmd.Stdin, cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty = slave, true, true
	}
	return cmd, out, nil
}

// script is the snippet with the variables that the lists promise.
func (m *machine) script(j job) string {
	var b strings.Builder
	for _, v := range m.variables() {
		name, value, _ := strings.Cut(v, "=")
		fmt.Fprintf(&b, "export %s='%s'\n", name, value)
	}
	if j.Mode == "control" {
		fmt.Fprintf(&b, "export PX=127.0.0.1:%d CRED=cmd7:s3cret\n", proxyPort)
	} else {
		b.WriteString("P=${HTTP_PROXY#http://}; P=${P%/}; export PX=${P##*@} CRED=${P%@*}\n")
	}
	b.WriteString(`export AUTHVAL="Basic $(printf %s "$CRED" | base64 -w0)" PATH=` + rigBin + ":$PATH\n")
	b.WriteString("echo " + began + " >&2\n")
	b.WriteString(strings.ReplaceAll(j.Entry.Snippet, "cmd7:s3cret", "$CRED"))
	return b.String()
}

func (m *machine) variables() []string {
	return []string{"PROJECT=" + project, "WT=" + worktree, "OUTSIDE=" + outside, "HOME=" + home,
		"VICTIM=" + pid(m.victim), "VICTIM2=" + pid(m.victim2), "VICTIM_ADDR=" + m.address,
		"HOSTPORT=" + strconv.Itoa(hostPort), "UDPPORT=" + strconv.Itoa(udpPort), "PROXYPORT=" + strconv.Itoa(proxyPort),
		"TTYPATH=" + m.services.ttyName, "SHMKEY=" + strconv.Itoa(shmKey), "CARREL_ROOT=" + dataRoot,
		"LOG=" + backendLog, "PXOUT=" + pxOut, "PXLOG=" + proxyLog}
}

func pid(c *exec.Cmd) string { return strconv.Itoa(c.Process.Pid) }

// host runs a shell line outside of every sandbox, as the user.
func (m *machine) host(line string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.SysProcAttr, cmd.Dir = user(), home
	cmd.Env = append(environment(), m.variables()...)
	cmd.WaitDelay = time.Second
	return cmd.Run()
}

// victims starts the two other processes of the user anew, when an entry is about them.
func (m *machine) victims(e entry) error {
	if m.victim != nil && !strings.Contains(e.Snippet+e.Check+e.During, "VICTIM") {
		return nil
	}
	for _, v := range []**exec.Cmd{&m.victim2, &m.victim} { // the address is the last one's
		if *v != nil {
			_ = (*v).Process.Kill()
			_ = (*v).Wait()
		}
		cmd := asUser(rigBin+"/rig", "rig-victim", "--password=SECRET-ARGV")
		cmd.Dir = outside
		cmd.Env = append(cmd.Env, "TOKEN=SECRET-ENVIRON")
		key, err := os.Open(home + "/.ssh/id_ed25519")
		if err != nil {
			return err
		}
		cmd.ExtraFiles = []*os.File{nil, nil, nil, nil, key}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		_ = key.Close()
		*v = cmd
		text, err := io.ReadAll(out)
		if err != nil || len(text) == 0 {
			return fmt.Errorf("the victim did not start: %w", err)
		}
		m.address = strings.TrimSpace(string(text))
	}
	return nil
}

// killLeftovers ends every process of the user that is not part of the rig.
func (m *machine) killLeftovers() {
	keep := map[int]bool{1: true, os.Getpid(): true}
	for _, v := range []*exec.Cmd{m.victim, m.victim2} {
		if v != nil {
			keep[v.Process.Pid] = true
		}
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		var st unix.Stat_t
		if err != nil || keep[n] || unix.Stat("/proc/"+e.Name(), &st) != nil || st.Uid != uid {
			continue
		}
		_ = syscall.Kill(n, syscall.SIGKILL)
	}
}

// output keeps what a command prints and tells when its snippet begins.
type output struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	began chan struct{}
	said  bool
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.buf.Len() < 1<<20 {
		o.buf.Write(b)
	}
	if !o.said && bytes.Contains(o.buf.Bytes(), []byte(began)) {
		o.said = true
		close(o.began)
	}
	return len(b), nil
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
