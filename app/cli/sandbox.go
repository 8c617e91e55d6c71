package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/sandbox"
	"carrel/sandbox/netproxy"
	"carrel/sandbox/plan"
	"carrel/sandbox/policy"
	"carrel/store"
)

// exitCannotEnforce is the code of sandbox exec when the command did not run because the policy can't
// be held here.
const exitCannotEnforce = 125

const sandboxExecHelp = `Exec runs a command in the sandbox, with the current directory as its project.

The command may write below the current directory, to its own temporary files and, in a layer that is
thrown away afterwards, to the caches of package managers. It can't read credentials. Its input,
output and exit code are passed through; 125 means that it did not run, because what you asked for
can't be enforced here.

The sandbox section of the settings counts, but for enabled and auto_allow: exec always confines. Flags
go on top: --network wins, --allow replaces the list of the settings, the others add to theirs.

After the command, Carrel looks for what it left that could later run outside of the sandbox, such as
hooks of git, moves that into quarantine and says so on standard error. With --json what Carrel says
there is one JSON object a line; standard output stays the command's.`

// sandboxOptions are the flags that make a policy.
type sandboxOptions struct {
	write, denyRead, allow, deny, private []string
	network, tier                         string
	readOnly, oldBwrap                    bool
}

func sandboxCommand(io IO) *cobra.Command {
	return group(&cobra.Command{Use: "sandbox", Short: "Run a command confined, or see what confines it"},
		sandboxExecCommand(io), sandboxStatusCommand(io), sandboxExplainCommand(io), sandboxHeldCommand(io), sandboxRestoreCommand(io), sandboxRulesCommand(io), sandboxForgetCommand(io))
}

func (o *sandboxOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.SetInterspersed(false)
	f.StringArrayVar(&o.write, "write", nil, "one more folder that the command may write")
	f.StringArrayVar(&o.denyRead, "deny-read", nil, "one more file or folder that it can't read")
	f.StringVar(&o.network, "network", "", "allow, deny, or allowlist: only through the filtering proxy")
	f.StringArrayVar(&o.allow, "allow", nil, "a host that the proxy allows, or *.suffix; without any, the package registries")
	f.StringArrayVar(&o.deny, "deny", nil, "a host that the proxy refuses whatever is allowed, or *.suffix")
	f.StringArrayVar(&o.private, "allow-private", nil, "a private network (10.20.0.0/16) that allowed names may lead to")
	f.StringVar(&o.tier, "tier", "", "A, B or C: this tier and no other; without it, the strongest that works here")
	f.BoolVar(&o.readOnly, "read-only", false, "let it write nothing but its own temporary files")
	f.BoolVar(&o.oldBwrap, "old-bwrap", false, "take a bubblewrap that is too old to be safe; for tests")
	_ = f.MarkHidden("old-bwrap")
}

func sandboxExecCommand(io IO) *cobra.Command {
	var o sandboxOptions
	c := &cobra.Command{Use: "exec [flags] -- command...", Short: "Run a command in the sandbox", Long: sandboxExecHelp,
		Args: needsCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.exec(cmd.Context(), io, isJSON(cmd), args)
		}}
	o.flags(c)
	return c
}

func sandboxExplainCommand(io IO) *cobra.Command {
	var o sandboxOptions
	c := &cobra.Command{Use: "explain [flags] -- command...", Short: "Print every step that would confine a command, and run nothing",
		Args: needsCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.explain(cmd.Context(), io, isJSON(cmd))
		}}
	o.flags(c)
	return c
}

func needsCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || args[0] == "" {
		return usage("%s takes a command, after --", cmd.CommandPath())
	}
	return nil
}

func sandboxStatusCommand(io IO) *cobra.Command {
	return &cobra.Command{Use: "status", Short: "Say how strongly this machine can confine commands, and how to mend the rest", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := store.Open("")
			if err != nil {
				return err
			}
			defer func() { _ = root.Close() }()
			s, err := sandbox.Probe(cmd.Context(), sandbox.ProbeConfig{Root: root.Dir()})
			if err != nil {
				return err
			}
			if isJSON(cmd) {
				return printJSON(io.Out, s)
			}
			return showStatus(io, s)
		}}
}

func showStatus(io IO, s sandbox.Status) error {
	if s.Tier == plan.TierD {
		_, _ = fmt.Fprintln(io.Out, "No sandbox works here: Carrel asks before each command.")
	} else {
		_, _ = fmt.Fprintf(io.Out, "Commands are confined in tier %s.\n", s.Tier)
	}
	for _, t := range s.Tiers {
		state := "works"
		if !t.OK {
			state = "missing"
		}
		_, _ = fmt.Fprintf(io.Out, "%-8s tier %s%s\n", state, t.Tier, prefixed(": ", line(t.Why)))
		if t.Mend != "" {
			_, _ = fmt.Fprintf(io.Out, "%-8s %s\n", "", line(t.Mend))
		}
	}
	return nil
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// policy makes the policy of a command in the current directory: what the settings say, and on top of
// that what the flags do. private is its own folder.
func (o *sandboxOptions) policy(environ []string, root *store.Root, private string) (policy.Policy, error) {
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return policy.Policy{}, fmt.Errorf("find the current directory: %w", err)
	}
	home, err := resolvedHome(environ)
	if err != nil {
		return policy.Policy{}, err
	}
	settings, err := root.Settings()
	if err == nil && settings.Damaged != "" { // what they forbid would be allowed
		err = fmt.Errorf("read the settings of the sandbox: %s", settings.Damaged)
	}
	if err != nil {
		return policy.Policy{}, err
	}
	p := app.SandboxPolicy(policy.Defaults(home, root.Dir()).Moved(environ), settings.Sandbox, dir)
	p.Project, p.Private, p.ReadOnly = dir, private, o.readOnly
	if err := p.Validate(); err != nil {
		return p, fmt.Errorf("read the settings of the sandbox: %w", err)
	}
	if err := o.over(&p, home, dir); err != nil {
		return p, err
	}
	if err := p.Validate(); err != nil {
		return p, usage("%w", err)
	}
	return p, nil
}

// over puts the flags on top of a policy.
func (o *sandboxOptions) over(p *policy.Policy, home, dir string) error {
	for _, w := range o.write {
		path, err := filepath.EvalSymlinks(policy.Expand(w, home, dir))
		if err != nil {
			return usage("--write %q: %w", w, err)
		}
		p.Write = append(p.Write, path)
	}
	for _, d := range o.denyRead {
		p.DenyRead = append(p.DenyRead, policy.Expand(d, home, dir))
	}
	if len(o.allow) > 0 {
		p.Allowed, p.Network = o.allow, policy.NetworkAllowlist
	}
	p.Denied = append(p.Denied, o.deny...)
	p.AllowPrivate = append(p.AllowPrivate, o.private...)
	if _, err := netproxy.Networks(p.AllowPrivate); err != nil {
		return usage("%w", err)
	}
	if o.network != "" {
		p.Network = policy.Network(o.network)
	}
	return nil
}

func resolvedHome(environ []string) (string, error) {
	home := ""
	for _, v := range environ {
		if value, ok := strings.CutPrefix(v, "HOME="); ok {
			home = value
		}
	}
	if home == "" {
		return "", errors.New("find your home: HOME is not set")
	}
	home, err := filepath.EvalSymlinks(home)
	if err != nil {
		return "", fmt.Errorf("find your home: %w", err)
	}
	return home, nil
}

// open makes the box for one command.
func (o *sandboxOptions) open(ctx context.Context, p policy.Policy, proxy sandbox.Proxy) (*sandbox.Box, error) {
	tier := plan.Tier(strings.ToUpper(o.tier))
	switch tier {
	case "", plan.TierA, plan.TierB, plan.TierC:
	default:
		return nil, usage("--tier is A, B or C, not %q", o.tier)
	}
	return sandbox.Open(ctx, sandbox.Config{Policy: func() policy.Policy { return p }, Tier: tier, Proxy: proxy, OldBwrap: o.oldBwrap})
}

func (o *sandboxOptions) explain(ctx context.Context, io IO, asJSON bool) error {
	root, err := store.Open("")
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	p, err := o.policy(io.Environ, root, filepath.Join(root.Dir(), "sandbox", "explain"))
	if err != nil {
		return err
	}
	box, err := o.open(ctx, p, newFilter(p, io.Environ, nil))
	if err != nil {
		return cannotEnforce(err)
	}
	defer func() { _ = box.Close() }()
	steps, err := box.Plan(sandbox.Command{Env: io.Environ})
	if err != nil {
		return cannotEnforce(err)
	}
	if asJSON {
		return printJSON(io.Out, steps)
	}
	_, err = fmt.Fprint(io.Out, plain(steps.Text()))
	return err
}
