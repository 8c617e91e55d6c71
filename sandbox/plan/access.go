package plan

import (
	"io/fs"
	"path"
	"slices"

	"carrel/sandbox/policy"
)

// nodes are the devices that commands may use.
func nodes() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
}

func (k *maker) access(name string, rights Rights, dir bool, why string) {
	if k.sockets() && dir && rights&Write != 0 && rights&Device == 0 {
		rights |= Socket // those in what commands can write belong to the project
	}
	k.plan.Access = append(k.plan.Access, Access{Path: name, Rights: rights, Dir: dir, Why: why})
}

// sockets reports whether Landlock says which Unix sockets can be connected to.
func (k *maker) sockets() bool { return k.m.Landlock >= 9 }

// grantAgent lets commands connect to the SSH agent, if the policy does.
func (k *maker) grantAgent() {
	if k.agent != "" && k.sockets() {
		k.access(k.agent, Socket, false, "the SSH agent, as your settings say")
	}
}

// grant lists what Landlock grants in tiers A and B, where mounts hold guards and denials: it stays when
// a mount is lost, and it forbids to change mounts.
func (k *maker) grant() {
	k.access("/", Read, true, "what mounts show")
	for _, m := range k.plan.Mounts {
		if m.Kind == KindRW || m.Kind == KindOverlay {
			k.access(m.Target, Read|Write, m.Dir, m.Why)
		}
	}
	k.access("/dev/shm", Read|Write, true, "shared memory of its own")
	for _, name := range append(nodes(), "/dev/ptmx") {
		k.access(name, Read|Write|Device, false, "a harmless device")
	}
	k.access("/dev/pts", Read|Write|Device, true, "terminals of its own")
	k.grantAgent()
}

// enumerate lists what Landlock grants in tier C: since nothing can be taken out of a granted folder,
// each folder that holds something denied is granted entry by entry.
func (k *maker) enumerate() {
	for _, name := range []string{"/tmp", "/var/tmp", "/run", "/var/run", "/dev", "/dev/shm"} {
		if !k.rules.show[name] {
			k.rules.hide(name, "/")
		}
	}
	if !k.rules.deny[k.home] {
		k.rules.reveal(k.home) // should it lie in one of them
	}
	for _, name := range []string{"current-system", "booted-system", "opengl-driver", "opengl-driver-32", "systemd/resolve"} {
		k.rules.reveal(path.Join("/run", name))
	}
	k.access("/", List, true, "names of files, not what is in them")
	k.grantParts("/")
	for _, r := range k.roots {
		if r.kind != rootCommon {
			k.access(r.path, Read|Write, true, r.why)
			continue
		}
		k.grantCommon(r)
	}
	if tmp := path.Join(k.private, "tmp"); !k.rules.show[tmp] {
		k.prepare(Prepare{Path: k.private, Dir: true, Mode: 0o700})
		k.prepare(Prepare{Path: tmp, Dir: true, Mode: 0o700})
		k.access(tmp, Read|Write, true, "temporary files of this workspace")
	}
	for _, name := range append(nodes(), "/dev/ptmx") {
		if k.look.present(name) {
			k.access(name, Read|Write|Device, false, "a harmless device")
		}
	}
	k.grantAgent()
	k.helper()
}

// grantCommon grants what a linked worktree's git writes in the shared repository, and no more: its
// hooks and configuration stay out. Deleting a branch needs a lock beside them and is refused.
func (k *maker) grantCommon(r root) {
	for _, name := range []string{"objects", "refs", "logs", "reftable", "rr-cache", "lfs"} {
		if at := path.Join(r.path, name); k.look.isDir(at) {
			k.access(at, Read|Write, true, r.why)
		}
	}
	for id := range k.keptIDs {
		if within(id, r.path) && k.look.isDir(id) {
			k.access(id, Read|Write, true, "git's state of this worktree")
		}
	}
}

// grantParts grants the entries of a folder that can't be granted whole.
func (k *maker) grantParts(dir string) {
	entries, err := k.look.list(dir)
	if err != nil {
		if depth(dir) < 2 {
			k.unheld("%s can't be listed: nothing in it can be read", dir)
		}
		return
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		hidden := k.rules.hidden(name)
		switch {
		case e.Type&fs.ModeSymlink != 0:
			// what it leads to is granted, or not, by itself
		case e.IsDir() && (k.rules.split[name] || hidden && k.rules.opened[name]):
			k.grantParts(name)
		case hidden || k.isRoot(name):
		case e.IsDir() || e.Type.IsRegular():
			k.access(name, Read, e.IsDir(), "as outside")
		}
	}
}

// finish adds what is told to people, and puts lists in order.
func (k *maker) finish() {
	p := &k.plan
	p.Tier, p.Network, p.Limits = k.tier, k.p.Network, k.p.Limits
	for _, r := range k.roots {
		p.Write = append(p.Write, r.path)
	}
	slices.Sort(p.Write)
	for _, a := range k.absent {
		p.Absent = append(p.Absent, a)
	}
	slices.SortFunc(p.Absent, func(a, b Absent) int { return byDepth(a.Path, b.Path) })
	slices.SortStableFunc(p.Prepare, func(a, b Prepare) int { return byDepth(a.Path, b.Path) })
	k.limits()
	p.Unheld, p.Notes = tidy(p.Unheld), tidy(p.Notes)
}

// tidy sorts and drops what is said twice.
func tidy(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// limits says what the tier does not hold here.
func (k *maker) limits() {
	p := &k.plan
	closed := k.p.Network != policy.NetworkAllow
	p.Unix = closed || k.m.Landlock >= 6
	if k.m.Root {
		k.unheld("you are the machine's root: files that only root may read are readable unless they are denied")
	}
	if k.tier == TierC {
		p.Unix = k.p.SSHAgent || k.sockets()
		k.limitsC()
		return
	}
	if !p.Unix {
		k.unheld("commands can't make Unix sockets: the network is open and Landlock is older than ABI 6, so the sockets of your session could be reached")
	}
	if k.m.Landlock == 0 {
		k.unheld("the kernel has no Landlock: mounts and the system call filter hold alone")
	}
	if p.Unix && !k.sockets() {
		k.unheld("a Unix socket that a program outside opens later, in a folder that commands can see, can be reached")
	}
	if !k.p.ReadOnly && len(p.Absent) > 0 {
		k.unheld("names that do not exist yet (.git, .mcp.json and others) can be made; they are looked for after each command")
	}
	for _, name := range k.p.DenyRead {
		if r := k.look.real(name); !r.exists && !within(name, k.home) && !k.rules.hidden(path.Dir(r.path)) {
			k.unheld("%s is denied but does not exist: if it appears while a command runs, that command can read it", name)
		}
	}
}

// limitsC says what Landlock alone does not hold.
func (k *maker) limitsC() {
	k.unheld("in writable folders git hooks, configuration and settings of tools can be changed; they are looked at after each command")
	k.unheld("permissions, times and extended attributes of files outside can be changed")
	k.unheld("names of denied files can be listed, and processes outside be seen and slowed down")
	k.unheld("caches are written directly, not through a private layer")
	k.unheld("/tmp, /dev/shm and terminals opened by path can't be used; temporary files go to $TMPDIR")
	if k.p.SSHAgent && !k.sockets() {
		k.unheld("Unix sockets are allowed for the SSH agent, so any socket can be reached")
	}
	if k.m.Landlock < 5 {
		k.unheld("ioctl on devices is not confined: Landlock is older than ABI 5")
	}
	if k.m.Landlock < 6 {
		k.unheld("signals to processes outside are not refused: Landlock is older than ABI 6")
	}
	if k.p.Network != policy.NetworkAllow {
		k.unheld("servers on the sandbox's own loopback can't be reached, and the proxy's port is open on every address")
	}
	for d := range k.rules.deny {
		if w := k.writable(d); w != "" && k.look.present(d) {
			k.unheld("%s is denied but lies in %s, which is writable: it can be read", d, w)
		}
	}
}
