package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"

	"carrel/sandbox/jail"
	"carrel/sandbox/landlock"
	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
	"carrel/sandbox/seccomp"
)

// Probe tries each tier with the real helper and /bin/true: settings alone don't tell what a kernel,
// a container or a security module refuses.
func Probe(ctx context.Context, c ProbeConfig) (Status, error) {
	p := newProber(c)
	for _, t := range allTiers() {
		if err := p.try(ctx, t); err != nil {
			return p.status, err
		}
	}
	return p.status, nil
}

// allTiers are those of Linux, strongest first.
func allTiers() []plan.Tier { return []plan.Tier{plan.TierA, plan.TierB, plan.TierC} }

// prober tries one tier after the other.
type prober struct {
	config  ProbeConfig
	program string
	missing error // why there is no program
	status  Status
}

func newProber(c ProbeConfig) *prober {
	p := &prober{config: c, program: c.Program}
	m := &p.status.Machine
	m.UID, m.GID, m.Root = os.Getuid(), os.Getgid(), os.Getuid() == 0
	m.Landlock, m.Errata = landlock.Version()
	m.Seccomp, m.OldBwrap = seccomp.Available(), c.OldBwrap
	if p.program == "" {
		p.program, p.missing = Program(c.Root)
	}
	return p
}

// try tries a tier. An error says that the context ended meanwhile.
func (p *prober) try(ctx context.Context, t plan.Tier) error {
	err, m := p.missing, &p.status.Machine
	switch t {
	case plan.TierA:
		if err == nil {
			err = tryNamespaces(ctx, p.program, p.config.Root, m)
		}
	case plan.TierB:
		m.Bwrap = bwrapVersion(ctx)
		err = tryBwrap(ctx, p.program, *m)
	case plan.TierC:
		err = tryThread(*m)
	case plan.TierD, TierSeatbelt:
		return nil
	}
	if err = errors.Join(err, ctx.Err()); ctx.Err() != nil {
		return fmt.Errorf("probe sandbox: %w", err)
	}
	p.status.add(t, err)
	return nil
}

// add records how a try went; the first that works is the machine's tier.
func (s *Status) add(t plan.Tier, err error) {
	st := TierStatus{Tier: t, OK: err == nil}
	var c *CannotEnforce
	switch {
	case errors.As(err, &c):
		st.Why, st.Mend = c.Why, c.Mend
	case err != nil:
		st.Why = err.Error()
	}
	s.Tiers = append(s.Tiers, st)
	if s.Tier == "" || s.Tier == plan.TierD {
		s.Tier = plan.TierD
		if st.OK {
			s.Tier = t
		}
	}
}

// trial is the least plan that uses everything.
func trial(t plan.Tier, n policy.Network, version int) plan.Plan {
	p := plan.Plan{
		Tier: t, Network: n, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"},
		Mounts: []plan.Mount{
			{Kind: plan.KindRoot, Target: "/", Dir: true}, {Kind: plan.KindProc, Target: "/proc", Dir: true},
			{Kind: plan.KindDev, Target: "/dev", Dir: true}, {Kind: plan.KindTmpfs, Target: "/tmp", Dir: true, Mode: 0o1777},
		},
	}
	if version >= landlock.MinFiles {
		p.Access = []plan.Access{{Path: "/", Rights: plan.Read, Dir: true}, {Path: "/tmp", Rights: plan.Write, Dir: true}}
	}
	return p
}

// run starts /bin/true in a helper that is ready.
func runTrial(ctx context.Context, h *helper, p plan.Plan) error {
	c, done, err := withNull(Command{Argv: []string{"true"}})
	if err != nil {
		return err
	}
	defer done()
	proc, err := launch(ctx, h, job{command: c, plan: p}, nil, Way{}, func() {})
	if err != nil {
		return err
	}
	return trialEnd(proc)
}

func trialEnd(proc *Process) error {
	exit, err := proc.Wait()
	if err == nil && exit.Status() != 0 {
		err = fmt.Errorf("probe sandbox: true ended with status %d", exit.Status())
	}
	return err
}

// tryNamespaces finds out what tier A can have.
func tryNamespaces(ctx context.Context, program, root string, m *plan.Machine) error {
	p, err := startPod(ctx, program)
	if err != nil {
		return refused(err)
	}
	defer p.close()
	network := policy.NetworkDeny
	h, err := p.spawn(ctx, jail.Caught)
	if err != nil {
		// Without a network namespace the tier still holds files.
		network = policy.NetworkAllow
		var again error
		if h, again = p.spawn(ctx, jail.Outside); again != nil {
			return refused(err)
		}
	}
	pl := trial(plan.TierA, network, m.Landlock)
	if err := p.ready(ctx, h, pl, m.Landlock); err != nil {
		h.discard()
		return refused(err)
	}
	if err := runTrial(ctx, h, pl); err != nil {
		return refused(err)
	}
	if !m.Seccomp {
		return &CannotEnforce{Tier: plan.TierA, Why: "the kernel has no system call filters"}
	}
	m.UserNS, m.NetNS = true, network == policy.NetworkDeny
	m.Overlay = tryOverlay(ctx, p, root) == nil
	return nil
}

// tryOverlay mounts one in the data root, whose file system must be fit for it.
func tryOverlay(ctx context.Context, p *pod, root string) error {
	place := filepath.Join(root, "run")
	if err := os.MkdirAll(place, 0o700); err != nil { // a data root that is new has none
		return err
	}
	dir, err := os.MkdirTemp(place, "probe-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	m := plan.Mount{Kind: plan.KindOverlay, Target: dir}
	for _, d := range []struct {
		name string
		at   *string
	}{{"lower", &m.Source}, {"upper", &m.Upper}, {"work", &m.Work}} {
		*d.at = filepath.Join(dir, d.name)
		if err := os.Mkdir(*d.at, 0o700); err != nil {
			return err
		}
	}
	fds, err := p.request(ctx, jail.Message{Kind: jail.Layer, Overlays: []plan.Mount{m}}, 1)
	jail.CloseAll(fds)
	return err
}

// bwrapVersion asks the installed one.
func bwrapVersion(ctx context.Context) plan.Version {
	var v plan.Version
	path := bwrapPath()
	if path == "" {
		return v
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return v
	}
	if _, err := fmt.Sscanf(string(out), "bubblewrap %d.%d.%d", &v.Major, &v.Minor, &v.Patch); err != nil {
		return plan.Version{}
	}
	return v
}

// tryBwrap finds out whether tier B works.
func tryBwrap(ctx context.Context, program string, m plan.Machine) error {
	switch {
	case m.Bwrap == (plan.Version{}):
		return &CannotEnforce{Tier: plan.TierB, Why: "bubblewrap is not installed", Mend: "install bubblewrap 0.12.0 or newer"}
	case !m.Bwrap.AtLeast(0, 12, 0) && !m.OldBwrap:
		return &CannotEnforce{Tier: plan.TierB, Why: "bubblewrap " + m.Bwrap.String() + " follows links while it mounts (GHSA-pxhw-h44j-8pfx)",
			Mend: "install bubblewrap 0.12.0 or newer"}
	case program == "":
		return &CannotEnforce{Tier: plan.TierB, Why: "the sandbox helper is missing"}
	}
	g := newGround()
	defer g.close()
	b := &bwrap{program: program, path: bwrapPath(), landlock: m.Landlock, ground: g}
	p := trial(plan.TierB, policy.NetworkDeny, m.Landlock)
	h, err := b.prepare(ctx, p)
	if err != nil {
		return b.refused(err)
	}
	err = runTrial(ctx, h, p)
	b.running.Wait()
	if err != nil {
		return b.refused(err)
	}
	return nil
}

// tryThread finds out whether tier C works.
func tryThread(m plan.Machine) error {
	switch {
	case m.Landlock == 0:
		return &CannotEnforce{Tier: plan.TierC, Why: "the kernel has no Landlock, or it is switched off",
			Mend: "use Linux 6.2 or newer with landlock in the lsm= boot parameter"}
	case m.Landlock < landlock.MinFiles:
		return &CannotEnforce{Tier: plan.TierC, Why: fmt.Sprintf("the kernel's Landlock has version %d, which lets files be emptied; 3 is needed", m.Landlock),
			Mend: "use Linux 6.2 or newer"}
	case !m.Seccomp:
		return &CannotEnforce{Tier: plan.TierC, Why: "the kernel has no system call filters"}
	}
	c, done, err := withNull(Command{Argv: []string{"true"}})
	if err != nil {
		return err
	}
	defer done()
	g := newGround()
	defer g.close()
	t := newThreads(Config{}, Status{Machine: m}, g)
	defer func() { _ = t.close() }()
	p := trial(plan.TierC, policy.NetworkAllow, m.Landlock)
	proc, err := t.start(context.Background(), job{command: c, plan: p})
	if err != nil {
		return err
	}
	return trialEnd(proc)
}

// sessionWithPidFD starts a session and gives a descriptor of the process.
func sessionWithPidFD(fd *int) *unix.SysProcAttr {
	return &unix.SysProcAttr{Setsid: true, PidFD: fd}
}
