package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

// seatbeltProgram is the system's own, by its full path: one in PATH could be anybody's.
const seatbeltProgram = "/usr/bin/sandbox-exec"

// seatbelt starts commands under a profile of macOS.
type seatbelt struct{ proxy hostProxy }

func newTiers(c Config, _ Status, _ *ground) (tiers, error) {
	return &seatbelt{proxy: hostProxy{proxy: c.Proxy}}, nil
}

// Probe says whether macOS's own sandbox is there.
func Probe(_ context.Context, _ ProbeConfig) (Status, error) {
	st := TierStatus{Tier: TierSeatbelt, OK: true}
	s := Status{Tier: TierSeatbelt, Machine: plan.Machine{UID: os.Getuid(), GID: os.Getgid(), Root: os.Getuid() == 0}}
	if _, err := os.Stat(seatbeltProgram); err != nil {
		st.OK, st.Why, s.Tier = false, "this macOS has no "+seatbeltProgram, plan.TierD
	}
	s.Tiers = []TierStatus{st}
	return s, nil
}

// makePlan gives environment, folder and what must be on disk; the profile is made at the start.
func (b *Box) makePlan(rules policy.Policy, c plan.Command) (plan.Plan, error) {
	machine := b.status.Machine
	// Seatbelt holds at least what a thread of Linux does, so its plan has all that is told here.
	machine.Landlock, machine.Seccomp, c.Tier = 7, true, plan.TierC
	p, err := b.cache.Make(rules, machine, plan.Host(), c)
	p.Tier, p.Access, p.Unheld = TierSeatbelt, nil, nil
	return p, err
}

func (b *seatbelt) start(ctx context.Context, j job) (*Process, error) {
	var port uint16
	var after []func()
	if j.plan.Network == policy.NetworkAllowlist {
		p, release, err := b.proxy.admit(&j)
		if err != nil {
			return nil, err
		}
		port, after = p, []func(){release}
	}
	proc, err := launchSeatbelt(j, int(port))
	if err != nil {
		for _, f := range after {
			f()
		}
		return nil, err
	}
	return follow(ctx, &group{proc: proc}, proc.Pid, after...), nil
}

// launchSeatbelt starts the command under the policy's profile.
func launchSeatbelt(j job, port int) (*os.Process, error) {
	profile, params, err := plan.Seatbelt(j.policy, plan.Host(), plan.Command{Dir: j.plan.Dir, Env: j.plan.Env, Proxy: port})
	if err != nil {
		return nil, err
	}
	program, err := lookPath(j.command.Argv[0], j.plan.Env)
	if err != nil {
		return nil, err
	}
	argv := []string{seatbeltProgram, "-p", profile}
	for _, param := range params {
		argv = append(argv, "-D", param)
	}
	argv = append(append(argv, "--", program), j.command.Argv[1:]...)
	if err := keepFiles(); err != nil {
		return nil, err
	}
	proc, err := os.StartProcess(seatbeltProgram, argv, &os.ProcAttr{
		Dir: j.plan.Dir, Env: j.plan.Env,
		Files: []*os.File{j.command.Stdin, j.command.Stdout, j.command.Stderr},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: j.command.Terminal},
	})
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", program, err)
	}
	return proc, nil
}

// keepFiles sees to it that what was leaked into this process does not go on into a command.
func keepFiles() error {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return fmt.Errorf("list open files: %w", err)
	}
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

func (*seatbelt) stir() {}

func (*seatbelt) warm(context.Context, plan.Plan) error { return nil }

func (*seatbelt) dial(ctx context.Context, port int) (net.Conn, error) { return dialMachine(ctx, port) }

func (b *seatbelt) close() error {
	b.proxy.close()
	return nil
}
