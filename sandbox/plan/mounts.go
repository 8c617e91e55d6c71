package plan

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"carrel/sandbox/policy"
)

// maxEntries is how many names of a folder are bound one by one; a larger one is bound whole.
const maxEntries = 1000

// mounts plans tiers A and B.
func (k *maker) mounts() error {
	k.want(want{rank: rankBase, Mount: Mount{Kind: KindRoot, Source: "/", Target: "/", Dir: true, Why: "the machine, read-only"}})
	k.want(want{rank: rankBase, Mount: Mount{Kind: KindProc, Target: "/proc", Dir: true, Why: "its own processes"}})
	k.want(want{rank: rankBase, Mount: Mount{Kind: KindDev, Target: "/dev", Dir: true, Why: "harmless devices"}})
	k.prepare(Prepare{Path: k.private, Dir: true, Mode: 0o700})
	k.runFolder()
	k.temporary()
	k.resolver()
	for _, r := range k.roots {
		k.want(want{rank: rankRoot, Mount: Mount{Kind: KindRW, Source: r.path, Target: r.path, Dir: true, Why: r.why}})
	}
	if k.p.ReadOnly && !within(k.project, k.home) { // else it is a part of home
		k.want(want{rank: rankLook, Mount: Mount{Kind: KindRO, Source: k.project, Target: k.project, Dir: true, Why: "the project, read-only"}})
	}
	if k.agent != "" {
		k.want(want{rank: rankGuard, Mount: Mount{Kind: KindRO, Source: k.agent, Target: k.agent, Why: "the SSH agent, as your settings say"}})
	}
	k.helper()
	k.wantCaches()
	if err := k.homeFolder(); err != nil {
		return err
	}
	if err := k.denied(); err != nil {
		return err
	}
	k.emit()
	return nil
}

// homeFolder builds home anew: an entry that appears in it, or replaces a denied one, is never seen.
func (k *maker) homeFolder() error {
	switch {
	case k.home == "/" || !k.look.isDir(k.home):
		return nil
	case k.writable(k.home) != "":
		k.unheld("the home folder lies in %s, which is writable: what is denied in it is hidden only where it exists when a command starts", k.writable(k.home))
		return nil
	}
	return k.rebuild(k.home, k.home)
}

// rebuild puts a folder together from what may be seen of it.
func (k *maker) rebuild(dir, top string) error {
	k.rebuilt[dir] = true
	if dir == top {
		k.want(want{rank: rankTmpfs, Mount: Mount{Kind: KindTmpfs, Target: dir, Dir: true, Mode: 0o755, Why: "put together from what may be seen"}})
	} else {
		k.want(want{rank: rankDir, Mount: Mount{Kind: KindDir, Target: dir, Dir: true, Mode: 0o755, Why: "put together from what may be seen"}})
	}
	entries, err := k.look.list(dir)
	if err != nil {
		return fmt.Errorf("plan sandbox %q: list %q: %w", k.p.Project, dir, err)
	}
	for _, e := range entries {
		if err := k.part(path.Join(dir, e.Name), e, top); err != nil {
			return err
		}
	}
	return nil
}

// part is one entry of a rebuilt folder.
func (k *maker) part(name string, e Entry, top string) error {
	hidden := k.rules.hidden(name)
	split := k.rules.split[name] || hidden && k.rules.opened[name]
	switch {
	case k.mountedAt(name):
	case e.IsDir() && split:
		if entries, err := k.look.list(name); err == nil && len(entries) <= maxEntries {
			return k.rebuild(name, top)
		}
		if hidden {
			return nil
		}
		k.unheld("%s has too many entries: what is denied in it is hidden only where it exists when a command starts", name)
		k.wantPart(name, e)
	case hidden:
	case e.Type&fs.ModeSymlink != 0:
		link, err := k.look.tree.Readlink(name)
		if err == nil {
			k.want(want{rank: rankLook, Mount: Mount{Kind: KindLink, Target: name, Link: link, Why: "as outside"}})
		}
	case e.IsDir() || e.Type.IsRegular():
		k.wantPart(name, e)
	}
	return nil
}

func (k *maker) wantPart(name string, e Entry) {
	k.want(want{rank: rankLook, Mount: Mount{Kind: KindRO, Source: name, Target: name, Dir: e.IsDir(), Why: "as outside, read-only"}})
}

// mountedAt reports a path that is mounted for its own sake.
func (k *maker) mountedAt(name string) bool {
	w, ok := k.wants[name]
	return ok && w.rank > rankLook && w.Kind != KindDir
}

// denied hides what is denied where it was not left out of a rebuilt folder.
func (k *maker) denied() error {
	list := make([]string, 0, len(k.rules.deny))
	for d := range k.rules.deny {
		list = append(list, d)
	}
	slices.SortFunc(list, byDepth)
	for _, d := range list {
		e, err := k.look.lstat(d)
		switch {
		case err != nil || e.Type&fs.ModeSymlink != 0 || k.rebuilt[d]:
		case e.IsDir() && k.rules.opened[d]:
			if err := k.rebuild(d, d); err != nil {
				return err
			}
		default:
			k.want(want{rank: rankMask, watch: true, Mount: Mount{Kind: KindMask, Target: d, Dir: e.IsDir(), Why: "denied"}})
		}
	}
	return nil
}

// byDepth orders paths so that a folder comes before what is in it.
func byDepth(a, b string) int {
	if d := depth(a) - depth(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// runFolder empties /run, where programs of the system and the session listen.
func (k *maker) runFolder() {
	kept := []string{"current-system", "booted-system", "opengl-driver", "opengl-driver-32", "current-profile"}
	for _, dir := range []string{"/run", "/var/run"} {
		if !k.look.isDir(dir) {
			continue
		}
		k.want(want{rank: rankTmpfs, Mount: Mount{Kind: KindTmpfs, Target: dir, Dir: true, Mode: 0o755, Why: "sockets of the system and the session are not there"}})
		for _, name := range kept {
			at := path.Join(dir, name)
			if e, err := k.look.lstat(at); err == nil && e.Type&fs.ModeSymlink != 0 {
				if link, err := k.look.tree.Readlink(at); err == nil {
					k.want(want{rank: rankLook, Mount: Mount{Kind: KindLink, Target: at, Link: link, Why: "programs of the system"}})
				}
			} else if err == nil && e.IsDir() {
				k.wantPart(at, e)
			}
		}
	}
}

// temporary gives the workspace its own folders for temporary files, kept between commands.
func (k *maker) temporary() {
	for target, source := range temporaryFolders() {
		if !k.look.isDir(target) {
			continue
		}
		from := path.Join(k.private, source)
		k.prepare(Prepare{Path: from, Dir: true, Mode: 0o1777})
		k.want(want{rank: rankCache, Mount: Mount{Kind: KindRW, Source: from, Target: target, Dir: true, Why: "temporary files of this workspace"}})
	}
	slices.SortFunc(k.plan.Prepare, func(a, b Prepare) int { return byDepth(a.Path, b.Path) })
}

// temporaryFolders maps a folder of temporary files to its name in the private folder.
func temporaryFolders() map[string]string {
	return map[string]string{"/tmp": "tmp", "/var/tmp": "var-tmp"}
}

// resolver names the server for host names: the machine's while the network is open, else the
// sandbox's own on its loopback, which answers only in allowlist mode.
func (k *maker) resolver() {
	r := k.look.real("/etc/resolv.conf")
	if r.err != nil || r.path == "/" {
		return
	}
	e, err := k.look.lstat(r.path)
	switch {
	case k.p.Network != policy.NetworkAllow && (err == nil || within(r.path, "/run") && k.look.isDir("/run")):
		from := path.Join(k.private, "etc", "resolv.conf")
		k.prepare(Prepare{Path: path.Dir(from), Dir: true, Mode: 0o700})
		k.prepare(Prepare{Path: from, Mode: 0o444, Text: "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n"})
		k.want(want{rank: rankGuard, Mount: Mount{Kind: KindRO, Source: from, Target: r.path, Why: "host names are looked up inside the sandbox"}})
	case err == nil && e.Type.IsRegular() && within(r.path, "/run"):
		k.want(want{rank: rankLook, Mount: Mount{Kind: KindRO, Source: r.path, Target: r.path, Why: "host names are looked up as outside"}})
	}
}
