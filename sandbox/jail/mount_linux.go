package jail

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"carrel/sandbox/plan"
)

const (
	// fixed is what every mount of the host has inside: no set-user-id programs, no devices.
	fixed = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	// inRoot finds targets: nothing that a command made can lead out of the tree or to another place.
	inRoot = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS
	// stage is where the new root waits for pivot_root. It exists on every Linux.
	stage = "/tmp"
)

// nodes are the devices of a fresh /dev.
var nodes = []string{"null", "zero", "full", "random", "urandom", "tty"}

// builder executes the mounts of one plan in a mount namespace of its own.
type builder struct {
	steps    []plan.Mount
	sources  []int          // by step: a detached mount, -1 where there is none
	devices  map[string]int // of /dev, by name
	overlays []int          // in the order of the overlay steps
	root     int            // the new root, O_PATH
	memory   map[uint64]bool
	owner    bool // the user is root: files of the kernel in /proc are ours to write
}

// Mount executes the steps. The process must be alone in its mount namespace, and have the rights
// of its user namespace. Overlays are detached mounts, one for each overlay step. On failure the
// namespace is half built: the process must end.
func Mount(steps []plan.Mount, overlays []int) error {
	b := &builder{steps: steps, overlays: overlays, root: -1, devices: map[string]int{}, memory: map[uint64]bool{}}
	b.owner = unix.Getuid() == 0
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return failure("make mounts private", "/", err)
	}
	// Everything that is needed of the host is held by descriptor before the view changes.
	if err := b.collect(); err != nil {
		return err
	}
	for i, m := range steps {
		if err := b.step(i, m); err != nil {
			return failure("mount "+string(m.Kind), m.Target, err)
		}
	}
	if err := unix.Chdir("/"); err != nil {
		return failure("enter", "/", err)
	}
	return nil
}

// collect opens the source of each step.
func (b *builder) collect() error {
	b.sources = make([]int, len(b.steps))
	overlays := b.overlays
	for i, m := range b.steps {
		fd, err := -1, error(nil)
		switch m.Kind {
		case plan.KindRoot:
			fd, err = cloneTree("/", fixed|unix.MOUNT_ATTR_RDONLY)
		case plan.KindRO:
			fd, err = cloneTree(m.Source, fixed|unix.MOUNT_ATTR_RDONLY)
		case plan.KindRW:
			fd, err = cloneTree(m.Source, fixed)
		case plan.KindPin:
			fd, err = cloneTree(cmp.Or(m.Source, m.Target), fixed) // below a private /tmp it is not the target
		case plan.KindProc:
			// Made while the host's /proc is still in view: the kernel asks for one that hides nothing.
			fd, err = filesystem("proc", fixed|unix.MOUNT_ATTR_NOEXEC)
		case plan.KindMask:
			fd, err = mask(m.Dir)
		case plan.KindDev:
			err = b.collectDevices()
		case plan.KindOverlay:
			if len(overlays) == 0 {
				return failure("mount overlay", m.Target, errors.New("no layer for it"))
			}
			fd, overlays = overlays[0], overlays[1:]
		case plan.KindTmpfs, plan.KindSeal, plan.KindDir, plan.KindLink:
		}
		if err != nil {
			return failure("open source of "+string(m.Kind), m.Target, err)
		}
		b.sources[i] = fd
	}
	return nil
}

func (b *builder) collectDevices() error {
	for _, name := range nodes {
		fd, err := cloneTree("/dev/"+name, unix.MOUNT_ATTR_NOSUID)
		if err != nil {
			return fmt.Errorf("device %q: %w", name, err)
		}
		b.devices[name] = fd
	}
	return nil
}

// step executes one mount.
func (b *builder) step(i int, m plan.Mount) error {
	if m.Kind != plan.KindRoot && b.root < 0 {
		return errors.New("there is no root yet")
	}
	switch m.Kind {
	case plan.KindRoot:
		return b.pivot(b.sources[i])
	case plan.KindProc:
		if err := b.attach(b.sources[i], m.Target, true); err != nil || !b.owner {
			return err
		}
		return b.closeKernel(m.Target)
	case plan.KindRO, plan.KindRW, plan.KindPin, plan.KindOverlay, plan.KindMask:
		return b.attach(b.sources[i], m.Target, m.Dir || m.Kind == plan.KindOverlay)
	case plan.KindDev:
		return b.dev(m.Target)
	case plan.KindTmpfs:
		return b.tmpfs(m.Target, m.Mode)
	case plan.KindSeal:
		return b.seal(m.Target)
	case plan.KindDir:
		return b.mkdir(m.Target, m.Mode)
	case plan.KindLink:
		return b.link(m.Target, m.Link)
	}
	return errors.New("unknown kind of step")
}

// pivot makes the tree the root of this namespace and lets go of the old one.
func (b *builder) pivot(tree int) error {
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, stage, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("attach root: %w", err)
	}
	if err := unix.Fchdir(tree); err != nil {
		return fmt.Errorf("enter root: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("detach the host's root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	b.root = tree
	return nil
}

// attach mounts a detached tree; a target that is missing is made, in memory only.
func (b *builder) attach(tree int, target string, dir bool) error {
	at, err := b.open(target, unix.O_PATH)
	if errors.Is(err, unix.ENOENT) {
		if err = b.place(target, dir); err != nil {
			return err
		}
		at, err = b.open(target, unix.O_PATH)
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(at) }()
	if err := noLink(at); err != nil {
		return err
	}
	const flags = unix.MOVE_MOUNT_F_EMPTY_PATH | unix.MOVE_MOUNT_T_EMPTY_PATH
	if err := unix.MoveMount(tree, "", at, "", flags); err != nil {
		return err
	}
	return unix.Close(tree)
}

// open finds a target in the new root.
func (b *builder) open(target string, flags uint64) (int, error) {
	name := strings.TrimPrefix(target, "/")
	if name == "" {
		name = "."
	}
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: inRoot}
	return unix.Openat2(b.root, name, &how)
}

// parent opens the folder that a name lies in.
func (b *builder) parent(target string) (int, error) {
	return b.open(path.Dir(target), unix.O_PATH|unix.O_DIRECTORY)
}

// place makes an empty target in one of our tmpfs: never in a folder of the host.
func (b *builder) place(target string, dir bool) error {
	at, err := b.parent(target)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(at) }()
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		return err
	}
	if !b.memory[st.Dev] {
		return fmt.Errorf("target is missing on disk: %w", unix.ENOENT)
	}
	if dir {
		return unix.Mkdirat(at, path.Base(target), 0o755)
	}
	fd, err := unix.Openat(at, path.Base(target), unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func (b *builder) mkdir(target string, mode uint32) error {
	at, err := b.parent(target)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(at) }()
	if err := unix.Mkdirat(at, path.Base(target), mode); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	return nil
}

func (b *builder) link(target, to string) error {
	at, err := b.parent(target)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(at) }()
	return unix.Symlinkat(to, at, path.Base(target))
}

// seal makes the mount at target read-only, not what is mounted inside.
func (b *builder) seal(target string) error {
	at, err := b.open(target, unix.O_PATH)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(at) }()
	return unix.MountSetattr(at, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}
