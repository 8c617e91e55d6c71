package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carrel/sandbox/jail"
	"carrel/sandbox/plan"
)

// pod is a supervisor with what belongs to it: the namespaces that commands of one workspace share.
type pod struct {
	cmd  *exec.Cmd
	told *tail // what it wrote to its standard error

	mu     sync.Mutex // one request at a time
	conn   *jail.Conn
	broken atomic.Bool // it can't be asked any more, and ends
	dead   chan struct{}
}

// tail keeps the end of what a process says before it breaks.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-maxTail):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.text))
}

// startPod starts a supervisor. The error is a *jail.Failure where the kernel refused something.
func startPod(ctx context.Context, program string) (*pod, error) {
	ours, theirs, err := jail.Pair()
	if err != nil {
		return nil, err
	}
	end := os.NewFile(uintptr(theirs), "supervisor")
	defer func() { _ = end.Close() }()
	conn, err := jail.NewConn(ours)
	if err != nil {
		return nil, err
	}
	p := &pod{conn: conn, told: &tail{}, dead: make(chan struct{})}
	p.cmd = exec.Command(program)
	p.cmd.Args = []string{jail.Program, jail.RoleSupervisor}
	p.cmd.Env, p.cmd.Dir, p.cmd.Stderr = []string{}, "/", p.told
	p.cmd.ExtraFiles = []*os.File{end}
	p.cmd.SysProcAttr = podAttributes()
	if err := p.cmd.Start(); err != nil {
		_ = conn.Close()
		return nil, &jail.Failure{Step: "start supervisor", Errno: errno(err), Text: err.Error()}
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.dead)
	}()
	_ = end.Close() // or its end would not show
	if err := p.greet(ctx); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func errno(err error) int {
	var e syscall.Errno
	if errors.As(err, &e) {
		return int(e)
	}
	return 0
}

// podAttributes put the supervisor into namespaces of its own, with the rights in them that mounts
// and a network need. Users keep their numbers, so that files show their owners.
func podAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		Setsid:      true,
		UidMappings: sameIDs("/proc/self/uid_map", os.Getuid()),
		GidMappings: sameIDs("/proc/self/gid_map", os.Getgid()),
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE,
			unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE},
	}
}

// sameIDs maps each number to itself: a user's own, and for root all that there are, so that he sees
// who owns what.
func sameIDs(file string, own int) []syscall.SysProcIDMap {
	single := []syscall.SysProcIDMap{{ContainerID: own, HostID: own, Size: 1}}
	if os.Geteuid() != 0 {
		return single
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return single
	}
	var all []syscall.SysProcIDMap
	for line := range strings.Lines(string(text)) {
		var inside, outside, size int
		if _, err := fmt.Sscan(line, &inside, &outside, &size); err != nil {
			return single
		}
		all = append(all, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
	}
	return all
}

// greet waits until the supervisor has its namespaces.
func (p *pod) greet(ctx context.Context) error {
	end := time.Now().Add(answerTime)
	if d, ok := ctx.Deadline(); ok && d.Before(end) {
		end = d
	}
	if err := p.conn.SetDeadline(end); err != nil {
		return err
	}
	m, fds, err := p.conn.Receive()
	jail.CloseAll(fds)
	if err != nil {
		return fmt.Errorf("start supervisor: %w: %s", err, p.told)
	}
	if m.Failure != nil {
		return m.Failure
	}
	return nil
}

// request asks the supervisor for descriptors.
func (p *pod) request(ctx context.Context, m jail.Message, want int) ([]int, error) {
	_, fds, err := p.question(ctx, m)
	if err == nil && len(fds) != want {
		jail.CloseAll(fds)
		err = fmt.Errorf("ask supervisor for %s: %d descriptors came, not %d", m.Kind, len(fds), want)
	}
	return fds, err
}

// question waits for the answer of the supervisor. Half an answer would end it, and with it all
// commands, so nobody's context stops that.
func (p *pod) question(ctx context.Context, m jail.Message) (jail.Message, []int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	reply, fds, err := ask(context.WithoutCancel(ctx), p.conn, m)
	var f *jail.Failure
	if err != nil && !errors.As(err, &f) {
		p.broken.Store(true)
		_ = p.conn.Close() // the answer may still be on its way to the next question
	}
	return reply, fds, err
}

// alive reports whether the supervisor can be asked.
func (p *pod) alive() bool {
	if p.broken.Load() {
		return false
	}
	select {
	case <-p.dead:
		return false
	default:
		return true
	}
}

// spawn starts a helper without a plan.
func (p *pod) spawn(ctx context.Context, r jail.Room) (*helper, error) {
	fds, err := p.request(ctx, jail.Message{Kind: jail.Spawn, Room: r}, 2)
	if err != nil {
		return nil, err
	}
	conn, err := jail.NewConn(fds[0])
	if err != nil {
		jail.CloseAll(fds)
		return nil, err
	}
	return &helper{conn: conn, pidfd: os.NewFile(uintptr(fds[1]), "helper")}, nil
}

// ready gives a helper a plan.
func (p *pod) ready(ctx context.Context, h *helper, pl plan.Plan, landlock int) error {
	var overlays []plan.Mount
	for _, m := range pl.Mounts {
		if m.Kind == plan.KindOverlay {
			overlays = append(overlays, m)
		}
	}
	var fds []int
	if len(overlays) > 0 {
		var err error
		if fds, err = p.request(ctx, jail.Message{Kind: jail.Layer, Overlays: overlays}, len(overlays)); err != nil {
			return err
		}
		defer jail.CloseAll(fds)
	}
	return h.ready(ctx, pl, jail.Confine{Landlock: landlock}, fds, nil)
}

// dial connects to a port inside.
func (p *pod) dial(ctx context.Context, r jail.Room, port int) (net.Conn, error) {
	fds, err := p.request(ctx, jail.Message{Kind: jail.Dial, Room: r, Port: port}, 1)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fds[0]), "port")
	defer func() { _ = f.Close() }()
	return net.FileConn(f)
}

// close ends the supervisor, and with it all of its helpers and their commands.
func (p *pod) close() {
	_ = p.conn.Close()
	timer := time.AfterFunc(graceTime, func() { _ = p.cmd.Process.Kill() })
	<-p.dead
	timer.Stop()
}
