package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"

	"carrel/sandbox/jail"
	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

// maxStale bounds how often a start is tried again because a guard was replaced meanwhile.
const maxStale = 3

// namespaces is tier A: a supervisor of ours, with a network namespace for each network mode that
// commands have asked for.
type namespaces struct {
	program  string
	landlock int
	proxy    Proxy
	ground   *ground

	mu     sync.Mutex
	pod    *pod // nil until the first command
	yards  map[policy.Network]*yard
	closed bool
}

// yard is a network namespace of a pod with the helpers that wait in it.
type yard struct {
	*pod
	room    jail.Room
	pool    *pool
	address string             // of the proxy, where it is served
	stop    context.CancelFunc // ends that
	serving sync.WaitGroup

	mu    sync.Mutex
	spare *helper // without a plan
}

// room is the network namespace of a mode.
func room(mode policy.Network) jail.Room {
	switch mode {
	case policy.NetworkAllow:
		return jail.Outside
	case policy.NetworkAllowlist:
		return jail.Caught
	case policy.NetworkDeny:
	}
	return jail.Closed
}

func newNamespaces(c Config, s Status, g *ground) *namespaces {
	return &namespaces{program: c.Program, landlock: s.Machine.Landlock, proxy: c.Proxy, ground: g, yards: map[policy.Network]*yard{}}
}

// yard gives the place for a network mode; a supervisor that died is replaced.
func (n *namespaces) yard(ctx context.Context, mode policy.Network) (*yard, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, ErrClosed
	}
	if n.pod != nil && !n.pod.alive() {
		n.end()
	}
	if n.pod == nil {
		p, err := startPod(ctx, n.program)
		if err != nil {
			return nil, refused(err)
		}
		n.pod = p
	}
	if y := n.yards[mode]; y != nil {
		return y, nil
	}
	y := &yard{pod: n.pod, room: room(mode)}
	if mode == policy.NetworkAllowlist {
		if err := y.serve(ctx, n.proxy); err != nil {
			return nil, refused(err)
		}
	}
	y.pool = newPool(n.ground, y.dropSpare, func(ctx context.Context, pl plan.Plan) (*helper, error) { return n.prepare(ctx, y, pl) })
	n.yards[mode] = y
	return y, nil
}

// end ends the supervisor and all that belongs to it.
func (n *namespaces) end() {
	for _, y := range n.yards {
		y.close()
	}
	clear(n.yards)
	if n.pod != nil {
		n.pod.close()
	}
	n.pod = nil
}

// prepare gives a helper that is ready, and sees to the next spare one.
func (n *namespaces) prepare(ctx context.Context, y *yard, pl plan.Plan) (*helper, error) {
	key := n.ground.fingerprint(pl)
	h, err := y.bare(ctx)
	if err != nil {
		return nil, err
	}
	if err := y.ready(ctx, h, pl, n.landlock); err != nil {
		h.discard()
		return nil, err
	}
	h.key = key
	y.keepSpare(ctx)
	return h, nil
}

// bare takes the spare helper, or starts one.
func (y *yard) bare(ctx context.Context) (*helper, error) {
	y.mu.Lock()
	h := y.spare
	y.spare = nil
	y.mu.Unlock()
	if h != nil {
		return h, nil
	}
	return y.spawn(ctx, y.room)
}

// keepSpare starts a helper for a command whose plan is not the last one's.
func (y *yard) keepSpare(ctx context.Context) {
	y.mu.Lock()
	have := y.spare != nil
	y.mu.Unlock()
	if have {
		return
	}
	h, err := y.spawn(ctx, y.room)
	if err != nil {
		return // whoever needs one finds out why
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	y.spare = h
}

// dropSpare ends the spare helper.
func (y *yard) dropSpare() {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.spare != nil {
		y.spare.discard()
		y.spare = nil
	}
}

// close ends what waits here and the proxy's service; commands end with the pod.
func (y *yard) close() {
	y.pool.close()
	y.dropSpare()
	if y.stop != nil {
		y.stop()
	}
	y.serving.Wait()
}

func (n *namespaces) start(ctx context.Context, j job) (*Process, error) {
	var err error
	for range maxStale {
		var p *Process
		if p, err = n.try(ctx, j); !errors.Is(err, errStale) {
			return p, err
		}
	}
	return nil, fmt.Errorf("start command: %w", err)
}

func (n *namespaces) stir() {} // its helper waits on a socket

func (n *namespaces) warm(ctx context.Context, p plan.Plan) error {
	y, err := n.yard(ctx, p.Network)
	if err != nil {
		return err
	}
	return refused(y.pool.warm(ctx, p))
}

func (n *namespaces) try(ctx context.Context, j job) (*Process, error) {
	y, err := n.yard(ctx, j.plan.Network)
	if err != nil {
		return nil, err
	}
	h := y.pool.take(ctx, j.plan)
	if h == nil {
		if h, err = y.bare(ctx); err == nil {
			if err = y.ready(ctx, h, j.plan, n.landlock); err != nil {
				h.discard()
			}
		}
		if err != nil {
			return nil, again(refused(err))
		}
	}
	return launch(ctx, h, j, n.proxy, Way{Address: y.address, Captured: true}, func() { y.pool.refill(j.plan) })
}

// again turns an error into errStale when a process of ours was killed: the next try has another.
func again(err error) error {
	var f *jail.Failure
	if errors.As(err, &f) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w (%w)", errStale, err)
}

// launch runs a command in a helper that is ready, whose it is from then on.
func launch(ctx context.Context, h *helper, j job, proxy Proxy, w Way, started func()) (*Process, error) {
	var after []func()
	if j.plan.Network == policy.NetworkAllowlist {
		env, release, err := proxy.Admit(j.command.Name, j.policy, w)
		if err != nil {
			h.discard()
			return nil, fmt.Errorf("admit command to proxy: %w", err)
		}
		j.plan.Env = slices.Concat(j.plan.Env, env)
		after = append(after, release)
	}
	pid, err := h.run(ctx, j)
	if err != nil {
		h.discard()
		for _, f := range after {
			f()
		}
		return nil, err
	}
	started()
	return follow(ctx, h, pid, after...), nil
}

// serve opens the proxy's listeners inside and hands them over.
func (y *yard) serve(ctx context.Context, proxy Proxy) error {
	reply, fds, err := y.question(ctx, jail.Message{Kind: jail.Listen, Room: y.room, Endpoints: endpoints()})
	if err != nil {
		return err
	}
	l, err := takeListeners(reply.Endpoints, fds)
	if err != nil {
		return err
	}
	y.address = l.Proxy.Addr().String()
	serving, stop := context.WithCancel(context.Background())
	y.stop = stop
	y.serving.Go(func() { proxy.Serve(serving, l) })
	return nil
}

// dial tries the network namespaces of the box, then the machine's if a command uses that.
func (n *namespaces) dial(ctx context.Context, port int) (net.Conn, error) {
	n.mu.Lock()
	yards := maps.Clone(n.yards)
	n.mu.Unlock()
	errs := fmt.Errorf("dial port %d: no command has run", port)
	for _, mode := range []policy.Network{policy.NetworkAllowlist, policy.NetworkDeny} {
		if y := yards[mode]; y != nil {
			c, err := y.dial(ctx, y.room, port)
			if err == nil {
				return c, nil
			}
			errs = err
		}
	}
	if yards[policy.NetworkAllow] != nil {
		return dialMachine(ctx, port)
	}
	return nil, errs
}

func (n *namespaces) close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	n.end()
	return nil
}

// refused turns what the kernel refused to a helper into what a person can use.
func refused(err error) error {
	var f *jail.Failure
	if !errors.As(err, &f) || f.Step == "start" || f.Step == "enter" {
		return err // the command, not the sandbox
	}
	why, mend := explain(f)
	return &CannotEnforce{Tier: plan.TierA, Why: why, Mend: mend, Err: err}
}
