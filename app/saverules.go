package app

import (
	"context"
	"path/filepath"
	"slices"

	"carrel/agent/permission"
)

// keep saves the rules that would grant what a call waits for: those that the person was shown.
func (p permissions) keep(ctx context.Context, args AnswerQuestion) error {
	w, err := p.app.registry.Workspace(ctx, args.Workspace)
	if err != nil {
		return userError(err)
	}
	s, done, err := p.app.session(ctx, args.Workspace)
	if err != nil {
		return userError(err)
	}
	defer done()
	q := s.current().Question
	if q == nil || q.CallID != args.Call {
		return errAnswered()
	}
	rules := args.Rules
	switch {
	case len(q.Always) == 0:
		return &Error{Code: "not_for_good", Message: "This can be allowed once only: no rule can say what it does."}
	case len(rules) == 0:
		rules = q.Always
	case !slices.Equal(rules, q.Always) && !slices.Equal(rules, q.Broad):
		return &Error{Code: "bad_request", Message: "These are not the rules that this question offers."}
	}
	if w.ProjectID == "" {
		s.grants.add(rules)
		return nil
	}
	h, err := p.app.boxes.heldNow(ctx, w)
	if err != nil {
		return userError(err)
	}
	list := "allow"
	if q.Outside || !h.on {
		list = "allow_outside"
	}
	err = userError(p.app.root.Grant(w.ProjectID, list, rules...))
	p.app.sandboxChanged(w.ID)
	return err
}

func (p permissions) Saved(ctx context.Context) ([]SavedRule, error) {
	a := p.app
	out := []SavedRule{}
	add := func(of SavedRule, texts []string) {
		for _, t := range texts {
			of.Rule, of.Problem = t, ""
			if _, err := permission.ParseRule(t); err != nil && (of.List == "allow" || of.List == "ask" || of.List == "deny" || of.List == "allow_outside") {
				of.Problem = err.Error()
			}
			out = append(out, of)
		}
	}
	v, err := a.root.Settings()
	if err != nil {
		return nil, userError(err)
	}
	general := a.root.Path("settings.jsonc")
	add(SavedRule{List: "deny", File: general}, v.Permissions.Deny)
	add(SavedRule{List: "ask", File: general}, v.Permissions.Ask)
	add(SavedRule{List: "allow", File: general}, v.Permissions.Allow)
	all, err := a.registry.Projects(ctx)
	if err != nil {
		return nil, userError(err)
	}
	for _, project := range all {
		g, err := a.granted(project.ID)
		if err != nil {
			return nil, userError(err)
		}
		of := SavedRule{Project: project.ID, Name: project.Name, File: a.root.Path("projects", project.ID, "sandbox.jsonc")}
		for _, l := range []struct {
			name  string
			texts []string
		}{{"allow", g.Allow}, {"allow_outside", g.AllowOutside}, {"allowed_domains", g.AllowedDomains}, {"allow_write", g.AllowWrite}} {
			of.List = l.name
			add(of, l.texts)
		}
	}
	return out, nil
}

func (p permissions) Revoke(ctx context.Context, args RevokeRule) error {
	a := p.app
	project := args.Project
	if args.Workspace != "" {
		w, err := a.registry.Workspace(ctx, args.Workspace)
		if err != nil {
			return userError(err)
		}
		if s := a.openNow(w.ID); s != nil {
			s.grants.remove(args.Rule)
		}
		defer a.sandboxChanged(w.ID)
		if project = w.ProjectID; project == "" {
			return nil
		}
	}
	if project == "" {
		return p.forget(args)
	}
	lists := []string{args.List}
	switch args.List {
	case "":
		lists = []string{"allow", "allow_outside"}
	case "allow", "allow_outside", "allowed_domains", "allow_write":
	default:
		return &Error{Code: "bad_request", Message: "A project has no list " + short(args.List) + "; rules to ask and to deny are in the settings."}
	}
	for _, list := range lists {
		if err := a.root.Revoke(project, list, args.Rule); err != nil {
			return userError(err)
		}
	}
	return nil
}

// forget takes a rule out of the settings.
func (p permissions) forget(args RevokeRule) error {
	v, err := p.app.root.Settings()
	if err != nil {
		return userError(err)
	}
	of, ok := map[string][]string{"allow": v.Permissions.Allow, "ask": v.Permissions.Ask, "deny": v.Permissions.Deny}[args.List]
	if !ok {
		return &Error{Code: "bad_request", Message: "The settings have the lists allow, ask and deny."}
	}
	left := slices.DeleteFunc(slices.Clone(of), func(t string) bool { return t == args.Rule })
	if len(left) == len(of) {
		return nil
	}
	return userError(p.app.root.SetSetting([]string{"permissions", args.List}, left))
}

// remove takes back what was said for as long as the conversation is open.
func (g *grants) remove(rule string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.allow = slices.DeleteFunc(slices.Clone(g.allow), func(r string) bool { return r == rule })
	g.folders = slices.DeleteFunc(slices.Clone(g.folders), func(f string) bool { return f == filepath.Clean(rule) })
}
