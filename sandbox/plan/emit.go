package plan

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// emitter puts wants in order and adds what each needs: folders to be mounted on, and pins, so that no
// folder between a writable tree and a mount in it can be renamed with the mount.
type emitter struct {
	k       *maker
	mounted map[string]Mount // what is mounted, by target
	made    map[string]bool  // folders made in a tmpfs
	tmpfs   []string
}

// emit turns wants into the plan's mounts.
func (k *maker) emit() {
	x := &emitter{k: k, mounted: map[string]Mount{}, made: map[string]bool{}}
	for _, target := range slices.SortedFunc(maps.Keys(k.wants), byDepth) {
		x.put(k.wants[target])
	}
	for _, target := range x.tmpfs {
		x.add(Mount{Kind: KindSeal, Target: target, Dir: true, Why: "nothing can be added to it"})
	}
	slices.Sort(k.plan.Watch)
}

// area is the mount that a target lies in.
func (x *emitter) area(target string) Mount {
	for dir := path.Dir(target); ; dir = path.Dir(dir) {
		if m, ok := x.mounted[dir]; ok || dir == "/" {
			return m
		}
	}
}

// source is the path on the host that shows at a target in an area, or "" if none does.
func source(area Mount, target string) string {
	switch area.Kind {
	case KindRoot, KindRO, KindRW, KindPin:
		return path.Join(area.Source, strings.TrimPrefix(target, area.Target))
	default:
		return ""
	}
}

func (x *emitter) put(w want) {
	if w.Kind == KindRoot {
		x.add(w.Mount)
		return
	}
	area := x.area(w.Target)
	from := source(area, w.Target)
	switch area.Kind {
	case KindMask, KindProc, KindDev, KindLink, KindDir, KindSeal:
		return // it can't be seen
	case KindTmpfs:
		if w.Kind == KindMask {
			return // it was left out
		}
		x.folders(area, w)
	case KindRoot, KindRO:
		if w.Kind == KindDir || w.Kind == KindLink || w.Kind == KindRO && w.Source == from {
			return // it is there already
		}
	case KindRW, KindPin:
		private := from != w.Target
		if w.Kind == KindDir || w.Kind == KindLink || private && w.Kind == KindMask {
			return
		}
		if private {
			x.privateFolders(area, w)
		}
		x.pins(area, w.Target)
		if w.Kind == KindRW && w.Source == from {
			w.Kind = KindPin
		}
	case KindOverlay:
		if w.Kind == KindDir || w.Kind == KindLink {
			return
		}
	}
	if w.watch {
		x.k.plan.Watch = append(x.k.plan.Watch, w.Target)
	}
	x.add(w.Mount)
}

// add appends a step.
func (x *emitter) add(m Mount) {
	switch m.Kind {
	case KindDir:
		x.made[m.Target] = true
	case KindLink, KindSeal:
	case KindTmpfs:
		x.tmpfs = append(x.tmpfs, m.Target)
		x.mounted[m.Target] = m
	default:
		x.mounted[m.Target] = m
	}
	x.k.plan.Mounts = append(x.k.plan.Mounts, m)
}

// between lists the folders strictly between two paths, from the top.
func between(top, target string) []string {
	var list []string
	for dir := path.Dir(target); inside(dir, top); dir = path.Dir(dir) {
		list = append(list, dir)
	}
	slices.Reverse(list)
	return list
}

// folders makes the way to a target in a tmpfs.
func (x *emitter) folders(area Mount, w want) {
	for _, dir := range between(area.Target, w.Target) {
		if !x.made[dir] {
			x.add(Mount{Kind: KindDir, Target: dir, Dir: true, Mode: 0o755, Why: "leads to " + w.Target})
		}
	}
}

// privateFolders makes the way to a target, and the target, in a private folder on disk.
func (x *emitter) privateFolders(area Mount, w want) {
	for _, dir := range between(area.Target, w.Target) {
		x.k.prepare(Prepare{Path: source(area, dir), Dir: true, Mode: 0o755})
	}
	mode := uint32(0o644)
	if w.Dir {
		mode = 0o755
	}
	x.k.prepare(Prepare{Path: source(area, w.Target), Dir: w.Dir, Mode: mode})
}

// pins holds the folders between a writable tree and a target in it.
func (x *emitter) pins(area Mount, target string) {
	for _, dir := range between(area.Target, target) {
		if _, ok := x.mounted[dir]; !ok {
			x.add(Mount{Kind: KindPin, Source: source(area, dir), Target: dir, Dir: true, Why: "so that what is mounted in it stays where it is"})
		}
	}
}
