package plan

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A view executes mounts as a kernel would, over a tree in memory, and tells what a command sees.
type view struct {
	host   memory
	mounts []Mount
	dirs   map[string]bool // made in a tmpfs
	faults []string        // steps that would fail, or would not hold
}

// seen is what a command can do with a path.
type seen string

const (
	gone     seen = "hidden"
	readable seen = "read"
	changed  seen = "write"
	layered  seen = "layer" // reads the host, writes to a layer of its own
	own      seen = "own"   // a file of the sandbox's
)

func execute(p Plan, host memory) *view {
	v := &view{host: memory{}, dirs: map[string]bool{}}
	for name, n := range host {
		v.host[name] = n
	}
	for _, x := range p.Prepare {
		if _, _, err := v.host.find(x.Path); err == nil {
			continue
		}
		if x.Dir {
			v.host.add(x.Path + "/")
		} else {
			v.host.add(x.Path + " = " + x.Text)
		}
	}
	for _, m := range p.Mounts {
		v.step(m)
	}
	return v
}

func (v *view) fault(format string, args ...any) {
	v.faults = append(v.faults, fmt.Sprintf(format, args...))
}

// top is the mount that shows at a path: the last one whose target covers it.
func (v *view) top(name string) (Mount, bool) {
	for _, m := range slices.Backward(v.mounts) {
		if within(name, m.Target) {
			return m, true
		}
	}
	return Mount{}, false
}

// exists reports a path in the view without following links, and whether it is a folder.
func (v *view) exists(name string) (there, dir bool) {
	m, ok := v.top(name)
	if !ok {
		return false, false
	}
	switch m.Kind {
	case KindRoot, KindRO, KindRW, KindPin, KindOverlay:
		n := v.host[path.Join(m.Source, strings.TrimPrefix(name, m.Target))]
		return n != nil, n != nil && n.kind.IsDir()
	case KindTmpfs:
		return name == m.Target || v.dirs[name], true
	default:
		return name == m.Target, m.Dir
	}
}

// step executes one mount and notes what is wrong with it.
func (v *view) step(m Mount) {
	if m.Kind == KindRoot {
		v.mounts = append(v.mounts, m)
		return
	}
	if m.Kind == KindSeal {
		if top, _ := v.top(m.Target); top.Kind != KindTmpfs || top.Target != m.Target {
			v.fault("seal %s: no tmpfs shows there", m.Target)
		}
		return
	}
	below, _ := v.top(m.Target)
	if below.Target == m.Target && below.Kind != KindRoot {
		v.fault("%s %s: already mounted as %s", m.Kind, m.Target, below.Kind)
	}
	if there, dir := v.exists(path.Dir(m.Target)); !there || !dir {
		v.fault("%s %s: its folder is not there", m.Kind, m.Target)
	}
	there, dir := v.exists(m.Target)
	switch {
	case m.Kind == KindDir || m.Kind == KindLink:
		if below.Kind != KindTmpfs || there {
			v.fault("%s %s: it can't be made in %s", m.Kind, m.Target, below.Kind)
		}
		if m.Kind == KindDir {
			v.dirs[m.Target] = true
		}
		return
	case below.Kind == KindTmpfs && !there: // the place is made
		v.dirs[m.Target] = true
	case !there || dir != m.Dir:
		v.fault("%s %s: nothing to mount on (there %v, folder %v)", m.Kind, m.Target, there, dir)
	}
	if m.Source != "" {
		v.checkSource(m)
	}
	v.checkHeld(m, below)
	v.mounts = append(v.mounts, m)
}

// checkSource: sources exist, are what they say, and lead through no link.
func (v *view) checkSource(m Mount) {
	n := v.host[m.Source]
	if n == nil || n.kind.IsDir() != m.Dir || n.kind == fs.ModeSymlink {
		v.fault("%s %s: the source %s is not what it should be", m.Kind, m.Target, m.Source)
		return
	}
	for dir := m.Source; dir != "/"; dir = path.Dir(dir) {
		if v.host[dir] == nil || v.host[dir].kind == fs.ModeSymlink {
			v.fault("%s %s: the source %s leads through the link %s", m.Kind, m.Target, m.Source, dir)
		}
	}
}

// checkHeld: no folder between a writable mount and a mount in it can be renamed away.
func (v *view) checkHeld(m, below Mount) {
	if below.Kind != KindRW && below.Kind != KindPin {
		return
	}
	for dir := path.Dir(m.Target); inside(dir, below.Target); dir = path.Dir(dir) {
		v.fault("%s %s: %s is not pinned, it could be renamed with the mount", m.Kind, m.Target, dir)
	}
}

// sees tells what a command can do with a path of the host, which leads through no link.
func (v *view) sees(name string) seen {
	m, ok := v.top(name)
	if !ok {
		return gone
	}
	at := path.Join(m.Source, strings.TrimPrefix(name, m.Target))
	switch m.Kind {
	case KindRoot, KindRO:
		if at != name {
			return own
		}
		if v.host[at] == nil {
			return gone
		}
		return readable
	case KindRW, KindPin:
		if at != name {
			return own
		}
		return changed
	case KindOverlay:
		return layered
	case KindDir, KindTmpfs, KindMask, KindProc, KindDev, KindLink, KindSeal:
	}
	return gone
}

// late tells whether a name that appears on the host after the start would be seen.
func (v *view) late(name string) bool {
	m, ok := v.top(name)
	if !ok {
		return false
	}
	switch m.Kind {
	case KindRoot, KindRO, KindRW, KindPin, KindOverlay:
		return path.Join(m.Source, strings.TrimPrefix(name, m.Target)) == name
	default:
		return false
	}
}
