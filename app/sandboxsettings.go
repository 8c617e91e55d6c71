package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"carrel/sandbox/netproxy"
	"carrel/sandbox/policy"
	"carrel/store"
)

const (
	maxSandboxEntries = 1000 // of one list of the settings
	maxSandboxEntry   = 4096 // bytes
)

// rulesOf are the proxy's rules of a policy with a list.
func rulesOf(p policy.Policy) netproxy.Rules {
	return netproxy.Rules{Allowed: p.Allowed, Denied: p.Denied} // addresses don't matter here
}

func deniedError(host, entry string) error {
	return &Error{Code: "denied_domain", Message: fmt.Sprintf("%s is denied by the entry %s of denied_domains. Remove that entry first, in the settings.", host, entry)}
}

// configuredHosts are the hosts that this machine's package managers use.
func (a *App) configuredHosts(p policy.Policy) []string {
	return policy.Configured(p.Home, a.environ, os.ReadFile)
}

func (b boxed) Settings(context.Context) (SandboxSettings, error) {
	v, err := b.app.root.Settings()
	if err != nil {
		return SandboxSettings{}, userError(err)
	}
	return sandboxSettingsView(v.Sandbox), nil
}

func sandboxSettingsView(v store.Sandbox) SandboxSettings {
	s := SandboxSettings{Enabled: v.On(), Network: v.Network, Registries: v.AllowedDomains == nil, AllowedDomains: []string{},
		DeniedDomains: shorts(v.DeniedDomains), AllowPrivate: shorts(v.AllowPrivate), DenyRead: shorts(v.DenyRead), AllowWrite: shorts(v.AllowWrite),
		AllowSSHAgent: v.AllowSSHAgent, AutoAllow: v.AutoAllow}
	if s.Network == "" {
		s.Network = string(policy.NetworkAllow)
	}
	if v.AllowedDomains != nil {
		s.AllowedDomains = shorts(*v.AllowedDomains)
	}
	return s
}

func (b boxed) SetSettings(_ context.Context, args SandboxSettings) error {
	if err := args.check(); err != nil {
		return err
	}
	v, err := b.app.root.Settings()
	if err != nil {
		return userError(err)
	}
	before := sandboxSettingsView(v.Sandbox)
	allowed := any(nil)
	if !args.Registries {
		allowed = append([]string{}, args.AllowedDomains...)
	}
	// What is as it was stays as it is written, with its comments.
	for _, s := range []struct {
		key   string
		same  bool
		value any
	}{
		{"enabled", args.Enabled == before.Enabled, args.Enabled},
		{"network", args.Network == before.Network, args.Network},
		{"allowed_domains", args.Registries == before.Registries && (args.Registries || slices.Equal(args.AllowedDomains, before.AllowedDomains)), allowed},
		{"denied_domains", slices.Equal(args.DeniedDomains, before.DeniedDomains), args.DeniedDomains},
		{"allow_private", slices.Equal(args.AllowPrivate, before.AllowPrivate), args.AllowPrivate},
		{"deny_read", slices.Equal(args.DenyRead, before.DenyRead), args.DenyRead},
		{"allow_write", slices.Equal(args.AllowWrite, before.AllowWrite), args.AllowWrite},
		{"allow_ssh_agent", args.AllowSSHAgent == before.AllowSSHAgent, args.AllowSSHAgent},
		{"auto_allow", args.AutoAllow == before.AutoAllow, args.AutoAllow},
	} {
		if s.same {
			continue
		}
		if err := b.app.root.SetSetting([]string{"sandbox", s.key}, s.value); err != nil {
			return userError(err)
		}
	}
	b.app.settingsChanged()
	return nil
}

// check refuses what can't be meant.
func (s SandboxSettings) check() error {
	bad := func(format string, args ...any) error {
		return &Error{Code: "bad_request", Message: fmt.Sprintf(format, args...)}
	}
	switch policy.Network(s.Network) {
	case policy.NetworkAllow, policy.NetworkDeny, policy.NetworkAllowlist:
	default:
		return bad("The network must be allow, deny or allowlist.")
	}
	for name, list := range map[string][]string{"allowed_domains": s.AllowedDomains, "denied_domains": s.DeniedDomains, "allow_private": s.AllowPrivate, "deny_read": s.DenyRead, "allow_write": s.AllowWrite} {
		if len(list) > maxSandboxEntries {
			return bad("%s can't have more than %d entries.", name, maxSandboxEntries)
		}
		for _, e := range list {
			if e == "" || len(e) > maxSandboxEntry || strings.ContainsFunc(e, unicode.IsControl) {
				return bad("%s has an entry that is empty, too long or not printable.", name)
			}
		}
	}
	if err := (netproxy.Rules{Allowed: s.AllowedDomains, Denied: s.DeniedDomains}).Validate(); err != nil {
		return &Error{Code: "bad_host", Message: fmt.Sprintf("A host can't be read: %s.", short(strings.SplitN(err.Error(), "\n", 2)[0])), Cause: err}
	}
	if _, err := netproxy.Networks(s.AllowPrivate); err != nil {
		return &Error{Code: "bad_network", Message: fmt.Sprintf("A private network can't be read: %s.", short(strings.SplitN(err.Error(), "\n", 2)[0])), Cause: err}
	}
	for _, w := range append(append([]string{}, s.AllowWrite...), s.DenyRead...) {
		if policy.Expand(w, "/home", "/project") == "/" {
			return bad(`The path "/" would leave nothing of the sandbox.`)
		}
	}
	return nil
}
