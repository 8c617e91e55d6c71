package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"carrel/sandbox"
	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
)

const (
	startRounds  = 60
	bwrapShare   = 0.7 // of what bubblewrap adds to a bare exec
	runtimeShare = 0.1 // of what the npm package adds
)

// boxed is a workspace with a box, for measuring.
type boxed struct {
	*sandbox.Box
	project string
}

// box opens a box on a project. Caches are as they are on disk unless overlays is set: the bubblewrap
// of most machines has no overlays.
func (b *bench) box(ctx context.Context, name, project, home string, tier plan.Tier, overlays bool) (*boxed, error) {
	root := b.path("sandbox-root")
	private := filepath.Join(root, "sandbox", name)
	if err := errors.Join(os.MkdirAll(private, 0o700), b.helper(ctx)); err != nil {
		return nil, err
	}
	rules := policy.Defaults(home, root).Moved(os.Environ())
	rules.Project, rules.Private = project, private
	for i := range rules.Caches {
		if !overlays {
			rules.Caches[i].Mode = policy.CacheWrite
		}
	}
	box, err := sandbox.Open(ctx, sandbox.Config{Tier: tier, Program: b.path("bin", "carrel-sandbox"), Policy: func() policy.Policy { return rules }})
	if err != nil {
		return nil, err
	}
	return &boxed{Box: box, project: project}, nil
}

// helper builds the sandbox's helper from the source as it is.
func (b *bench) helper(ctx context.Context) error {
	out := b.path("bin", "carrel-sandbox")
	if _, err := os.Stat(out); err == nil {
		return nil
	}
	return b.build(ctx, filepath.Join(b.module, "sandbox", "jail", "main"), out)
}

// run is a work: one command in the box, which is warm, with variables on top.
func (x *boxed) run(env []string, argv ...string) work {
	return func(ctx context.Context) (sample, error) {
		c := sandbox.Command{Argv: argv, Dir: x.project, Extra: env, Stderr: os.Stderr}
		if err := x.Warm(ctx, c); err != nil {
			return sample{}, err
		}
		return timed(func() error {
			p, err := x.Start(ctx, c)
			if err != nil {
				return err
			}
			exit, err := p.Wait()
			if err == nil && exit.Status() != 0 {
				err = fmt.Errorf("%q in the sandbox: exit status %d", argv, exit.Status())
			}
			return err
		})
	}
}

// outside is the same without a sandbox. It is a session of its own as well, for the kernel may share out
// processor time by sessions.
func outside(dir string, env []string, argv ...string) work {
	return func(context.Context) (sample, error) {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Stderr, cmd.Env = dir, os.Stderr, append(os.Environ(), env...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return timed(cmd.Run)
	}
}

// rotate lets several works take turns, each coming first in turn, after a run of each that does not
// count.
func rotate(ctx context.Context, rounds int, works ...work) ([][]sample, error) {
	out := make([][]sample, len(works))
	for i := range rounds + 1 {
		for j := range works {
			k := (i + j) % len(works)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s, err := works[k](ctx)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				out[k] = append(out[k], s)
			}
		}
	}
	return out, nil
}

// above is a line about what two ways add to a bare run.
func above(what string, bare, base, ours []sample, limit float64) line {
	extra := func(all []sample, f func([]time.Duration) time.Duration) time.Duration {
		return f(wall(all)) - f(wall(bare))
	}
	return line{work: what, unit: "x", limit: limit, ours: show(extra(ours, median)), baseline: show(extra(base, median)),
		value: over(extra(ours, median), extra(base, median)), best: over(extra(ours, least), extra(base, least)),
		note: fmt.Sprintf("a bare exec takes %s", show(median(wall(bare))))}
}

// measureSandboxStart starts /bin/true: bare, with bubblewrap, with the npm package where it is, and in
// our tiers.
func measureSandboxStart(ctx context.Context, b *bench) (lines []line, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	project := b.path("sandbox-project")
	if err := b.repo(ctx, project, size{40, 4}); err != nil {
		return nil, err
	}
	full, err := b.box(ctx, "a", project, home, plan.TierA, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, full.Close()) }()
	thread, err := b.box(ctx, "c", project, home, plan.TierC, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, thread.Close()) }()
	bare := outside(project, nil, "/bin/true")
	p, err := alternate(ctx, 2*startRounds, bare, thread.run(nil, "/bin/true"))
	if err != nil {
		return nil, err
	}
	lines = append(lines, p.ratio("tier C; a bare exec", 1.1))
	wrap, err := b.bubblewrap(ctx, full)
	if err != nil {
		return lines, err
	}
	got, err := rotate(ctx, startRounds, bare, wrap, full.run(nil, "/bin/true"))
	if err != nil {
		return lines, err
	}
	lines = append(lines, above("tier A, above a bare exec; bubblewrap with the same mounts", got[0], got[1], got[2], bwrapShare))
	srt, err := b.npmRuntime(project)
	if err != nil {
		return lines, err
	}
	if got, err = rotate(ctx, 10, bare, srt, full.run(nil, "/bin/true")); err != nil {
		return lines, err
	}
	return append(lines, above("tier A, above a bare exec; the npm sandbox-runtime", got[0], got[1], got[2], runtimeShare)), nil
}

// bubblewrap starts /bin/true with the mounts of the box's plan.
func (b *bench) bubblewrap(ctx context.Context, x *boxed) (work, error) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, fmt.Errorf("%w: bubblewrap is not installed", errSkipped)
	}
	c := sandbox.Command{Argv: []string{"/bin/true"}, Dir: x.project}
	if err := x.Warm(ctx, c); err != nil { // makes the folders that are mounted
		return nil, err
	}
	p, err := x.Plan(c)
	if err != nil {
		return nil, err
	}
	args := p.Bwrap("/bin/true")
	cut := slices.Index(args, "--")
	list := b.path("bwrap-arguments")
	if err := os.WriteFile(list, []byte(strings.Join(args[:cut], "\x00")+"\x00"), 0o600); err != nil {
		return nil, err
	}
	return func(context.Context) (sample, error) {
		f, err := os.Open(list)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = f.Close() }()
		cmd := exec.Command(path, append([]string{"--args", "3"}, args[cut:]...)...)
		cmd.ExtraFiles, cmd.Stderr, cmd.Env = []*os.File{f}, os.Stderr, p.Env
		return timed(cmd.Run)
	}, nil
}

// npmRuntime starts /bin/true with the npm package, where -agents has it.
func (b *bench) npmRuntime(project string) (work, error) {
	path, err := b.agent("srt")
	if err != nil {
		return nil, fmt.Errorf("%w: the npm sandbox-runtime (srt) is not in PATH or below -agents", errSkipped)
	}
	settings := b.path("srt-settings.json")
	text := fmt.Sprintf(`{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":[%q],"denyWrite":[]}}`, project)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return outside(project, nil, path, "--settings", settings, "/bin/true"), nil
}
