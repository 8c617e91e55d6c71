package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"carrel/agent/permission"
	"carrel/sandbox/policy"
	"carrel/store"
	"carrel/workspaces"
)

// grants are what a person said for as long as a conversation is open.
type grants struct {
	mu      sync.Mutex
	allow   []string    // rules
	folders []string    // that confined commands may write
	sandbox policy.Mode // "": as the settings say
}

func (g *grants) sandboxMode() policy.Mode {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sandbox
}

func (g *grants) rules() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.allow)
}

func (g *grants) writable() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.folders)
}

func (g *grants) add(rules []string, folders ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.folders = append(g.folders, folders...)
	for _, r := range rules {
		if !slices.Contains(g.allow, r) {
			g.allow = append(g.allow, r)
		}
	}
}

// granted is what was allowed for a project for good; nothing for a workspace without one.
func (a *App) granted(project string) (store.Granted, error) {
	if project == "" {
		return store.Granted{}, nil
	}
	return a.root.Granted(project)
}

// modeOf is how much runs without a question in a workspace.
func (a *App) modeOf(w workspaces.Workspace, v store.Permissions, box store.Sandbox) permission.Mode {
	for _, m := range []string{w.Mode, lookup(a.environ)("CARREL_MODE"), v.Mode} {
		if permission.Mode(m).Valid() {
			return permission.Mode(m)
		}
	}
	switch {
	case !a.headless:
		return permission.ModeAsk
	case a.sandboxMode(w.ID, box) == policy.ModeFull: // who says so for a run without a person means it
		return permission.ModeBypass
	}
	return permission.ModeAuto
}

// modeView is modeOf for hosts.
func (a *App) modeView(w workspaces.Workspace) string {
	v, err := a.root.Settings()
	if err != nil {
		a.logger.Warn("read settings", "err", err)
	}
	return string(a.modeOf(w, v.Permissions, v.Sandbox))
}

// judge decides about a call of the conversation.
func (s *session) judge(ctx context.Context, r permission.Request) permission.Verdict {
	v, err := s.verdict(ctx, r)
	if err != nil {
		s.app.logger.Error("judge a call", "workspace", s.id, "tool", r.Tool, "err", err)
		return permission.Verdict{Decision: permission.Deny, Reason: "Whether it may run could not be found out: " + sentence(userError(err))}
	}
	return v
}

func (s *session) verdict(ctx context.Context, r permission.Request) (permission.Verdict, error) {
	a := s.app
	w, err := a.registry.Workspace(ctx, s.id)
	if err != nil {
		return permission.Verdict{}, err
	}
	v, err := a.root.Settings()
	if err != nil {
		return permission.Verdict{}, err
	}
	h, err := a.boxes.heldNow(ctx, w)
	if err != nil {
		return permission.Verdict{}, err
	}
	e, err := a.engine(w, v, h, s.grants.rules())
	if err != nil {
		return permission.Verdict{}, err
	}
	r.Sandboxed = h.on
	r.Unsandboxed = r.Unsandboxed && h.on
	return e.Judge(a.modeOf(w, v.Permissions, v.Sandbox), r), nil
}

// engine makes the judge of a workspace.
func (a *App) engine(w workspaces.Workspace, v store.Settings, h held, session []string) (*permission.Engine, error) {
	granted, err := a.granted(w.ProjectID)
	if err != nil {
		return nil, err
	}
	e := &permission.Engine{Dir: h.policy.Project, Home: h.policy.Home, AutoAllow: v.Sandbox.AutoAllow || a.headless, Headless: a.headless, Resolve: resolvePath}
	// What the sandbox guards asks also where it is off: it could run on the host later, without a question.
	e.Guarded = func(p string) bool { return guarded(h.policy, p) }
	if h.mode != policy.ModeFull {
		spill := a.root.Path("sessions", w.ID, "output") + string(filepath.Separator)
		e.Hidden = func(p string) bool { return !strings.HasPrefix(p, spill) && hidden(h.policy, p) }
	}
	for _, text := range slices.Concat(v.Permissions.Allow, session, granted.AllowOutside) {
		if r, err := permission.ParseRule(text); err == nil {
			e.Rules.Allow = append(e.Rules.Allow, r)
		}
	}
	for _, text := range granted.Allow {
		if r, err := permission.ParseRule(text); err == nil {
			e.Rules.Allow = append(e.Rules.Allow, r.Inside())
		}
	}
	for list, texts := range map[*[]permission.Rule][]string{&e.Rules.Ask: v.Permissions.Ask, &e.Rules.Deny: v.Permissions.Deny} {
		for _, text := range texts {
			r, err := permission.ParseRule(text)
			if err != nil {
				e.Rules.Ask = append(e.Rules.Ask, permission.Unreadable(text)...)
				continue
			}
			*list = append(*list, r)
		}
	}
	return e, nil
}

// resolvePath gives where a path leads, also when its end does not exist yet.
func resolvePath(p string) string {
	rest := ""
	for dir := p; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if to, err := os.Readlink(dir); err == nil { // a link to what does not exist
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(dir), to)
			}
			return filepath.Join(to, rest)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return p
		}
		rest, dir = filepath.Join(filepath.Base(dir), rest), up
	}
}
