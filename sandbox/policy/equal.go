package policy

import "slices"

// Equal reports whether two policies say the same. Before each command one is compared with the last
// one's, and mostly both share their lists, which makes this quick.
func (p Policy) Equal(q Policy) bool {
	return p.Project == q.Project && p.ReadOnly == q.ReadOnly && p.Private == q.Private && p.Network == q.Network &&
		p.SSHAgent == q.SSHAgent && p.Limits == q.Limits && p.Home == q.Home && p.Root == q.Root &&
		(p.Allowed == nil) == (q.Allowed == nil) && // nil means the registries
		same(p.Write, q.Write) && same(p.DenyRead, q.DenyRead) && same(p.AllowRead, q.AllowRead) && same(p.Guards, q.Guards) &&
		same(p.Caches, q.Caches) && same(p.Allowed, q.Allowed) && same(p.Denied, q.Denied) && same(p.AllowPrivate, q.AllowPrivate) && same(p.Env, q.Env)
}

// same compares lists, and does not look into one that is the other.
func same[T comparable](a, b []T) bool {
	if len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] {
		return true
	}
	return slices.Equal(a, b)
}
