package jail

import (
	"encoding/binary"
	"errors"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"carrel/sandbox/plan"
)

// A mount that guards a file goes away when someone outside the sandbox replaces the file by a
// rename, and one that guards a folder goes along when someone renames the folder: what has the
// name then is not guarded. The kernel tells of the first by the list of mounts, of the second by
// the folder around it.

const (
	moves = unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_CREATE | unix.IN_DELETE | unix.IN_ONLYDIR
	// everyMillis is how often guards are looked at where the user has no watches left.
	everyMillis = 50
)

// guard watches the mounts of a plan whose loss ends the command.
type guard struct {
	mounts int // /proc/self/mountinfo: POLLPRI after each change
	notify int // inotify, -1 when the kernel gives no more
	ids    map[string]uint64
	names  map[int32][]string // by watch: the names that matter in that folder
}

// newGuard is called when the plan's mounts are in place.
func newGuard(p *plan.Plan) (*guard, error) {
	g := &guard{ids: map[string]uint64{}, names: map[int32][]string{}, notify: -1}
	var err error
	if g.mounts, err = unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return nil, failure("watch mounts", "", err)
	}
	if g.notify, err = unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err == nil {
		g.follow(p)
	}
	for _, w := range p.Watch {
		id, ok := mountAt(w)
		if !ok {
			return nil, failure("watch guard", w, errors.New("it is not mounted"))
		}
		g.ids[w] = id
	}
	return g, nil
}

// follow watches the folders between each guard and the writable tree that it lies in.
func (g *guard) follow(p *plan.Plan) {
	for _, w := range p.Watch {
		for _, root := range p.Write {
			if !strings.HasPrefix(w, strings.TrimSuffix(root, "/")+"/") {
				continue
			}
			for child := w; child != root && child != "/"; child = path.Dir(child) {
				if !g.add(path.Dir(child), path.Base(child)) {
					return
				}
			}
		}
	}
}

// add watches one name in a folder. When the user's watches are used up, guards are polled.
func (g *guard) add(dir, name string) bool {
	wd, err := unix.InotifyAddWatch(g.notify, dir, moves)
	if err != nil {
		_ = unix.Close(g.notify)
		g.notify = -1
		return false
	}
	if !slices.Contains(g.names[int32(wd)], name) {
		g.names[int32(wd)] = append(g.names[int32(wd)], name)
	}
	return true
}

// wait returns the guards that are lost, when some are.
func (g *guard) wait() []string {
	for {
		polls := []unix.PollFd{{Fd: int32(g.mounts), Events: unix.POLLPRI}, {Fd: int32(g.notify), Events: unix.POLLIN}}
		timeout := -1
		if g.notify < 0 {
			timeout = everyMillis
		}
		if _, err := unix.Poll(polls, timeout); err != nil && !errors.Is(err, unix.EINTR) {
			return []string{"all: " + err.Error()}
		}
		if polls[0].Revents == 0 && g.notify >= 0 && !g.matters() {
			continue
		}
		if lost := g.lost(); len(lost) > 0 {
			return lost
		}
	}
}

// matters takes what inotify has to tell and reports whether it is about a guard.
func (g *guard) matters() bool {
	buf := make([]byte, 16<<10)
	found := false
	for {
		n, err := unix.Read(g.notify, buf)
		if err != nil || n < unix.SizeofInotifyEvent {
			return found
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(b))
			mask := binary.NativeEndian.Uint32(b[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
			name := strings.TrimRight(string(b[unix.SizeofInotifyEvent:end]), "\x00")
			if mask&(unix.IN_Q_OVERFLOW|unix.IN_IGNORED) != 0 || slices.Contains(g.names[wd], name) {
				found = true
			}
			b = b[end:]
		}
	}
}

// lost lists the guards that are not what they were.
func (g *guard) lost() []string {
	var lost []string
	for w, id := range g.ids {
		if now, ok := mountAt(w); !ok || now != id {
			lost = append(lost, w)
		}
	}
	slices.Sort(lost)
	return lost
}

// mountAt gives the mount whose root a path is.
func mountAt(name string) (id uint64, ok bool) {
	var st unix.Statx_t
	const flags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	if err := unix.Statx(unix.AT_FDCWD, name, flags, unix.STATX_MNT_ID, &st); err != nil {
		return 0, false
	}
	return st.Mnt_id, st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}
