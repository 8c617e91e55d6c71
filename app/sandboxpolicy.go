package app

import (
	"slices"

	"carrel/sandbox/policy"
	"carrel/store"
)

// SandboxPolicy adds to a policy what the settings say of commands in a folder, in which relative paths
// of the settings lie. Whether they are to be confined at all is not part of a policy.
func SandboxPolicy(p policy.Policy, v store.Sandbox, dir string) policy.Policy {
	if n := policy.Network(v.Network); n != "" {
		p.Network = n
	}
	if v.AllowedDomains != nil {
		p.Allowed = append([]string{}, *v.AllowedDomains...)
	}
	p.Denied, p.AllowPrivate = slices.Clone(v.DeniedDomains), slices.Clone(v.AllowPrivate)
	p.SSHAgent = v.AllowSSHAgent
	p.DenyRead, p.Write = slices.Clone(p.DenyRead), slices.Clone(p.Write)
	for _, d := range v.DenyRead {
		p.DenyRead = append(p.DenyRead, policy.Expand(d, p.Home, dir))
	}
	for _, d := range v.AllowWrite {
		p.Write = append(p.Write, policy.Expand(d, p.Home, dir))
	}
	return p
}
