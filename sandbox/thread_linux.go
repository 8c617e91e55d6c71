package sandbox

import (
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"carrel/sandbox/jail"
	"carrel/sandbox/landlock"
	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
	"carrel/sandbox/seccomp"
)

// threads is tier C: an operating system thread is fenced in and starts the commands of one plan.
type threads struct {
	proxy    hostProxy
	ground   *ground
	landlock int
	running  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	fenced *fenced // for the last plan
	after  func()  // runs once everything has ended; may be nil
}

func newThreads(c Config, s Status, g *ground) *threads {
	return &threads{proxy: hostProxy{proxy: c.Proxy}, ground: g, landlock: s.Machine.Landlock}
}

func (t *threads) start(ctx context.Context, j job) (*Process, error) {
	var ports []uint16
	var after []func()
	if j.plan.Network == policy.NetworkAllowlist {
		port, release, err := t.proxy.admit(&j)
		if err != nil {
			return nil, err
		}
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

// launch starts the command on a thread that is fenced in for its plan: the last command's, if that
// had the same, else a new one.
func (t *threads) launch(j job, ports []uint16) (*os.Process, error) {
	program, err := lookPath(j.command.Argv[0], j.plan.Env)
	if err != nil {
		return nil, err
	}
	key := t.ground.fingerprint(j.plan)
	for _, port := range ports {
		key += ":" + strconv.Itoa(int(port))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, ErrClosed
	}
	if t.fenced == nil || t.fenced.key != key {
		f, err := t.newFenced(key, j.plan, ports)
		if err != nil {
			return nil, err
		}
		if t.fenced != nil {
			t.fenced.end()
		}
		t.fenced = f
	}
	answer := make(chan started, 1)
	t.fenced.hand(&launching{program, j, answer})
	r := <-answer
	return r.proc, r.err
}

// newFenced makes a thread. Its goroutine ends locked to it, so the runtime ends the thread too.
func (t *threads) newFenced(key string, p plan.Plan, ports []uint16) (*fenced, error) {
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("start thread: %w", err)
	}
	f := &fenced{key: key, wake: wake}
	done := make(chan error, 1)
	t.running.Go(func() {
		onOtherThread(func() {
			defer func() { _ = unix.Close(wake) }()
			err := t.fence(p, ports)
			done <- err
			if err != nil {
				return
			}
			for l := f.await(); l.answer != nil; l = f.await() {
				proc, err := execute(l.program, l.job)
				l.answer <- started{proc, err}
			}
		})
	})
	return f, <-done
}

// onOtherThread runs f on a thread that is not the process's first one, and that ends with f: the
// first one stands for the process, and what is fenced like a command is no stranger to it.
func onOtherThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	ended := make(chan struct{})
	go func() { // this thread is taken, so it gets another
		defer close(ended)
		runtime.LockOSThread()
		f()
	}()
	<-ended
	runtime.UnlockOSThread()
}

// fence restricts the calling thread for good.
func (t *threads) fence(p plan.Plan, ports []uint16) error {
	if err := jail.DropRights(); err != nil {
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
		policy.NetworkAllow: seccomp.InetOpen, policy.NetworkAllowlist: seccomp.InetTCP, policy.NetworkDeny: seccomp.InetNone,
	}
	if err := seccomp.Install(seccomp.Rules{Inet: inet[p.Network], Unix: p.Unix, Starter: unix.Gettid()}); err != nil {
		return &CannotEnforce{Tier: plan.TierC, Why: "seccomp refuses the filter", Err: err}
	}
	return nil
}

// execute starts the command from the calling thread, in a session of its own.
func execute(program string, j job) (*os.Process, error) {
	// What was leaked into this process does not go on into a command.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, &CannotEnforce{Tier: plan.TierC, Why: "inherited files can't be closed", Err: err}
	}
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

func (t *threads) stir() {
	if runtime.GOMAXPROCS(0) == 1 {
		return // it would be in the way of whoever hands the command to it
	}
	if !t.mu.TryLock() {
		return // it is at work
	}
	defer t.mu.Unlock()
	if t.fenced != nil && !t.closed {
		t.fenced.stir()
	}
}

func (t *threads) warm(context.Context, plan.Plan) error { return nil } // a thread costs nothing

func (t *threads) dial(ctx context.Context, port int) (net.Conn, error) {
	return dialMachine(ctx, port)
}

func (t *threads) close() error {
	t.mu.Lock()
	if t.fenced != nil && !t.closed {
		t.fenced.end()
	}
	t.closed = true
	after := t.after
	t.after = nil
	t.mu.Unlock()
	t.running.Wait()
	t.proxy.close()
	if after != nil {
		after()
	}
	return nil
}
