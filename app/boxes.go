package app

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"carrel/agent/tool"
	"carrel/sandbox"
	"carrel/sandbox/filter"
	"carrel/sandbox/netproxy"
	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
	"carrel/store"
	"carrel/workspaces"
	"carrel/workspaces/runtime"
)

// boxes are the sandboxes of the workspaces' commands, opened when the first command needs one.
type boxes struct {
	app *App
	net *netLog

	probe  sync.Mutex
	status *sandbox.Status // nil while the machine was not tried
	failed error

	mu     sync.Mutex
	closed bool
	open   map[string]*lookout // by workspace and hold
}

func newBoxes(a *App) *boxes {
	return &boxes{app: a, net: newNetLog(a.sandboxChanged), open: map[string]*lookout{}}
}

// machine tries once what this machine can enforce.
func (b *boxes) machine(ctx context.Context) (sandbox.Status, error) {
	b.probe.Lock()
	defer b.probe.Unlock()
	if b.status == nil && b.failed == nil {
		s, err := sandbox.Known(ctx, sandbox.ProbeConfig{Root: b.app.root.Dir()})
		switch {
		case err == nil:
			b.status = &s
		case ctx.Err() != nil:
			return sandbox.Status{}, err // nothing was learned
		default:
			b.failed = err
		}
	}
	if b.failed != nil {
		return sandbox.Status{}, b.failed
	}
	return *b.status, nil
}

// known says what confines commands as far as that was found out: "none", "on" before the machine was
// tried, else the tier.
func (b *boxes) known() string {
	v, err := b.app.root.Settings()
	if err != nil || b.app.sandboxMode("", v.Sandbox) == policy.ModeFull {
		return "none"
	}
	if !b.probe.TryLock() {
		return "on"
	}
	defer b.probe.Unlock()
	switch {
	case b.failed != nil || b.status != nil && b.status.Tier == plan.TierD:
		return "none"
	case b.status == nil:
		return "on"
	}
	return "tier " + string(b.status.Tier)
}

// held says whether and how commands of a workspace are confined now.
type held struct {
	on     bool
	mode   policy.Mode
	tier   plan.Tier
	why    string // not, where that is not the person's choice
	mend   string
	policy policy.Policy
}

// heldNow finds out how a workspace's commands are confined.
func (b *boxes) heldNow(ctx context.Context, w workspaces.Workspace) (held, error) {
	p, mode, err := b.policyOf(w)
	if err != nil {
		return held{}, err
	}
	h := held{mode: mode, policy: p}
	if mode == policy.ModeFull {
		return h, nil
	}
	s, err := b.machine(ctx)
	if err != nil {
		h.why = err.Error()
		var cannot *sandbox.CannotEnforce
		if errors.As(err, &cannot) {
			h.why, h.mend = cannot.Why, cannot.Mend
		}
		return h, nil
	}
	h.tier = s.Tier
	h.on = s.Tier != plan.TierD && s.Tier != ""
	for _, t := range s.Tiers {
		if !t.OK && h.why == "" && t.Tier == plan.TierA {
			h.why, h.mend = t.Why, t.Mend
		}
	}
	return h, nil
}

// policyOf is what a workspace's commands may do, by the settings and what was allowed for its project.
func (b *boxes) policyOf(w workspaces.Workspace) (policy.Policy, policy.Mode, error) {
	a := b.app
	v, err := a.root.Settings()
	if err != nil {
		return policy.Policy{}, "", err
	}
	granted, err := a.granted(w.ProjectID)
	if err != nil {
		return policy.Policy{}, "", err
	}
	home := lookup(a.environ)("HOME")
	p := SandboxPolicy(policy.Defaults(home, a.root.Dir()).Moved(a.environ), v.Sandbox, w.Dir)
	p.Project, p.Private = w.Dir, a.root.Path("sessions", w.ID, "sandbox")
	if real, err := filepath.EvalSymlinks(w.Dir); err == nil {
		p.Project = real
	}
	if len(granted.AllowedDomains) > 0 {
		if p.Allowed == nil {
			p.Allowed = p.AllowedHosts(policy.Configured(home, a.environ, os.ReadFile))
		}
		p.Allowed = append(p.Allowed, granted.AllowedDomains...)
	}
	for _, d := range granted.AllowWrite {
		p.Write = append(p.Write, policy.Expand(d, home, w.Dir))
	}
	if s := a.openNow(w.ID); s != nil {
		p.Write = append(p.Write, s.grants.writable()...)
	}
	mode := a.sandboxMode(w.ID, v.Sandbox)
	if v.Damaged != "" && mode != policy.ModeFull { // what they forbid would be allowed
		return policy.Policy{}, "", &Error{Code: "bad_settings", Message: "Agents can do nothing until the settings are mended, since what they forbid would be allowed: " + v.Damaged}
	}
	p.ReadOnly = mode == policy.ModeReadOnly
	return p, mode, nil
}

// sandboxMode is what holds commands of a workspace: what was said for its open conversation, for this
// process, and in the settings.
func (a *App) sandboxMode(id string, v store.Sandbox) policy.Mode {
	if s := a.openNow(id); s != nil {
		if m := s.grants.sandboxMode(); m != "" {
			return m
		}
	}
	if m := policy.Mode(lookup(a.environ)("CARREL_SANDBOX")); validSandbox(m) {
		return m
	}
	if !v.On() {
		return policy.ModeFull
	}
	return policy.ModeWorkspace
}

func validSandbox(m policy.Mode) bool {
	switch m {
	case policy.ModeReadOnly, policy.ModeWorkspace, policy.ModeFull:
		return true
	}
	return false
}

// box gives what holds a command of a workspace; nil: nothing is to. An error means that it can't be
// held though it should.
func (b *boxes) box(ctx context.Context, id string, hold runtime.Hold) (*runtime.Boxed, error) {
	w, err := b.app.registry.Workspace(ctx, id)
	if err != nil {
		return nil, err
	}
	h, err := b.heldNow(ctx, w)
	if err != nil || !h.on {
		return nil, err // a person, or a rule, let it run without: see session.judge
	}
	key := id + "/" + string(hold)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, sandbox.ErrClosed
	}
	if l := b.open[key]; l != nil {
		return &runtime.Boxed{Box: l.box, Watch: l.watch}, nil
	}
	if err := os.MkdirAll(h.policy.Private, 0o700); err != nil {
		return nil, err
	}
	now := func() policy.Policy {
		p, _, err := b.policyOf(w)
		if err != nil { // a policy that is not valid holds everything back
			b.app.logger.Error("read the sandbox's settings", "workspace", id, "err", err)
			return policy.Policy{}
		}
		p.ReadOnly = p.ReadOnly || hold == runtime.HoldReadOnly
		return p
	}
	status := b.status
	inner := b.filter(id, now, h.policy.Home)
	proxy := oneOff{Proxy: inner, log: b.net, workspace: id, configured: b.configured(h.policy.Home)}
	box, err := sandbox.Open(context.WithoutCancel(ctx), sandbox.Config{Policy: now, Status: status, Proxy: proxy})
	if err != nil {
		return nil, err
	}
	l := &lookout{boxes: b, id: id, box: box, proxy: inner}
	b.open[key] = l
	return &runtime.Boxed{Box: box, Watch: l.watch}, nil
}

// filter is the filtering proxy of a workspace's commands.
func (b *boxes) filter(id string, now func() policy.Policy, home string) *filter.Filter {
	note := b.net.recorder(id)
	log := func(d netproxy.Decision) {
		note(d)
		b.app.logger.Info("network", "workspace", id, "host", d.Host, "port", d.Port, "allowed", d.Allowed, "rule", d.Rule)
	}
	return filter.New(filter.Config{Proxy: netproxy.Config{Log: log}, Policy: now, Configured: b.configured(home)})
}

// configured are hosts that a policy without a list allows too: those of the machine's package managers.
func (b *boxes) configured(home string) []string {
	return policy.Configured(home, b.app.environ, os.ReadFile)
}

// recheck ends connections of running commands that the settings no longer allow.
func (b *boxes) recheck() {
	b.mu.Lock()
	var all []*filter.Filter
	for _, l := range b.open {
		all = append(all, l.proxy)
	}
	b.mu.Unlock()
	for _, f := range all {
		f.Recheck()
	}
}

// end ends everything that runs in a workspace's sandboxes.
func (b *boxes) end(id string) error {
	b.mu.Lock()
	var mine []*lookout
	for key, l := range b.open {
		if strings.HasPrefix(key, id+"/") {
			mine = append(mine, l)
			delete(b.open, key)
		}
	}
	b.mu.Unlock()
	var errs []error
	for _, l := range mine {
		errs = append(errs, l.box.Close())
	}
	return errors.Join(errs...)
}

// close ends all sandboxes.
func (b *boxes) close() error {
	b.mu.Lock()
	b.closed = true
	b.net.close()
	all := b.open
	b.open = nil
	b.mu.Unlock()
	var errs []error
	for _, l := range all {
		errs = append(errs, l.box.Close())
	}
	return errors.Join(errs...)
}

// guarded reports whether the sandbox leaves a file as it is.
// Cases of letters don't count: there are file systems that take .GIT for .git.
func guarded(p policy.Policy, file string) bool {
	file, p.Project = strings.ToLower(file), strings.ToLower(p.Project)
	rel, inside := strings.CutPrefix(file, strings.TrimSuffix(p.Project, "/")+"/")
	parts := strings.Split(rel, "/")
	for i, name := range parts {
		if inside && name == ".git" && (i+1 == len(parts) || parts[i+1] == "config" || parts[i+1] == "hooks" || parts[i+1] == "commondir" || parts[i+1] == "config.worktree" ||
			parts[i+1] == "info" || parts[i+1] == "worktrees" || parts[i+1] == "modules") {
			return true
		}
	}
	for _, g := range p.Guards {
		g.Name = strings.ToLower(g.Name)
		switch {
		case path.IsAbs(g.Name):
			if file == g.Name || strings.HasPrefix(file, g.Name+"/") {
				return true
			}
		case inside && matchesGuard(g, rel):
			return true
		}
	}
	return false
}

func matchesGuard(g policy.Guard, rel string) bool {
	if !g.Deep {
		return rel == g.Name || strings.HasPrefix(rel, g.Name+"/")
	}
	return strings.Contains("/"+rel+"/", "/"+g.Name+"/")
}

// hidden reports whether the sandbox hides a file: of what covers it the longest decides.
func hidden(p policy.Policy, file string) bool {
	longest, hide := -1, false
	file = strings.ToLower(file)
	look := func(place string, h bool) {
		if place = strings.ToLower(place); (file == place || strings.HasPrefix(file, strings.TrimSuffix(place, "/")+"/")) && len(place) > longest {
			longest, hide = len(place), h
		}
	}
	for _, d := range p.DenyRead {
		look(d, true)
	}
	for _, d := range append([]string{p.Project}, p.Write...) {
		look(d, false)
	}
	for _, d := range p.AllowRead {
		if ok, err := path.Match(strings.ToLower(d), file); err == nil && ok {
			look(file, false)
		} else {
			look(d, false)
		}
	}
	return hide
}

// tools are what a conversation's model can call. Where commands are to be confined, it may ask to run
// one without.
func (a *App) tools(id string) []tool.Tool {
	v, err := a.root.Settings()
	if err != nil || a.sandboxMode(id, v.Sandbox) == policy.ModeFull {
		return tool.Builtin()
	}
	return tool.Boxed(tool.Builtin())
}
