package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"carrel/sandbox/policy"
)

// agentSocket is where the SSH agent listens, if the policy lets commands talk to it.
func agentSocket(p policy.Policy, environ []string) string {
	if !p.SSHAgent {
		return ""
	}
	for _, v := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(v, "SSH_AUTH_SOCK="); ok && path.IsAbs(value) {
			return path.Clean(value)
		}
	}
	return ""
}

// command adds what depends on the command.
func (b *made) command(c Command) (Plan, error) {
	plan := b.plan
	dir, err := b.dir(c.Dir)
	if err != nil {
		return Plan{}, err
	}
	plan.Dir = dir
	plan.Env = b.environ(c)
	return plan, nil
}

// dir resolves where the command starts; it must be a folder that the command can see.
func (b *made) dir(name string) (string, error) {
	if real, ok := b.dirs[name]; ok {
		return real, nil
	}
	l := newLook(b.tree, b.look.now, b.look.watcher)
	real, err := b.realDir(l, name)
	if err == nil && l.watcher != nil && len(l.blind) == 0 && len(b.dirs) < maxDirs {
		b.dirs[name] = real
	}
	return real, err
}

// maxDirs is how many folders are remembered until something changes.
const maxDirs = 100

func (b *made) realDir(l *look, name string) (string, error) {
	if name == "" {
		name = b.policy.Project
	}
	if !path.IsAbs(name) || strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("plan sandbox: start in %q: it is no absolute path", name)
	}
	r := l.real(name)
	switch {
	case r.err != nil:
		return "", fmt.Errorf("plan sandbox: start in %q: %w", name, r.err)
	case !r.exists || !l.isDir(r.path):
		return "", fmt.Errorf("plan sandbox: start in %q: it is no folder", name)
	case b.rules.hidden(r.path) || b.behind(r.path):
		return "", fmt.Errorf("plan sandbox: start in %q: commands can't see it", name)
	}
	return r.path, nil
}

// behind reports a folder that one of the sandbox's own covers.
func (b *made) behind(name string) bool {
	for _, own := range []string{"/tmp", "/var/tmp", "/run", "/dev", "/proc"} {
		if !inside(name, own) {
			continue
		}
		for _, m := range b.plan.Mounts {
			if !inside(m.Target, own) {
				continue
			}
			if m.Source == m.Target && within(name, m.Target) || name == m.Target && (m.Kind == KindTmpfs || m.Kind == KindDir) {
				return false
			}
		}
		return b.tier != TierC
	}
	return false
}

// environ is the command's environment, sorted. The last one counts as long as the same is asked.
func (b *made) environ(c Command) []string {
	if e := b.env; e.list == nil || !slices.Equal(e.env, c.Env) || !slices.Equal(e.set, c.Set) {
		b.env = environment{slices.Clone(c.Env), slices.Clone(c.Set), b.environment(c)}
	}
	return slices.Clone(b.env.list)
}

// environment is what a command had and got.
type environment struct{ env, set, list []string }

func (b *made) environment(c Command) []string {
	tmp := "/tmp"
	if b.tier == TierC {
		tmp = path.Join(b.policy.Private, "tmp")
	}
	env := slices.Concat(b.policy.Environ(c.Env), c.Set, []string{"TMPDIR=" + tmp})
	last := map[string]string{}
	for _, v := range env {
		if name, _, ok := strings.Cut(v, "="); ok && name != "" && !strings.ContainsRune(v, 0) {
			last[name] = v
		}
	}
	list := make([]string, 0, len(last))
	for _, v := range last {
		list = append(list, v)
	}
	slices.Sort(list)
	return list
}
