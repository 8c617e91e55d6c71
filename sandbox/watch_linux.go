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
	watches    int32 // that the descriptor has had, at least; the kernel counts up
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
		watch, err := unix.InotifyAddWatch(g.events, name, mask)
		switch {
		case err == nil:
			g.watches = max(g.watches, int32(watch))
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

// maxWatches is how many watches a descriptor may have had before another takes its place.
const maxWatches = 10_000

// Reset forgets what was added. The kernel goes on watching it, at most that brings a look too many: a
// watch that is added again costs a microsecond, but a new one in a large folder, or to let go of all, tens
// of milliseconds.
func (g *ground) Reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.generation++
	g.added = map[string]bool{}
	if g.closed || g.events >= 0 && g.watches < maxWatches {
		return
	}
	g.leave()
	if fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err == nil {
		g.events = fd
	}
}

// leave lets go of the descriptor, for which the kernel waits until nobody can see its watches.
func (g *ground) leave() {
	if fd := g.events; fd >= 0 {
		go func() { _ = unix.Close(fd) }()
	}
	g.events, g.watches = -1, 0
}

func (g *ground) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed, g.added = true, map[string]bool{}
	g.generation++
	g.leave()
	if g.mounts >= 0 {
		_ = unix.Close(g.mounts)
		g.mounts = -1
	}
}
