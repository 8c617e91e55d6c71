package jail

import (
	"fmt"
	"path"
	"strconv"

	"golang.org/x/sys/unix"
)

// cloneTree gives a detached copy of a mount tree with attributes added: what is held from then on
// is the object, whatever becomes of its path.
func cloneTree(source string, attributes uint64) (int, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS}
	at, err := unix.Openat2(unix.AT_FDCWD, source, &how)
	if err != nil {
		return -1, fmt.Errorf("open %q: %w", source, err)
	}
	defer func() { _ = unix.Close(at) }()
	if err := noLink(at); err != nil {
		return -1, fmt.Errorf("open %q: %w", source, err)
	}
	return cloneFD(at, attributes)
}

// noLink refuses a symbolic link, which O_PATH opens as such.
func noLink(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return unix.ELOOP
	}
	return nil
}

func cloneFD(at int, attributes uint64) (int, error) {
	const flags = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_EMPTY_PATH | unix.AT_RECURSIVE
	fd, err := unix.OpenTree(at, "", flags)
	if err != nil {
		return -1, fmt.Errorf("clone mount: %w", err)
	}
	attr := unix.MountAttr{Attr_set: attributes, Propagation: unix.MS_PRIVATE}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		_ = unix.Close(fd)
		return -1, fmt.Errorf("set attributes: %w", err)
	}
	return fd, nil
}

// filesystem makes a new one, detached. Options are name, value; an empty value is a flag.
func filesystem(kind string, attributes int, options ...[2]string) (int, error) {
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("open file system %q: %w", kind, err)
	}
	defer func() { _ = unix.Close(fs) }()
	for _, o := range options {
		if o[1] == "" {
			err = unix.FsconfigSetFlag(fs, o[0])
		} else {
			err = unix.FsconfigSetString(fs, o[0], o[1])
		}
		if err != nil {
			return -1, fmt.Errorf("set %s of file system %q: %w", o[0], kind, err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, fmt.Errorf("create file system %q: %w", kind, err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, attributes)
	if err != nil {
		return -1, fmt.Errorf("mount file system %q: %w", kind, err)
	}
	return fd, nil
}

// mask gives what stands in for a path that can't be read.
func mask(dir bool) (int, error) {
	if dir {
		return filesystem("tmpfs", fixed|unix.MOUNT_ATTR_RDONLY, [2]string{"mode", "000"}, [2]string{"size", "4096"})
	}
	// Without nodev gone, nobody can open it.
	return cloneTree("/dev/null", fixed|unix.MOUNT_ATTR_RDONLY)
}

// tmpfs mounts an empty folder and remembers that names may be made in it.
func (b *builder) tmpfs(target string, mode uint32) error {
	fd, err := filesystem("tmpfs", fixed, [2]string{"mode", strconv.FormatUint(uint64(mode), 8)})
	if err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	b.memory[st.Dev] = true
	return b.attach(fd, target, true)
}

// dev fills a fresh /dev and makes it read-only.
func (b *builder) dev(target string) error {
	if err := b.tmpfs(target, 0o755); err != nil {
		return err
	}
	for _, name := range nodes {
		if err := b.attach(b.devices[name], path.Join(target, name), false); err != nil {
			return fmt.Errorf("device %q: %w", name, err)
		}
	}
	links := [][2]string{{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"},
		{"stderr", "/proc/self/fd/2"}, {"ptmx", "pts/ptmx"}}
	for _, l := range links {
		if err := b.link(path.Join(target, l[0]), l[1]); err != nil {
			return fmt.Errorf("link %q: %w", l[0], err)
		}
	}
	pts, err := filesystem("devpts", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC,
		[2]string{"newinstance"}, [2]string{"ptmxmode", "0666"}, [2]string{"mode", "0620"})
	if err != nil {
		return err
	}
	if err := b.attach(pts, path.Join(target, "pts"), true); err != nil {
		return fmt.Errorf("terminals: %w", err)
	}
	if err := b.tmpfs(path.Join(target, "shm"), 0o1777); err != nil {
		return fmt.Errorf("shared memory: %w", err)
	}
	return b.seal(target)
}

// closeKernel makes the kernel's switches in /proc read-only: they are root's files, and root
// without any capability is still their owner.
func (b *builder) closeKernel(target string) error {
	for _, name := range []string{"sys", "irq", "bus", "fs", "sysrq-trigger"} {
		at, err := b.open(path.Join(target, name), unix.O_PATH)
		if err != nil {
			continue // kernels differ in what they have
		}
		fd, err := cloneFD(at, fixed|unix.MOUNT_ATTR_NOEXEC|unix.MOUNT_ATTR_RDONLY)
		_ = unix.Close(at)
		if err != nil {
			return fmt.Errorf("close %q: %w", name, err)
		}
		if err := b.attach(fd, path.Join(target, name), name != "sysrq-trigger"); err != nil {
			return fmt.Errorf("close %q: %w", name, err)
		}
	}
	return nil
}
