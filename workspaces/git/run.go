package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"
)

// Output is what a call printed. Stderr holds its last 16 KiB.
type Output struct {
	Stdout []byte
	Stderr string
}

// Error is a call that git ended with another code than 0. It is for people and logs; callers decide by
// the typed errors of this package.
type Error struct {
	Args   []string
	Code   int // -1 when a signal ended it
	Stderr string
}

func (e *Error) Error() string {
	text := strings.TrimSpace(e.Stderr)
	if text == "" {
		text = fmt.Sprintf("ended with code %d", e.Code)
	}
	return fmt.Sprintf("git %s: %s", strings.Join(e.Args, " "), text)
}

// call is one git process.
type call struct {
	dir     string
	args    []string
	read    bool // takes no lock, reaches no network, counts against the bound
	plain   bool // no repository is involved: nothing to look up
	offline bool // a write that may reach only transports named in transports
	filters Filters
	// transports is what an offline call may use, as for GIT_ALLOW_PROTOCOL.
	transports string
	env        []string
	config     [][2]string
	stdin      io.Reader
	stdout     io.Writer // instead of Output.Stdout
	stderr     io.Writer // gets it live, beside Output.Stderr
}

// Run runs git for a change that the user asked for. Hooks, fsmonitor and the repository's own filters
// stay off. It fails with *Error, ErrTooMuch, or the context's error.
func (g *Git) Run(ctx context.Context, dir string, args ...string) (Output, error) {
	return g.run(ctx, call{dir: dir, args: args})
}

// Read runs git for a question: it takes no lock, never refreshes the index, starts no transport, and
// waits while as many reads run as there are cores. It fails as Run does.
func (g *Git) Read(ctx context.Context, dir string, args ...string) (Output, error) {
	return g.run(ctx, call{dir: dir, args: plainDiff(args), read: true})
}

func (g *Git) run(ctx context.Context, c call) (Output, error) {
	if c.read && g.leftAlone(c.dir) {
		return Output{}, stuckError(c)
	}
	out, err := g.runNow(ctx, c)
	if c.read && errors.Is(err, ErrStuck) {
		g.noteStuck(c.dir)
	}
	return out, err
}

func (g *Git) runNow(ctx context.Context, c call) (Output, error) {
	env, err := g.callEnv(ctx, c)
	if err != nil {
		return Output{}, err
	}
	if c.read {
		release, err := g.slot(ctx)
		if err != nil {
			return Output{}, err
		}
		defer release()
	}
	return g.exec(ctx, c, env)
}

// readFiles runs a read that looks at the content of files. When it fails it is tried once more without
// any filter: a filter whose program is not installed must not hide the state of everything else.
func (g *Git) readFiles(ctx context.Context, c call) (Output, error) {
	c.read = true
	out, err := g.run(ctx, c)
	var failed *Error
	if !errors.As(err, &failed) {
		return out, err
	}
	c.filters = FiltersNone
	if again, err := g.run(ctx, c); err == nil {
		return again, nil
	}
	return out, err
}

func (g *Git) callEnv(ctx context.Context, c call) ([]string, error) {
	env := setEnv(g.env, c.env...)
	switch {
	case c.read:
		env = setEnv(env, "GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1")
	case c.offline:
		allow := c.transports
		if allow == "" {
			allow = "none"
		}
		env = setEnv(env, "GIT_ALLOW_PROTOCOL="+allow, "GIT_NO_LAZY_FETCH=1")
	}
	config := append(fixedConfig(), c.config...)
	if !c.plain {
		named, err := g.namedOverrides(ctx, c.dir, c.filters)
		if err != nil {
			return nil, err
		}
		config = append(config, named...)
	}
	return append(env, configEnv(config)...), nil
}

// exec starts the process and waits for it. The context, or a long silence, ends its whole process
// group: SIGTERM, so that git removes its lock files, then SIGKILL after two seconds.
func (g *Git) exec(ctx context.Context, c call, env []string) (Output, error) {
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	if g.missing != nil {
		return Output{}, g.missing
	}
	ctx, pulse := g.watchSilence(ctx, c)
	defer pulse.stop()
	cmd := exec.Command(g.path, c.args...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.dir, env, c.stdin
	out := &capped{left: g.max}
	cmd.Stdout = io.MultiWriter(pulse, out)
	if c.stdout != nil {
		cmd.Stdout = io.MultiWriter(pulse, c.stdout)
	}
	tail := &tail{max: 16 << 10}
	cmd.Stderr = io.MultiWriter(pulse, tail)
	if c.stderr != nil {
		cmd.Stderr = io.MultiWriter(pulse, tail, c.stderr)
	}
	ownGroup(cmd)
	// A child of git that outlives it and holds the pipes is not waited for.
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Start(); err != nil {
		return Output{}, fmt.Errorf("start git in %q: %w", c.dir, err)
	}
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		endWithContext(ctx, cmd, done)
	}()
	err := cmd.Wait()
	close(done)
	<-ended
	if used, ok := ctx.Value(cpuKey{}).(*atomic.Int64); ok && cmd.ProcessState != nil {
		used.Add(int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()))
	}
	if out.over {
		err = ErrTooMuch
	}
	return Output{Stdout: out.buf.Bytes(), Stderr: tail.String()}, g.judge(ctx, c, cmd, err, tail)
}

func (g *Git) judge(ctx context.Context, c call, cmd *exec.Cmd, err error, tail *tail) error {
	if err == nil || errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success() {
		return nil
	}
	if errors.Is(context.Cause(ctx), ErrStuck) {
		return stuckError(c)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &Error{Args: c.args, Code: exit.ExitCode(), Stderr: tail.String()}
	}
	return fmt.Errorf("git %s: %w", strings.Join(c.args, " "), err)
}

type cpuKey struct{}

// countCPU makes the calls under a context add up the processor time of their processes.
func countCPU(ctx context.Context) (context.Context, *atomic.Int64) {
	used := &atomic.Int64{}
	return context.WithValue(ctx, cpuKey{}, used), used
}

func endWithContext(ctx context.Context, cmd *exec.Cmd, done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	endGroup(cmd)
	timer := time.NewTimer(2 * time.Second)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
	killGroup(cmd)
}

// capped keeps what is written, up to a number of bytes; more is an error, which ends the process.
type capped struct {
	buf  bytes.Buffer
	left int64
	over bool
}

func (c *capped) Write(p []byte) (int, error) {
	if int64(len(p)) > c.left {
		n, _ := c.buf.Write(p[:c.left])
		c.left, c.over = 0, true
		return n, ErrTooMuch
	}
	c.left -= int64(len(p))
	return c.buf.Write(p)
}

// tail keeps the end of what is written.
type tail struct {
	buf []byte
	max int
}

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - t.max; over > t.max {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.buf[max(0, len(t.buf)-t.max):]) }
