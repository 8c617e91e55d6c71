package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Key is a hash of what a helper can prepare before it knows the command: everything but Env, Dir and
// Limits, and what is told to people. Plans with the same key can share mounts and Landlock rules.
func (p Plan) Key() string {
	if p.key == "" {
		return p.hash()
	}
	return p.key
}

func (p Plan) hash() string {
	text, err := json.Marshal([]any{p.Tier, p.Prepare, p.Mounts, p.Access, p.Watch, p.Network, p.Unix})
	if err != nil {
		return "" // none of these can fail
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Text is the plan for people: stable, one step a line. It names no value of a variable.
func (p Plan) Text() string {
	var b strings.Builder
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }
	line("tier      %s (%s)", p.Tier, p.Tier.about())
	line("start in  %s", show(p.Dir))
	line("network   %s", p.Network)
	line("sockets   %s", map[bool]string{true: "Unix sockets of its own", false: "no Unix sockets"}[p.Unix])
	section(&b, "writable", p.Write, show)
	section(&b, "prepare", p.Prepare, func(x Prepare) string {
		what := map[bool]string{true: "folder", false: "file"}[x.Dir]
		if x.Stand {
			what += ", stands in for a missing one"
		}
		return fmt.Sprintf("%s (%s)", show(x.Path), what)
	})
	section(&b, "mounts", p.Mounts, Mount.text)
	section(&b, "Landlock", p.Access, func(a Access) string { return fmt.Sprintf("%-14s %s: %s", a.Rights, show(a.Path), a.Why) })
	section(&b, "ends the command when lost", p.Watch, show)
	section(&b, "looked at after the command", p.Absent, func(a Absent) string {
		if a.Link != "" {
			return fmt.Sprintf("%s must still lead to %s: %s", show(a.Path), show(a.Link), a.Why)
		}
		return fmt.Sprintf("%s must not exist: %s", show(a.Path), a.Why)
	})
	section(&b, "variables", p.Env, func(v string) string {
		name, _, _ := strings.Cut(v, "=")
		return name
	})
	section(&b, "not held here", p.Unheld, func(s string) string { return s })
	section(&b, "left out", p.Notes, func(s string) string { return s })
	return b.String()
}

// section writes a heading and its lines; an empty one is left out.
func section[T any](b *strings.Builder, title string, list []T, text func(T) string) {
	if len(list) == 0 {
		return
	}
	_, _ = fmt.Fprintf(b, "\n%s\n", title)
	for _, x := range list {
		_, _ = fmt.Fprintf(b, "  %s\n", text(x))
	}
}

// show keeps a path on one line.
func show(name string) string {
	quoted := fmt.Sprintf("%q", name)
	if quoted == `"`+name+`"` {
		return name
	}
	return quoted
}

func (m Mount) text() string {
	s := fmt.Sprintf("%-8s %s", m.Kind, show(m.Target))
	switch {
	case m.Kind == KindLink:
		s += " -> " + show(m.Link)
	case m.Kind == KindOverlay:
		s += " over " + show(m.Upper)
	case m.Source != "" && m.Source != m.Target:
		s += " from " + show(m.Source)
	}
	return s + ": " + m.Why
}

// String is like "read write".
func (r Rights) String() string {
	var list []string
	for _, x := range []struct {
		right Rights
		name  string
	}{{Read, "read"}, {Write, "write"}, {Device, "ioctl"}, {List, "list"}, {Socket, "connect"}} {
		if r&x.right != 0 {
			list = append(list, x.name)
		}
	}
	return strings.Join(list, " ")
}

// about says what a tier is.
func (t Tier) about() string {
	switch t {
	case TierA:
		return "namespaces, mounts, Landlock, seccomp"
	case TierB:
		return "bubblewrap, Landlock, seccomp"
	case TierC:
		return "Landlock, seccomp"
	case TierD:
		return "nothing"
	}
	return "unknown"
}
