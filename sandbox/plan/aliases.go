package plan

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// MountPoint is where a part of a file system shows.
type MountPoint struct {
	Device string `json:"device"` // "8:1": the same for every place of one file system
	Root   string `json:"root"`   // which folder of the file system it is
	Target string `json:"target"`
}

// ParseMountInfo reads /proc/PID/mountinfo; lines that it does not understand are left out.
func ParseMountInfo(text []byte) []MountPoint {
	var list []MountPoint
	for line := range bytes.Lines(text) {
		f := strings.Fields(string(line))
		if len(f) < 5 {
			continue
		}
		m := MountPoint{Device: f[2], Root: unescapeMount(f[3]), Target: unescapeMount(f[4])}
		if path.IsAbs(m.Root) && path.IsAbs(m.Target) && path.Clean(m.Target) == m.Target && path.Clean(m.Root) == m.Root {
			list = append(list, m)
		}
	}
	return list
}

// unescapeMount undoes the octal escapes of spaces and the like.
func unescapeMount(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// aliases are the other places where a path shows, and where something in it does, since its file system,
// or a part of it, is mounted twice.
func aliases(mounts []MountPoint, name string) (whole, parts []string) {
	var own MountPoint
	for _, m := range mounts { // the last of the longest shows
		if within(name, m.Target) && len(m.Target) >= len(own.Target) {
			own = m
		}
	}
	if own.Target == "" {
		return nil, nil
	}
	at := path.Join(own.Root, strings.TrimPrefix(name, own.Target))
	for _, m := range mounts {
		if m.Device != own.Device {
			continue
		}
		if within(at, m.Root) {
			if other := path.Join(m.Target, strings.TrimPrefix(at, m.Root)); other != "/" && !within(other, name) {
				whole = append(whole, other)
			}
		} else if within(m.Root, at) && m.Target != "/" && !within(m.Target, name) {
			parts = append(parts, m.Target)
		}
	}
	return whole, parts
}

// hideAliases denies the other ways to what is denied: all of home where its file system shows once more,
// each denied path elsewhere, and snapshots.
func (k *maker) hideAliases() {
	hide := func(name string) {
		if !k.rules.show[name] && !k.rules.deny[name] && !within(k.project, name) {
			k.rules.hide(name, k.mountedAbove(name))
		}
	}
	denied := slices.Sorted(maps.Keys(k.rules.deny)) // what is hidden below has no aliases of its own
	homes, _ := aliases(k.m.Mounts, k.home)
	for _, name := range homes {
		if k.look.isDir(name) && !within(name, k.home) && !within(k.home, name) {
			hide(name)
		}
	}
	for _, d := range denied {
		whole, parts := aliases(k.m.Mounts, d)
		for _, name := range append(whole, parts...) {
			if !k.rules.hidden(name) && k.look.present(name) {
				hide(name)
			}
		}
	}
	for dir := k.home; ; dir = path.Dir(dir) {
		for _, name := range []string{".snapshots", ".zfs", "timeshift"} {
			at := path.Join(dir, name)
			if e, err := k.look.tree.Lstat(at); err == nil && e.Type&fs.ModeSymlink == 0 && e.IsDir() {
				hide(at)
			}
		}
		if dir == "/" {
			return
		}
	}
}
