package plan

import (
	_ "embed" // the part that every profile has
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"carrel/sandbox/policy"
)

//go:embed seatbelt_base.sb
var seatbeltBase string

// Seatbelt is the policy as a profile of macOS and the parameters, NAME=value, that it names: no path
// is ever a part of the profile's text. Guards hold for names that do not exist too, and whatever the
// case of their letters, since most volumes there ignore it. Caches are written directly.
func Seatbelt(p policy.Policy, t Tree, c Command) (profile string, params []string, err error) {
	if err := p.Validate(); err != nil {
		return "", nil, err
	}
	scanner := newScanner(deepNames(p.Guards))
	now := time.Now()
	k := &maker{
		p: p, tier: TierC, agent: agentSocket(p, c.Env), look: newLook(t, now, nil), rules: newRules(),
		wants: map[string]want{}, guarded: map[string]bool{}, absent: map[string]Absent{}, rebuilt: map[string]bool{},
		gitDirs: map[string]bool{}, keptIDs: map[string]bool{},
		scan: func(root string, skip func(string) bool) ([]hit, bool) { return scanner.search(t, root, skip, now, 0) },
	}
	for _, step := range []func() error{k.places, k.writeRoots, k.repositories, k.visible, k.cacheRoots} {
		if err := step(); err != nil {
			return "", nil, err
		}
	}
	if !p.ReadOnly {
		k.guards()
	}
	x := &seatbelt{names: map[string]string{}}
	x.text.WriteString(seatbeltBase)
	x.files(k)
	x.pins(k)
	x.sockets(k)
	x.network(p, c.Proxy)
	// Neither these nor a private service can be reached, whatever is allowed above.
	x.line("\n; Descriptors for reading must not change files, and services of other programs stay out of reach.")
	x.line("(deny system-fcntl (fcntl-command 80 110))")
	x.line(`(deny mach-lookup (xpc-service-name-prefix ""))`)
	return x.text.String(), x.params, nil
}

// seatbelt writes a profile.
type seatbelt struct {
	text   strings.Builder
	params []string
	names  map[string]string // value -> name
}

func (x *seatbelt) line(format string, args ...any) {
	_, _ = fmt.Fprintf(&x.text, format+"\n", args...)
}

// param names a value and returns how a rule says it.
func (x *seatbelt) param(kind, value string) string {
	key := kind + "\x00" + value
	name, ok := x.names[key]
	if !ok {
		name = fmt.Sprintf("%s_%d", kind, len(x.params))
		x.names[key] = name
		x.params = append(x.params, name+"="+value)
	}
	return `(param "` + name + `")`
}

// fold is a regular expression for a path and everything in it, whatever the case of ASCII letters.
func fold(name string) string {
	var b strings.Builder
	b.WriteByte('^')
	for _, ch := range []byte(name) {
		switch {
		case 'a' <= ch && ch <= 'z', 'A' <= ch && ch <= 'Z':
			lower := ch | 0x20
			b.Write([]byte{'[', lower, lower - 0x20, ']'})
		case strings.IndexByte(`.\+*?()|[]{}^$`, ch) >= 0:
			b.Write([]byte{'\\', ch})
		default:
			b.WriteByte(ch)
		}
	}
	b.WriteString("(/|$)")
	return b.String()
}

// fileRule is one rule about files; rules are written so that the longest path comes last.
type fileRule struct {
	path string
	rank int // of rules for one path the higher comes last
	text func(x *seatbelt) string
}

func (x *seatbelt) files(k *maker) {
	var list []fileRule
	subpath := func(op, name string, rank int) {
		list = append(list, fileRule{name, rank, func(x *seatbelt) string { return "(" + op + " (subpath " + x.param("PATH", name) + "))" }})
	}
	folded := func(op, name string, rank int) {
		list = append(list, fileRule{name, rank, func(x *seatbelt) string { return "(" + op + " (regex " + x.param("NAME", fold(name)) + "))" }})
	}
	for d := range k.rules.deny {
		folded("deny file-read* file-write* file-map-executable file-test-existence", d, 5)
	}
	for s := range k.rules.show {
		subpath("allow file-read* file-map-executable file-test-existence", s, 1)
	}
	for dir, patterns := range k.rules.patterns {
		for _, pattern := range patterns {
			name := path.Join(dir, pattern)
			list = append(list, fileRule{name, 6, func(x *seatbelt) string {
				return "(allow file-read* file-test-existence (regex " + x.param("NAME", "^"+globbed(name)+"$") + "))"
			}})
		}
	}
	for _, r := range k.roots {
		subpath("allow file-write*", r.path, 4)
	}
	for _, w := range k.wants {
		if w.rank == rankRoot { // the state of a worktree, inside of what is guarded
			subpath("allow file-write*", w.Target, 4)
		} else if w.rank == rankGuard {
			folded("deny file-write*", w.Target, 3)
		}
	}
	for a := range k.absent {
		folded("deny file-write*", a, 3)
	}
	subpath("allow file-read* file-write* file-test-existence file-map-executable", path.Join(k.private, "tmp"), 9)
	slices.SortFunc(list, func(a, b fileRule) int {
		if d := byDepth(a.path, b.path); d != 0 {
			return d
		}
		return a.rank - b.rank
	})
	x.line("\n; Files, by path: what is denied, shown, written and guarded. The longest path decides.")
	for _, r := range list {
		x.line("%s", r.text(x))
	}
	x.newRepositories(k)
}

// globbed is a path whose last element is a pattern, as a regular expression without anchors.
func globbed(name string) string {
	dir := strings.TrimSuffix(fold(path.Dir(name)), "(/|$)")[1:]
	base := strings.TrimSuffix(fold(path.Base(name)), "(/|$)")[1:]
	return dir + "/" + strings.NewReplacer(`\*`, `[^/]*`, `\?`, `[^/]`, `\[`, `[`, `\]`, `]`).Replace(base)
}

// newRepositories keeps repositories from appearing in what a person named: their hooks and
// configuration can't be made anywhere.
func (x *seatbelt) newRepositories(k *maker) {
	x.line("\n; Repositories that do not exist yet.")
	for _, r := range k.roots {
		if r.kind == rootNamed {
			inside := strings.TrimSuffix(fold(r.path), "(/|$)") + `/(.*/)?\.[gG][iI][tT]/([hH][oO][oO][kK][sS]|[cC][oO][nN][fF][iI][gG](\.[wW][oO][rR][kK][tT][rR][eE][eE])?|[cC][oO][mM][mM][oO][nN][dD][iI][rR]|[iI][nN][fF][oO])(/|$)`
			x.line("(deny file-write* (regex %s))", x.param("NAME", inside))
		}
	}
}

// pins keeps each folder between a writable tree and a guard in it where it is. This comes last: a
// refusal of one operation is not lifted by a later rule for all of them.
func (x *seatbelt) pins(k *maker) {
	pinned := map[string]bool{}
	pin := func(name string) {
		root := k.writable(name)
		if root == "" {
			return
		}
		pinned[root] = true
		for _, dir := range between(root, name) {
			pinned[dir] = true
		}
	}
	for _, w := range k.wants {
		pin(w.Target)
	}
	for a := range k.absent {
		pin(a)
	}
	for d := range k.rules.deny {
		pin(d)
	}
	for name := range k.guarded {
		if e, err := k.look.lstat(name); err == nil && e.Type&fs.ModeSymlink != 0 {
			pinned[name] = true
		}
	}
	x.line("\n; Folders that hold something guarded can't be renamed or removed.")
	for _, name := range slices.SortedFunc(maps.Keys(pinned), byDepth) {
		x.line("(deny file-write-unlink (literal %s))", x.param("PATH", name))
	}
}

// sockets: Unix sockets in what commands write, and the agent if the person said so.
func (x *seatbelt) sockets(k *maker) {
	x.line("\n; Unix sockets: only in what can be written.")
	x.line("(allow system-socket (socket-domain AF_UNIX))")
	dirs := []string{path.Join(k.private, "tmp")}
	for _, r := range k.roots {
		if r.kind == rootNamed {
			dirs = append(dirs, r.path)
		}
	}
	if k.p.Network == policy.NetworkAllow {
		x.line("(allow network*)")
		x.line("(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))")
		x.line(`(deny network-outbound (remote unix-socket (subpath "/")))`)
		x.line(`(allow network-outbound (literal "/private/var/run/mDNSResponder"))`)
	}
	for _, dir := range dirs {
		value := x.param("PATH", dir)
		x.line("(allow network-outbound (remote unix-socket (subpath %s)))", value)
		x.line("(allow network-bind network-inbound (local unix-socket (subpath %s)))", value)
	}
	if k.agent != "" {
		x.line("(allow network-outbound (remote unix-socket (literal %s)))", x.param("PATH", k.agent))
	}
}

// network: everything, the proxy on the loopback, or nothing.
func (x *seatbelt) network(p policy.Policy, proxy int) {
	if p.Network == policy.NetworkDeny {
		return
	}
	x.line("\n; The network, and what checks certificates.")
	if p.Network == policy.NetworkAllowlist && proxy > 0 && proxy < 1<<16 {
		x.line(`(allow network-outbound (remote ip "localhost:%d"))`, proxy)
	}
	x.line("(allow mach-lookup")
	for _, service := range []string{
		"com.apple.SecurityServer", "com.apple.SystemConfiguration.configd", "com.apple.SystemConfiguration.DNSConfiguration",
		"com.apple.dnssd.service", "com.apple.networkd", "com.apple.ocspd", "com.apple.trustd", "com.apple.trustd.agent",
	} {
		x.line("  (global-name %q)", service)
	}
	x.line(")")
}
