package sandbox

import (
	"errors"
	"os"
	"path"
	"sync"

	"golang.org/x/sys/unix"

	"carrel/sandbox/plan"
)

// ground watches what the plans of a box rest on: folders and files, and what is mounted. Asking it
// costs two system calls, where looking costs one for each name. Without a right to watch it watches
// nothing and every Add fails, so that plans look.
type ground struct {
	mu         sync.Mutex
	events     int // the inotify descriptor; -1: there is none
	mounts     int // /proc/self/mountinfo, which poll tells of mounts; -1: there is none
	added      map[string]bool
	generation uint64
	known      fingerprinted     // the last one
	read       []plan.MountPoint // the machine's mounts; nil: to be read
	closed     bool
}

func (g *ground) watcher() plan.Watcher { return g }

func newGround() *ground {
	g := &ground{events: -1, mounts: -1}
	if fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
		g.mounts = fd
	}
	g.Reset()
	return g
}

// What tells of a change of a folder's names, or of a file. The text of a folder's files is not among
// it: who depends on that watches the file.
const watched = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_ATTRIB |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_DONT_FOLLOW

// Add watches a name, or the folder in which it would appear.
func (g *ground) Add(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.events < 0 || g.mounts < 0 {
		return false
	}
	for asked := name; ; name = path.Dir(name) {
		if g.added[name] {
			g.added[asked] = true
			return true
		}
		mask := uint32(watched)
		var st unix.Stat_t
		if err := unix.Lstat(name, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
			mask |= unix.IN_MODIFY
		}
		_, err := unix.InotifyAddWatch(g.events, name, mask)
		switch {
		case err == nil:
			g.added[asked], g.added[name] = true, true
			return true
		case name == "/" || !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR):
			return false
		}
	}
}

// Generation takes note of what has happened.
func (g *ground) Generation() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.happened() {
		g.generation++
	}
	return g.generation
}

func (g *ground) happened() bool {
	if g.events < 0 || g.mounts < 0 {
		g.read = nil
		return true
	}
	poll := []unix.PollFd{{Fd: int32(g.events), Events: unix.POLLIN}, {Fd: int32(g.mounts), Events: unix.POLLPRI}}
	if n, err := unix.Poll(poll, 0); err == nil && n == 0 {
		return false
	}
	if poll[1].Revents != 0 {
		g.read = nil
	}
	buf := make([]byte, 16<<10)
	for {
		if n, err := unix.Read(g.events, buf); n <= 0 || err != nil {
			return true
		}
	}
}

// table gives what is mounted.
func (g *ground) table() []plan.MountPoint {
	g.Generation()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.read == nil {
		if text, err := os.ReadFile("/proc/self/mountinfo"); err == nil {
			g.read = plan.ParseMountInfo(text)
		}
	}
	return g.read
}

// Reset forgets what was added.
func (g *ground) Reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.generation++
	if g.events >= 0 {
		_ = unix.Close(g.events)
	}
	g.events, g.added = -1, map[string]bool{}
	if g.closed {
		return
	}
	if fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err == nil {
		g.events = fd
	}
}

func (g *ground) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.Reset()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mounts >= 0 {
		_ = unix.Close(g.mounts)
		g.mounts = -1
	}
}
