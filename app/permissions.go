package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"carrel/agent/permission"
	"carrel/agent/transcript"
	"carrel/agent/turn"
	"carrel/sandbox/policy"
)

// permissions implements PermissionsAPI.
type permissions struct{ app *App }

func (p permissions) Answer(ctx context.Context, args AnswerQuestion) error {
	reply := transcript.Reply{Choice: transcript.Choose(args.Answer), Text: args.Text}
	switch args.Answer {
	case AnswerOnce, AnswerAlways, AnswerNo:
	default:
		return &Error{Code: "bad_request", Message: "The answer must be once, always or no."}
	}
	if args.Answer == AnswerAlways {
		if err := p.keep(ctx, args); err != nil {
			return err
		}
	}
	return conversations(p).steer(ctx, args.Workspace, func(conv *turn.Conversation) error {
		err := conv.Answer(ctx, args.Call, reply)
		if errors.Is(err, turn.ErrNoQuestion) {
			return errAnswered()
		}
		return err
	})
}

func errAnswered() error {
	return &Error{Code: "answered", Message: "This call does not wait for an answer any more."}
}

func (p permissions) Get(ctx context.Context, args ByID) (Permissions, error) {
	a := p.app
	w, err := a.registry.Workspace(ctx, args.ID)
	if err != nil {
		return Permissions{}, userError(err)
	}
	v, err := a.root.Settings()
	if err != nil {
		return Permissions{}, userError(err)
	}
	granted, err := a.granted(w.ProjectID)
	if err != nil {
		return Permissions{}, userError(err)
	}
	h, err := a.boxes.heldNow(ctx, w)
	if err != nil {
		return Permissions{}, userError(err)
	}
	out := Permissions{Mode: string(a.modeOf(w, v.Permissions, v.Sandbox)), Rules: []PermissionRule{},
		Sandbox: SandboxState{Mode: string(h.mode), On: h.on, Tier: string(h.tier), Why: h.why, Mend: h.mend, Network: string(h.policy.Network)}}
	if h.on && h.tier == "A" {
		out.Sandbox.Why, out.Sandbox.Mend = "", ""
	}
	for _, m := range permission.Modes() {
		out.Modes = append(out.Modes, string(m))
	}
	add := func(list, from string, texts []string) {
		for _, t := range texts {
			r := PermissionRule{List: list, From: from, Rule: short(t)}
			if _, err := permission.ParseRule(t); err != nil {
				r.Problem = err.Error()
			}
			out.Rules = append(out.Rules, r)
		}
	}
	add("deny", "settings", v.Permissions.Deny)
	add("ask", "settings", v.Permissions.Ask)
	add("allow", "settings", v.Permissions.Allow)
	add("allow", "project", granted.Allow)
	add("allow_outside", "project", granted.AllowOutside)
	if s := a.openNow(args.ID); s != nil {
		add("allow", "session", s.grants.rules())
	}
	return out, nil
}

func (p permissions) Grant(ctx context.Context, args GrantRules) error {
	for _, text := range args.Allow {
		if _, err := permission.ParseRule(text); err != nil {
			return &Error{Code: "bad_rule", Message: fmt.Sprintf("The %v.", err), Cause: err}
		}
	}
	for _, f := range args.Folders {
		if !filepath.IsAbs(f) {
			return &Error{Code: "bad_request", Message: fmt.Sprintf("%s is not an absolute path.", short(f))}
		}
	}
	s, done, err := p.app.session(ctx, args.Workspace)
	if err != nil {
		return userError(err)
	}
	defer done()
	s.grants.add(args.Allow, args.Folders...)
	return nil
}

func (p permissions) SetSandbox(ctx context.Context, args SetSandbox) error {
	m := policy.Mode(args.Mode)
	if m != "" && !validSandbox(m) {
		return &Error{Code: "bad_request", Message: "The sandbox must be read-only, workspace-write or danger-full-access."}
	}
	s, done, err := p.app.session(ctx, args.Workspace)
	if err != nil {
		return userError(err)
	}
	defer done()
	s.grants.mu.Lock()
	s.grants.sandbox = m
	s.grants.mu.Unlock()
	s.publishState()
	return nil
}

func (c conversations) SetMode(ctx context.Context, args SetMode) error {
	if args.Mode != "" && !permission.Mode(args.Mode).Valid() {
		return &Error{Code: "bad_request", Message: "The mode must be ask, accept-edits, plan, auto or bypass."}
	}
	if err := c.app.registry.SetMode(ctx, args.Workspace, args.Mode); err != nil {
		return userError(err)
	}
	c.app.workspaceChanged(args.Workspace)
	if s := c.app.openNow(args.Workspace); s != nil {
		s.publishState()
	}
	return nil
}

// questionView is what a call waits for.
func questionView(q *turn.Question) *Question {
	if q == nil {
		return nil
	}
	v := &Question{Call: q.CallID, Entry: entryID(q.StepSeq, q.Part), Tool: q.Tool, Since: q.Since, Reason: short(q.Reason), Rule: short(q.Rule),
		Rights: []Right{}, Always: q.Always, Broad: q.Broad, Outside: q.Outside}
	for _, r := range q.Rights {
		v.Rights = append(v.Rights, Right{Kind: r.Kind, What: r.What})
	}
	return v
}
