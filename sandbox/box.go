package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"

	"carrel/sandbox/jail"
	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

// Listeners are the sockets of one network namespace that the proxy serves. They belong to whoever
// gets them.
type Listeners struct {
	// Proxy takes requests of programs that know the proxy's variables.
	Proxy net.Listener
	// HTTP, TLS and SSH get every connection to port 80, 443 and 22 of any address: a connection's local
	// address is where the program wanted to go. Nil where nothing is captured: anywhere but in tier A.
	HTTP, TLS, SSH net.Listener
	// Names are where the machine's name servers would be, port 53. Empty but in tier A.
	Names []net.PacketConn
}

// Close closes all of them.
func (l Listeners) Close() {
	for _, s := range []net.Listener{l.Proxy, l.HTTP, l.TLS, l.SSH} {
		if s != nil {
			_ = s.Close()
		}
	}
	for _, n := range l.Names {
		_ = n.Close()
	}
}

// Proxy is the filtering proxy as a box needs it.
type Proxy interface {
	// Serve serves the listeners of one network namespace and closes them before it returns, which
	// is soon after ctx ends.
	Serve(ctx context.Context, l Listeners)
	// Admit opens the proxy to one command under the policy, and gives the variables that make programs
	// use it. release ends that. The command's name is for people.
	Admit(command string, p policy.Policy, w Way) (env []string, release func(), err error)
}

// Way is how a command's programs come to the proxy.
type Way struct {
	Address string // HOST:PORT, as they reach it
	// Helper is the absolute path of the program that ssh goes through, as commands see it; empty leaves
	// ssh out.
	Helper string
	// Captured says that connections of programs that don't ask the proxy are handed to it too.
	Captured bool
}

// Config says what a box holds its commands to.
type Config struct {
	// Policy is asked before each command.
	Policy func() policy.Policy
	// Tier is the only one to use; empty takes the strongest that the machine has.
	Tier plan.Tier
	// Proxy serves commands whose network mode is allowlist; without one they are refused.
	Proxy Proxy
	// Program is the helper's path; empty writes the embedded one below the policy's Root.
	Program string
	// Status is what an earlier Probe said; nil tries the tier, or without one each until one works.
	Status *Status
	// OldBwrap, for tests, takes a bubblewrap that is too old to be safe.
	OldBwrap bool
}

// Box holds the commands of one workspace. In tier A they share a network namespace, so that one
// reaches the server that another runs. Its methods may be called by several goroutines.
type Box struct {
	config Config
	status Status
	ground *ground
	cache  *plan.Cache
	tiers  tiers
	stands stands

	mu     sync.Mutex
	closed bool
	ends   map[*Process]struct{}

	after sync.WaitGroup // what is done when a command has ended and nobody waits
}

// Open makes a box. It returns *CannotEnforce when the machine has no tier, or not the one that was
// asked for. Nothing is running yet when it returns.
func Open(ctx context.Context, c Config) (*Box, error) {
	if c.Policy == nil {
		return nil, fmt.Errorf("open sandbox: there is no policy")
	}
	status, err := machineFor(ctx, c)
	if err != nil {
		return nil, err
	}
	b := &Box{config: c, status: status, cache: plan.NewCache(), ends: map[*Process]struct{}{}}
	if c.Tier == "" {
		b.config.Tier = status.Tier
	}
	if err := status.need(b.config.Tier); err != nil {
		return nil, err
	}
	if b.config, err = withProgram(b.config); err != nil {
		return nil, err
	}
	b.ground = newGround()
	b.cache.Watcher = b.ground.watcher()
	if b.tiers, err = newTiers(b.config, status, b.ground); err != nil {
		b.ground.close()
		return nil, err
	}
	return b, nil
}

// machineFor is what the machine can do, as far as this box needs to know.
func machineFor(ctx context.Context, c Config) (Status, error) {
	if c.Status != nil {
		return *c.Status, nil
	}
	return enough(ctx, ProbeConfig{Root: c.Policy().Root, Program: c.Program, OldBwrap: c.OldBwrap}, c.Tier)
}

// Tier is how strongly the box holds its commands.
func (b *Box) Tier() plan.Tier { return b.config.Tier }

// Status is what the machine can do; tiers that were not tried are not in it.
func (b *Box) Status() Status { return b.status }

// Plan is what Start would enforce now, for people.
func (b *Box) Plan(c Command) (plan.Plan, error) {
	_, p, err := b.plan(c)
	return p, err
}

// plan makes the plan for one command.
func (b *Box) plan(c Command) (policy.Policy, plan.Plan, error) {
	rules := b.config.Policy()
	if c.Network != nil {
		rules.Network = *c.Network
	}
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	p, err := b.makePlan(rules, plan.Command{Dir: c.Dir, Env: env, Tier: b.config.Tier})
	if err != nil {
		return rules, p, cannot(err)
	}
	if p.Network == policy.NetworkAllowlist && b.config.Proxy == nil {
		return rules, p, &CannotEnforce{Tier: p.Tier, Why: "the network is limited to listed hosts, and there is no proxy to limit it"}
	}
	p.Env = slices.Concat(p.Env, c.Extra) // the plan's slices are shared
	return rules, p, nil
}

// prepared makes the plan, and what it needs on disk. What that makes belongs to the next plan, so it is
// made again: the helper that is then got ready is of use to the next command too.
func (b *Box) prepared(c Command) (policy.Policy, plan.Plan, error) {
	rules, p, err := b.plan(c)
	if err != nil {
		return rules, p, err
	}
	made, err := b.stands.prepare(p, b.ground)
	if err != nil || !made {
		return rules, p, err
	}
	if rules, p, err = b.plan(c); err == nil {
		_, err = b.stands.prepare(p, b.ground)
	}
	return rules, p, err
}

// Start starts a command. What the policy does not let it do does not make Start fail; a program
// that is missing does. The command ends when ctx does.
func (b *Box) Start(ctx context.Context, c Command) (*Process, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, fmt.Errorf("start command: there is none")
	}
	b.tiers.stir()
	c, done, err := withNull(c)
	if err != nil {
		return nil, err
	}
	defer done()
	proc, err := b.try(ctx, c)
	if vanished(err) { // since it was planned
		proc, err = b.try(ctx, c)
	}
	if err != nil {
		return nil, forget(b.config.Policy().Root, cannot(err))
	}
	return b.adopt(proc)
}

// try plans and starts a command.
func (b *Box) try(ctx context.Context, c Command) (*Process, error) {
	rules, p, err := b.prepared(c)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	closed := b.closed
	b.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	proc, err := b.tiers.start(ctx, job{command: c, plan: p, policy: rules})
	if err != nil {
		b.stands.forget()
	}
	return proc, err
}

// vanished reports that something was not there that a plan mounts.
func vanished(err error) bool {
	var f *jail.Failure
	return errors.As(err, &f) && syscall.Errno(f.Errno) == syscall.ENOENT && f.Step != "start" && f.Step != "enter"
}

// adopt remembers a process, and forgets those that have ended.
func (b *Box) adopt(p *Process) (*Process, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed { // while it was starting
		p.Kill()
		return nil, ErrClosed
	}
	maps.DeleteFunc(b.ends, func(p *Process, _ struct{}) bool { return p.ended() })
	b.ends[p] = struct{}{}
	b.after.Go(func() {
		<-p.done
		b.mu.Lock()
		closed := b.closed
		b.mu.Unlock()
		if !closed {
			b.cache.Refresh()
		}
	})
	return p, nil
}

// Dial connects to a port that a command in the box listens on: tier A's loopback, else the
// machine's. With a network mode of allow all loopbacks are the machine's.
func (b *Box) Dial(ctx context.Context, port int) (net.Conn, error) {
	return b.tiers.dial(ctx, port)
}

// Warm makes a helper ready for a command, so that Start of the same one is quick. Start does it for
// the next one by itself, meanwhile. It does nothing where commands start without a helper.
func (b *Box) Warm(ctx context.Context, c Command) error {
	_, p, err := b.prepared(c)
	if err != nil {
		return err
	}
	return cannot(b.tiers.warm(ctx, p))
}

// Forget drops what planning remembers of the files: for whoever made a repository or a folder in
// the project from outside.
func (b *Box) Forget() { b.cache.Forget() }

// Close ends everything in the box and waits for it. The box can't be used after it.
func (b *Box) Close() error {
	b.mu.Lock()
	b.closed = true
	var all []*Process
	for p := range b.ends {
		all = append(all, p)
	}
	b.mu.Unlock()
	for _, p := range all {
		p.Kill()
	}
	err := b.tiers.close()
	for _, p := range all {
		<-p.done
	}
	b.after.Wait()
	b.stands.release()
	b.ground.close()
	return err
}

// job is a command with what holds it.
type job struct {
	command Command
	plan    plan.Plan
	policy  policy.Policy
}

// tiers starts commands in the one tier of a box.
type tiers interface {
	// stir says that a command will come as soon as it is planned.
	stir()
	start(ctx context.Context, j job) (*Process, error)
	warm(ctx context.Context, p plan.Plan) error
	dial(ctx context.Context, port int) (net.Conn, error)
	close() error
}

// withNull opens /dev/null for the streams that nobody gave.
func withNull(c Command) (Command, func(), error) {
	if c.Stdin != nil && c.Stdout != nil && c.Stderr != nil {
		return c, func() {}, nil
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return c, nil, fmt.Errorf("start command: %w", err)
	}
	for _, f := range []**os.File{&c.Stdin, &c.Stdout, &c.Stderr} {
		if *f == nil {
			*f = null
		}
	}
	return c, func() { _ = null.Close() }, nil
}
