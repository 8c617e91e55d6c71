package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path"

	"carrel/sandbox/policy"
)

// cacheAt is a cache at its resolved place.
type cacheAt struct {
	path  string
	mode  policy.CacheMode
	fresh bool // it does not exist: an empty private folder stands in
}

// cacheRoots resolves the caches. One that is a symbolic link is left out: whoever could once write its
// folder chose where it leads.
func (k *maker) cacheRoots() error {
	for _, c := range k.p.Caches {
		if c.Mode == policy.CacheOff {
			continue
		}
		parent := k.look.real(path.Dir(c.Path))
		at := path.Join(parent.path, path.Base(c.Path))
		if parent.err != nil || at == "/" || within(k.home, at) || within(k.project, at) {
			continue
		}
		if link := k.plantedLink(parent.links); link != "" {
			k.note("the cache %s is reached through the symbolic link %s, which commands can change; it is left out", c.Path, link)
			continue
		}
		e, err := k.look.lstat(at)
		switch {
		case k.writable(at) != "":
			continue // it is writable already
		case err == nil && e.Type&fs.ModeSymlink != 0:
			k.note("the cache %s is a symbolic link; name the folder that it leads to in your settings", c.Path)
			continue
		case err == nil && !e.IsDir():
			continue
		}
		k.cache(cacheAt{path: at, mode: c.Mode, fresh: err != nil}, c.Fresh)
	}
	return nil
}

// plantedLink returns a link that lies in a writable tree.
func (k *maker) plantedLink(links []string) string {
	for _, link := range links {
		if k.writable(link) != "" {
			return link
		}
	}
	return ""
}

// cache takes one in, if the tier can.
func (k *maker) cache(c cacheAt, fresh bool) {
	for _, other := range k.caches {
		if within(c.path, other.path) {
			return
		}
	}
	switch {
	case c.mode == policy.CacheWrite && k.p.ReadOnly:
		c.mode = policy.CacheOverlay
	case k.tier == TierC && k.p.ReadOnly:
		return
	case k.tier == TierC:
		c.mode = policy.CacheWrite // there are no layers without mounts
	}
	if c.mode == policy.CacheWrite {
		if c.fresh {
			return
		}
		if k.denialIn(c.path) {
			k.note("the cache %s holds something that is denied; it is read-only", c.path)
			return
		}
		k.caches = append(k.caches, c)
		k.roots = append(k.roots, root{path: c.path, why: "a cache", kind: rootCache})
		k.rules.reveal(c.path)
		return
	}
	if c.fresh && (!fresh || !within(c.path, k.home)) {
		return
	}
	if !c.fresh && k.denialIn(c.path) {
		k.note("the cache %s holds something that is denied; it is read-only", c.path)
		return
	}
	k.caches = append(k.caches, c)
	k.rules.reveal(c.path)
	if c.fresh {
		mark(k.rules.split, c.path, "/")
	}
}

// denialIn reports a denied path inside a cache that is to be layered.
func (k *maker) denialIn(dir string) bool { return k.rules.split[dir] }

// wantCaches mounts the caches of tiers A and B.
func (k *maker) wantCaches() {
	for _, c := range k.caches {
		if c.mode == policy.CacheWrite {
			continue // a root
		}
		base := path.Join(k.private, "caches", slug(c.path))
		upper, work := path.Join(base, "upper"), path.Join(base, "work")
		k.prepare(Prepare{Path: upper, Dir: true, Mode: 0o700})
		w := want{rank: rankCache, Mount: Mount{
			Kind: KindRW, Source: upper, Target: c.path, Dir: true, Why: "a cache, empty and private",
		}}
		if !c.fresh && k.m.Overlay {
			k.prepare(Prepare{Path: work, Dir: true, Mode: 0o700})
			w.Mount = Mount{Kind: KindOverlay, Source: c.path, Target: c.path, Dir: true, Upper: upper, Work: work, Why: "a cache; writes go to a private layer"}
		}
		k.want(w)
	}
	if !k.m.Overlay {
		k.note("this machine can't layer folders: caches start empty and private")
	}
}

// slug is a short name for a path that no other path has.
func slug(name string) string {
	sum := sha256.Sum256([]byte(name))
	return path.Base(name) + "-" + hex.EncodeToString(sum[:6])
}

// prepare notes a file or folder once.
func (k *maker) prepare(p Prepare) {
	for _, old := range k.plan.Prepare {
		if old.Path == p.Path {
			return
		}
	}
	k.plan.Prepare = append(k.plan.Prepare, p)
}
