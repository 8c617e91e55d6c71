package policy

import (
	"fmt"
	"net/netip"
	"path"
	"strings"
	"unicode"
)

// Validate explains the first thing in the policy that can't be meant. It looks at no file.
func (p Policy) Validate() error {
	for _, check := range []func() error{p.places, p.lists, p.writable, p.names, p.hosts, p.limits} {
		if err := check(); err != nil {
			return fmt.Errorf("check sandbox policy: %w", err)
		}
	}
	return nil
}

// places checks the single paths.
func (p Policy) places() error {
	for _, x := range []struct{ what, name string }{
		{"project", p.Project}, {"private folder", p.Private}, {"home", p.Home}, {"data root", p.Root},
	} {
		if err := plainPath(x.what, x.name); err != nil {
			return err
		}
		if x.name == "/" && x.what != "home" {
			return fmt.Errorf(`the %s can't be "/"`, x.what)
		}
	}
	return nil
}

// lists checks the lists of paths.
func (p Policy) lists() error {
	for _, x := range []struct {
		what  string
		names []string
	}{{"writable folder", p.Write}, {"denied path", p.DenyRead}, {"readable path", p.AllowRead}} {
		for _, name := range x.names {
			if err := plainPath(x.what, name); err != nil {
				return err
			}
			if name == "/" {
				return fmt.Errorf(`the %s "/" leaves nothing of the sandbox`, x.what)
			}
		}
	}
	for _, c := range p.Caches {
		if err := plainPath("cache", c.Path); err != nil {
			return err
		}
		if Within(p.Home, c.Path) {
			return fmt.Errorf("cache %q: it holds all of the home folder", c.Path)
		}
		switch c.Mode {
		case CacheOverlay, CacheWrite, CacheOff:
		default:
			return fmt.Errorf(`cache %q: the mode %q is none of "overlay", "write", "off"`, c.Path, c.Mode)
		}
	}
	for _, name := range p.AllowRead {
		if _, err := path.Match(path.Base(name), "x"); err != nil {
			return fmt.Errorf("readable path %q: %w", name, err)
		}
	}
	return nil
}

// writable checks that what commands can write is apart from what confines them.
func (p Policy) writable() error {
	roots := append([]string{p.Project}, p.Write...)
	for _, w := range roots {
		if Within(w, p.Private) {
			return fmt.Errorf("writable folder %q: it lies in the sandbox's private folder", w)
		}
		if w == p.Root {
			return fmt.Errorf("writable folder %q: it is Carrel's own data", w)
		}
		for _, d := range p.DenyRead {
			if d == w {
				return fmt.Errorf("%q is to be both writable and denied", w)
			}
		}
	}
	for _, c := range p.Caches {
		if c.Mode == CacheWrite {
			roots = append(roots, c.Path)
		}
	}
	for _, w := range roots {
		if Within(p.Private, w) && !p.hiddenIn(p.Private, w) {
			return fmt.Errorf("private folder %q: commands can write it, since it lies in %q", p.Private, w)
		}
	}
	return nil
}

// hiddenIn reports whether a denial between root and name hides name in root.
func (p Policy) hiddenIn(name, root string) bool {
	for _, d := range p.DenyRead {
		if d != root && Within(d, root) && Within(name, d) {
			return true
		}
	}
	return false
}

// names checks guards and variables.
func (p Policy) names() error {
	for _, g := range p.Guards {
		bad := g.Name == "" || g.Name == "." || g.Name == "/" || path.Clean(g.Name) != g.Name || strings.HasPrefix(g.Name, "../") ||
			g.Name == ".." || strings.ContainsRune(g.Name, 0)
		switch {
		case bad:
			return fmt.Errorf("guard %q: it is no clean path inside a folder", g.Name)
		case g.Hold && !g.Dir:
			return fmt.Errorf("guard %q: only a folder can stand in for a missing one", g.Name)
		case g.Deep && path.IsAbs(g.Name):
			return fmt.Errorf("guard %q: an absolute path lies in one folder only", g.Name)
		}
	}
	for _, name := range p.Env {
		plain := strings.TrimSuffix(name, "*")
		if plain == "" || strings.ContainsAny(plain, "=*\x00") {
			return fmt.Errorf("variable %q: it is neither a name nor a family such as CARGO_*", name)
		}
	}
	return nil
}

// hosts checks the network; the proxy parses the patterns strictly.
func (p Policy) hosts() error {
	switch p.Network {
	case NetworkAllow, NetworkDeny, NetworkAllowlist:
	default:
		return fmt.Errorf(`the network mode %q is none of "allow", "deny", "allowlist"`, p.Network)
	}
	for _, list := range [][]string{p.Allowed, p.Denied} {
		for _, h := range list {
			name := strings.TrimPrefix(h, "*.")
			if name == "" || strings.ContainsAny(name, "*/@ ") || strings.IndexFunc(name, unicode.IsControl) >= 0 {
				return fmt.Errorf("host %q: write a name, \"*.\" and a name, or an address", h)
			}
		}
	}
	for _, n := range p.AllowPrivate {
		if _, err := netip.ParsePrefix(n); err == nil {
			continue
		}
		if _, err := netip.ParseAddr(n); err != nil {
			return fmt.Errorf("private network %q: write an address or a network such as 10.20.0.0/16", n)
		}
	}
	return nil
}

func (p Policy) limits() error {
	l := p.Limits
	for _, n := range []int64{int64(l.Processes), int64(l.OpenFiles), l.FileSize, l.Memory, l.Core} {
		if n < 0 {
			return fmt.Errorf("the limit %d is negative", n)
		}
	}
	return nil
}

// plainPath checks that a path is absolute, clean and has no zero byte.
func plainPath(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("no %s is set", what)
	case !path.IsAbs(name) || path.Clean(name) != name:
		return fmt.Errorf("%s %q: it is no clean absolute path", what, name)
	case strings.ContainsRune(name, 0):
		return fmt.Errorf("%s %q: it contains a zero byte", what, name)
	}
	return nil
}
