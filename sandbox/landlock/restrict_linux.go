package landlock

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The least versions of the kernel's interface.
const (
	// MinAny can be used beside other layers; before it nothing could be renamed from one folder
	// into another.
	MinAny = 2
	// MinFiles confines truncate(2) too; before it a file outside could be emptied.
	MinFiles = 3
	// MinPorts knows TCP ports.
	MinPorts = 4
	// MinScope knows signals and abstract sockets.
	MinScope = 6
	// MinSockets knows Unix sockets by their path.
	MinSockets = 9

	minDevice = 5
)

const (
	reading = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writing = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	devices = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	nodes = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	// onFiles are the rights that a rule for something other than a directory may name.
	onFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV |
		unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
)

// Version gives the version of the kernel's interface, 0 where there is none, and the bit set of
// the corrections that it has.
func Version() (version, errata int) {
	ask := func(flag uintptr) int {
		n, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, flag)
		if e != 0 {
			return 0
		}
		return int(n)
	}
	return ask(unix.LANDLOCK_CREATE_RULESET_VERSION), ask(unix.LANDLOCK_CREATE_RULESET_ERRATA)
}

// handled gives the file rights that the version knows; all of them are refused unless granted.
func (r Ruleset) handled(version int) uint64 {
	rights := uint64(reading | writing | nodes | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX)
	if r.Light {
		rights &^= reading | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version < MinFiles {
		rights &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version < minDevice {
		rights &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version < MinSockets {
		rights &^= unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	}
	return rights
}

// Restrict applies the rules to the calling thread, which must be locked to its goroutine and
// have no_new_privs set. A path that is gone grants nothing. The version is the kernel's, from
// Version. Where Landlock alone confines, ask for MinFiles before.
func (r Ruleset) Restrict(version int) error {
	if version < MinAny || r.Ports && version < MinPorts || r.Scope && version < MinScope {
		return fmt.Errorf("restrict thread: the kernel's Landlock has version %d: %w", version, unix.ENOSYS)
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: r.handled(version)}
	if r.Ports {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if r.Scope {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	// Older kernels refuse a structure with set bytes that they don't know; ours are zero there.
	n, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if e != 0 {
		return fmt.Errorf("create ruleset: %w", e)
	}
	fd := int(n)
	defer func() { _ = unix.Close(fd) }()
	for _, rule := range r.Rules {
		if err := addPath(fd, rule, attr.Handled_access_fs); err != nil {
			return fmt.Errorf("grant %q: %w", rule.Path, err)
		}
	}
	for _, port := range r.Connect {
		if err := addPort(fd, port); err != nil {
			return fmt.Errorf("grant port %d: %w", port, err)
		}
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd), 0, 0); e != 0 {
		return fmt.Errorf("restrict thread: %w", e)
	}
	return nil
}

// access gives the kernel's rights for ours.
func (r Rights) access() uint64 {
	var a uint64
	if r&Read != 0 {
		a |= reading
	}
	if r&List != 0 {
		a |= unix.LANDLOCK_ACCESS_FS_READ_DIR
	}
	if r&Write != 0 {
		a |= writing
	}
	if r&Device != 0 {
		a |= devices
	}
	if r&Socket != 0 {
		a |= unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	}
	return a
}

func addPath(ruleset int, rule Rule, handled uint64) error {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, rule.Path, &how)
	if errors.Is(err, unix.ENOENT) {
		return nil
	} else if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rule.Rights.access() & handled, Parent_fd: int32(fd)}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		attr.Allowed_access &= onFiles
	}
	if attr.Allowed_access == 0 {
		return nil
	}
	return add(ruleset, unix.LANDLOCK_RULE_PATH_BENEATH, unsafe.Pointer(&attr))
}

// portAttr is struct landlock_net_port_attr.
type portAttr struct{ access, port uint64 }

func addPort(ruleset int, port uint16) error {
	const rulePort = 2 // LANDLOCK_RULE_NET_PORT
	attr := portAttr{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(port)}
	return add(ruleset, rulePort, unsafe.Pointer(&attr))
}

func add(ruleset int, kind uintptr, attr unsafe.Pointer) error {
	_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), kind, uintptr(attr), 0, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// String lists the rights for people.
func (r Rights) String() string {
	var words []string
	for i, word := range []string{"read", "list", "write", "device", "socket"} {
		if r&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return strings.Join(words, ",")
}
