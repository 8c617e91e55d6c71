package cli

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"carrel/agent/permission"
	"carrel/app"
)

// permits are the flags about what an agent may do in a run.
type permits struct {
	mode, sandbox string
	allow, dirs   []string
}

func (p *permits) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&p.mode, "mode", "", "how much runs without a question: ask, accept-edits, plan, auto or bypass; what would ask is refused (default: auto)")
	f.StringVar(&p.sandbox, "sandbox", "", "what holds commands: read-only, workspace-write or danger-full-access (default: as in settings)")
	f.StringArrayVar(&p.allow, "allow-rule", nil, "allow what the `rule` names, such as 'Bash(go test:*)'; may be repeated")
	f.StringArrayVar(&p.dirs, "add-dir", nil, "a `folder` besides the project that confined commands may write; may be repeated")
}

// check refuses what can't be meant.
func (p permits) check() error {
	if p.mode != "" && !permission.Mode(p.mode).Valid() {
		return usage("the mode must be ask, accept-edits, plan, auto or bypass, not %q", p.mode)
	}
	switch p.sandbox {
	case "", "read-only", "workspace-write", "danger-full-access":
	default:
		return usage("the sandbox must be read-only, workspace-write or danger-full-access, not %q", p.sandbox)
	}
	for _, text := range p.allow {
		if _, err := permission.ParseRule(text); err != nil {
			return usage("%v", err)
		}
	}
	return nil
}

// permit applies the flags to the run's conversation, and tells what holds now.
func (r *runner) permit(ctx context.Context, p permits) (app.Permissions, error) {
	id := r.workspace.ID
	var now app.Permissions
	if p.mode != "" {
		if err := r.host.Call(ctx, "conversations.setMode", app.SetMode{Workspace: id, Mode: p.mode}, nil); err != nil {
			return now, err
		}
	}
	if p.sandbox != "" {
		if err := r.host.Call(ctx, "permissions.setSandbox", app.SetSandbox{Workspace: id, Mode: p.sandbox}, nil); err != nil {
			return now, err
		}
	}
	if len(p.allow)+len(p.dirs) > 0 {
		grant := app.GrantRules{Workspace: id, Allow: p.allow}
		for _, d := range p.dirs {
			abs, err := filepath.Abs(d)
			if err != nil {
				return now, usage("--add-dir %s: %v", d, err)
			}
			grant.Folders = append(grant.Folders, abs)
		}
		if err := r.host.Call(ctx, "permissions.grant", grant, nil); err != nil {
			return now, err
		}
	}
	return now, r.host.Call(ctx, "permissions.get", app.ByID{ID: id}, &now)
}

// heldBy says in a few words what holds the commands of a run.
func heldBy(p app.Permissions) string {
	if !p.Sandbox.On {
		return "commands are not sandboxed"
	}
	return "commands are sandboxed (tier " + p.Sandbox.Tier + ", " + p.Sandbox.Mode + ", network " + p.Sandbox.Network + ")"
}
