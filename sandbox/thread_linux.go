package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"carrel/sandbox/jail"
	"carrel/sandbox/landlock"
	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
	"carrel/sandbox/seccomp"
)

// threads is tier C: an operating system thread is fenced in, starts the command, and goes.
type threads struct {
	proxy    Proxy
	landlock int
	serving  sync.WaitGroup

	mu      sync.Mutex
	address string // of the proxy, once it is wanted
	stop    context.CancelFunc
}

func newThreads(c Config, s Status) *threads {
	return &threads{proxy: c.Proxy, landlock: s.Machine.Landlock}
}

func (t *threads) start(ctx context.Context, j job) (*Process, error) {
	var ports []uint16
	var after []func()
	if j.plan.Network == policy.NetworkAllowlist {
		address, port, err := t.listen()
		if err != nil {
			return nil, err
		}
		env, release, err := t.proxy.Admit(j.command.Name, j.policy, address)
		if err != nil {
			return nil, fmt.Errorf("admit command to proxy: %w", err)
		}
		j.plan.Env = append(j.plan.Env, env...)
		ports, after = []uint16{port}, []func(){release}
	}
	proc, err := t.launch(j, ports)
	if err != nil {
		for _, f := range after {
			f()
		}
		return nil, err
	}
	return follow(ctx, &group{proc: proc}, proc.Pid, after...), nil
}

// launch fences a thread in and starts the command on it. The goroutine ends with the thread locked
// to it, so the runtime ends the thread too.
func (t *threads) launch(j job, ports []uint16) (*os.Process, error) {
	type result struct {
		proc *os.Process
		err  error
	}
	program, err := lookPath(j.command.Argv[0], j.plan.Env)
	if err != nil {
		return nil, err
	}
	started := make(chan result, 1)
	go func() {
		runtime.LockOSThread()
		var r result
		if r.err = t.fence(j.plan, ports); r.err == nil {
			r.proc, r.err = execute(program, j)
		}
		started <- r
	}()
	r := <-started
	return r.proc, r.err
}

// fence restricts the calling thread for good.
func (t *threads) fence(p plan.Plan, ports []uint16) error {
	// What was leaked into this process does not go on into a command.
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return &CannotEnforce{Tier: plan.TierC, Why: "inherited files can't be closed", Err: err}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return &CannotEnforce{Tier: plan.TierC, Why: "privileges can't be given up", Err: err}
	}
	rules := landlock.Ruleset{
		Rules: jail.Rules(p.Access), Ports: jail.Isolated(p.Network), Connect: ports,
		Scope: t.landlock >= landlock.MinScope,
	}
	if err := rules.Restrict(t.landlock); err != nil {
		return &CannotEnforce{Tier: plan.TierC, Why: "Landlock refuses the policy: " + err.Error(), Err: err}
	}
	inet := map[policy.Network]seccomp.Inet{
		policy.NetworkAllow: seccomp.InetAll, policy.NetworkAllowlist: seccomp.InetTCP, policy.NetworkDeny: seccomp.InetNone,
	}
	if err := seccomp.Install(seccomp.Rules{Inet: inet[p.Network], Unix: p.Unix}); err != nil {
		return &CannotEnforce{Tier: plan.TierC, Why: "seccomp refuses the filter", Err: err}
	}
	return nil
}

// execute starts the command from the calling thread, in a session of its own.
func execute(program string, j job) (*os.Process, error) {
	proc, err := os.StartProcess(program, j.command.Argv, &os.ProcAttr{
		Dir: j.plan.Dir, Env: j.plan.Env,
		Files: []*os.File{j.command.Stdin, j.command.Stdout, j.command.Stderr},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: j.command.Terminal},
	})
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", program, err)
	}
	jail.Limit(proc.Pid, jail.Limits(j.plan.Limits))
	return proc, nil
}

// listen starts the proxy on a port of the loopback, once.
func (t *threads) listen() (address string, port uint16, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.address == "" {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return "", 0, fmt.Errorf("open proxy: %w", err)
		}
		ctx, stop := context.WithCancel(context.Background())
		t.stop, t.address = stop, l.Addr().String()
		t.serving.Go(func() { t.proxy.Serve(ctx, Listeners{Proxy: l}) })
	}
	_, text, _ := strings.Cut(t.address, ":")
	n, err := strconv.ParseUint(text, 10, 16)
	return t.address, uint16(n), err
}

func (t *threads) dial(ctx context.Context, port int) (net.Conn, error) {
	return dialMachine(ctx, port)
}

func (t *threads) close() error {
	t.mu.Lock()
	if t.stop != nil {
		t.stop()
	}
	t.mu.Unlock()
	t.serving.Wait()
	return nil
}
