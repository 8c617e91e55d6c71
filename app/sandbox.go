package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"carrel/sandbox"
	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
	"carrel/sandbox/scan"
	"carrel/workspaces"
	"carrel/workspaces/runtime"
)

const (
	quarantineFolder = "quarantine" // below the data root
	maxSandboxList   = 200
	maxSandboxText   = 64 << 10
)

// boxed implements SandboxAPI.
type boxed struct{ app *App }

// sandboxChanged tells hosts that there is something new about a workspace's sandbox.
func (a *App) sandboxChanged(id string) { a.publish(SandboxChanged{Workspace: id}) }

func (b boxed) Status(ctx context.Context, args ByID) (SandboxStatus, error) {
	a := b.app
	w, err := a.registry.Workspace(ctx, args.ID)
	if err != nil {
		return SandboxStatus{}, userError(err)
	}
	h, err := a.boxes.heldNow(ctx, w)
	if err != nil {
		return SandboxStatus{}, userError(err)
	}
	s := SandboxStatus{Mode: string(h.mode), On: h.on, Tier: string(h.tier), Why: short(h.why), Mend: short(h.mend), Tiers: []SandboxTier{},
		Network: string(h.policy.Network), Allowed: listed(h.policy.AllowedHosts(a.configuredHosts(h.policy))), Registries: h.policy.Allowed == nil,
		Denied: listed(h.policy.Denied), AllowPrivate: listed(h.policy.AllowPrivate), Write: listed(writeRoots(h.policy)), DenyRead: listed(h.policy.DenyRead), Caches: cacheViews(h.policy.Caches),
		SSHAgent: h.policy.SSHAgent, Guards: guardViews(h.policy), Temp: filepath.Join(h.policy.Private, "tmp")}
	if s.Holds, err = a.holds(ctx, w); err != nil {
		return SandboxStatus{}, userError(err)
	}
	if m, err := a.boxes.machine(ctx); err == nil {
		for _, t := range m.Tiers {
			s.Tiers = append(s.Tiers, SandboxTier{Name: string(t.Tier), OK: t.OK, Why: short(t.Why), Mend: short(t.Mend)})
		}
	}
	if h.on && len(s.Tiers) > 0 && string(h.tier) == s.Tiers[0].Name { // nothing is stronger
		s.Why, s.Mend = "", ""
	}
	return s, nil
}

// Plan asks for the plan only: nothing runs.
func (b boxed) Plan(ctx context.Context, args ByID) (SandboxPlan, error) {
	out := SandboxPlan{Unheld: []string{}, Notes: []string{}}
	box, err := b.app.boxes.box(ctx, args.ID, runtime.HoldPolicy)
	if err == nil && box == nil {
		return out, nil
	}
	out.On = true
	var p plan.Plan
	if err == nil {
		p, err = box.Box.Plan(sandbox.Command{Env: b.app.environ})
	}
	var c *sandbox.CannotEnforce
	switch {
	case errors.As(err, &c):
		out.Why, out.Mend = short(c.Why), short(c.Mend)
		return out, nil
	case err != nil:
		return out, userError(err)
	}
	out.Unheld, out.Notes, out.Text = listed(p.Unheld), listed(p.Notes), p.Text()
	if len(out.Text) > maxSandboxText {
		out.Text = out.Text[:runeStart(out.Text, maxSandboxText)] + "\n…"
	}
	return out, nil
}

// listed caps a list for hosts.
func listed(in []string) []string { return shorts(in[:min(len(in), maxSandboxList)]) }

func writeRoots(p policy.Policy) []string {
	if p.ReadOnly {
		return nil
	}
	return append([]string{p.Project}, p.Write...)
}

func cacheViews(in []policy.Cache) []SandboxCache {
	out := []SandboxCache{}
	for _, c := range in[:min(len(in), maxSandboxList)] {
		out = append(out, SandboxCache{Path: short(c.Path), Mode: string(c.Mode)})
	}
	return out
}

func (b boxed) Decisions(ctx context.Context, args ByID) (NetworkDecisions, error) {
	if _, err := b.app.registry.Workspace(ctx, args.ID); err != nil {
		return NetworkDecisions{}, userError(err)
	}
	return b.app.boxes.net.decisions(args.ID), nil
}

func (b boxed) Allow(ctx context.Context, args AllowHost) error {
	a := b.app
	w, err := a.registry.Workspace(ctx, args.Workspace)
	if err != nil {
		return userError(err)
	}
	if err := a.boxes.net.grantable(args.Workspace, args.Host); err != nil {
		return err
	}
	p, _, err := a.boxes.policyOf(w)
	if err != nil {
		return userError(err)
	}
	if entry := rulesOf(p).DeniedBy(args.Host); entry != "" {
		return deniedError(args.Host, entry)
	}
	switch args.Scope {
	case AllowNext:
		a.boxes.net.allowNext(args.Workspace, args.Host)
		return nil
	case AllowProject:
		if w.ProjectID == "" {
			return &Error{Code: "no_project", Message: "This workspace has no project to remember it for. Allow it for the next command, or add it to the settings."}
		}
		if err := a.root.Grant(w.ProjectID, "allowed_domains", args.Host); err != nil {
			return userError(err)
		}
		a.boxes.net.changed(args.Workspace)
		return nil
	}
	return &Error{Code: "bad_request", Message: "The scope must be next or project."}
}

func (b boxed) Set(ctx context.Context, args SwitchSandbox) error {
	a := b.app
	w, err := a.registry.Workspace(ctx, args.Workspace)
	if err != nil {
		return userError(err)
	}
	_, mode, err := a.boxes.policyOf(w)
	if err != nil {
		return userError(err)
	}
	if args.On == (mode != policy.ModeFull) {
		return nil
	}
	next := a.boxes.net.swapMode(args.Workspace, mode)
	if !args.On {
		next = policy.ModeFull
	} else if next == "" || next == policy.ModeFull {
		next = policy.ModeWorkspace
	}
	if err := (permissions(b)).SetSandbox(ctx, SetSandbox{Workspace: args.Workspace, Mode: string(next)}); err != nil {
		return err
	}
	a.boxes.net.changed(args.Workspace)
	return nil
}

func (b boxed) Quarantine(ctx context.Context, args ByID) ([]Quarantined, error) {
	w, err := b.app.registry.Workspace(ctx, args.ID)
	if err != nil {
		return nil, userError(err)
	}
	kept, err := b.kept(w)
	if err != nil {
		return nil, err
	}
	out := []Quarantined{}
	for _, k := range kept[:min(len(kept), maxSandboxList)] {
		out = append(out, quarantineView(k))
	}
	return out, nil
}

// kept lists what is in quarantine of the trees that commands of a workspace can change.
func (b boxed) kept(w workspaces.Workspace) ([]scan.Kept, error) {
	p, _, err := b.app.boxes.policyOf(w)
	if err != nil {
		return nil, userError(err)
	}
	all, err := scan.List(b.app.root.Path(quarantineFolder))
	if err != nil {
		return nil, userError(err)
	}
	var mine []scan.Kept
	for _, k := range all {
		for _, root := range append([]string{p.Project}, p.Write...) {
			if policy.Within(filepath.Join(k.Root, filepath.FromSlash(k.Path)), root) {
				mine = append(mine, k)
				break
			}
		}
	}
	return mine, nil
}

func quarantineView(k scan.Kept) Quarantined {
	return Quarantined{ID: k.ID, Path: short(filepath.Join(k.Root, filepath.FromSlash(k.Path))), Kind: string(k.Kind), Reason: short(k.Reason),
		Time: k.Time, Aside: short(k.Aside), PutBack: k.PutBack}
}

func (b boxed) Restore(ctx context.Context, args RestoreQuarantined) error {
	w, err := b.app.registry.Workspace(ctx, args.Workspace)
	if err != nil {
		return userError(err)
	}
	kept, err := b.kept(w)
	if err != nil {
		return err
	}
	for _, k := range kept {
		if k.ID != args.ID {
			continue
		}
		_, err := scan.Restore(b.app.root.Path(quarantineFolder), k.ID)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &Error{Code: "not_found", Message: fmt.Sprintf("The folder of %s is gone, so it can't be put back there.", short(k.Path)), Cause: err}
		case err != nil:
			return &Error{Code: "not_restored", Message: fmt.Sprintf("%s could not be put back: %s.", short(k.Path), strings.TrimSuffix(err.Error(), ".")), Cause: err}
		}
		b.app.boxes.net.changed(args.Workspace)
		return nil
	}
	return &Error{Code: "not_found", Message: "It is not in quarantine any more."}
}
