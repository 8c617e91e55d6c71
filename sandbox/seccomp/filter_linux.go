package seccomp

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data. Both architectures are little endian: the low word of an
// argument comes first.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// typeMask leaves SOCK_CLOEXEC and SOCK_NONBLOCK out of a socket's type.
const typeMask = 0xf

// tioclinux pastes the selection of a console into its input.
const tioclinux = 0x541C

// refused are the calls that no command needs and that reach around another layer.
var refused = []uint32{
	// Keys of the person's session are shared with every process of the user.
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	// Parts of the kernel with a history of holes.
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_LOOKUP_DCOOKIE,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE,
	unix.SYS_DELETE_MODULE, unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_SWAPON,
	unix.SYS_SWAPOFF, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	// Mounts are the sandbox.
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_OPEN_TREE_ATTR, unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_FSCONFIG,
	unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS, unix.SYS_CHROOT,
	// A handle opens a file below any mount that is visible.
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
}

// absent are the calls that programs try and do without.
var absent = []uint32{
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_CLONE3, // its flags lie in memory: callers fall back to clone
	unix.SYS_LISTNS,
}

// namespaces are the flags of clone and unshare that make one.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// assembler collects a filter. The number of the call is in the register between its parts.
type assembler struct{ code []bpf.Instruction }

func errno(e unix.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(e)}
}

func argument(n uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offArgs + 8*n, Size: 4} }

// refuse answers each of the calls with e.
func (a *assembler) refuse(e unix.Errno, calls ...uint32) {
	for _, nr := range calls {
		a.code = append(a.code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: nr, SkipFalse: 1}, errno(e))
	}
}

// on runs body for one call; body falls through where it has nothing against it.
func (a *assembler) on(call uint32, body ...bpf.Instruction) {
	body = append(body, bpf.LoadAbsolute{Off: offNumber, Size: 4})
	a.code = append(a.code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: call, SkipFalse: uint8(len(body))})
	a.code = append(a.code, body...)
}

// unless refuses when the register is none of the values.
func unless(values ...uint32) []bpf.Instruction {
	var body []bpf.Instruction
	for i, v := range values {
		body = append(body, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(len(values) - i)})
	}
	return append(body, errno(unix.EPERM))
}

// bits refuses the call when one of the bits is set in its argument n.
func (a *assembler) bits(call, n, bits uint32) {
	a.on(call, argument(n), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: bits, SkipFalse: 1}, errno(unix.EPERM))
}

// Program gives the filter for the architecture that this program was built for.
func Program(r Rules) ([]bpf.RawInstruction, error) {
	a := &assembler{code: []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
		// x32 on amd64; no call of arm64 has such a number.
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: 0x40000000, SkipFalse: 1},
		errno(unix.ENOSYS),
	}}
	a.refuse(unix.ENOSYS, absent...)
	a.refuse(unix.EPERM, refused...)
	a.bits(unix.SYS_UNSHARE, 0, namespaces|unix.CLONE_NEWTIME)
	a.bits(unix.SYS_CLONE, 0, namespaces) // CLONE_NEWTIME is part of clone's exit signal
	a.on(unix.SYS_IOCTL, argument(1),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.TIOCSTI, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: tioclinux, SkipFalse: 1},
		errno(unix.EPERM))
	a.sockets(r)
	a.spare(r.Starter)
	a.code = append(a.code, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
	return bpf.Assemble(a.code)
}

// spare refuses every signal to one thread. Landlock lets them pass to whoever has the same rules.
func (a *assembler) spare(thread int) {
	if thread <= 0 {
		return
	}
	for call, at := range map[uint32]uint32{unix.SYS_KILL: 0, unix.SYS_TKILL: 0, unix.SYS_TGKILL: 1,
		unix.SYS_RT_SIGQUEUEINFO: 0, unix.SYS_RT_TGSIGQUEUEINFO: 1, unix.SYS_PIDFD_OPEN: 0} {
		a.on(call, argument(at), bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(thread), SkipFalse: 1}, errno(unix.EPERM))
	}
}

// sockets says which sockets there are.
func (a *assembler) sockets(r Rules) {
	families := []uint32{unix.AF_NETLINK}
	if r.Inet != InetNone {
		families = append(families, unix.AF_INET, unix.AF_INET6)
	}
	if r.Unix {
		families = append(families, unix.AF_UNIX)
	}
	a.on(unix.SYS_SOCKET, append([]bpf.Instruction{argument(0)}, unless(families...)...)...)
	a.on(unix.SYS_SOCKETPAIR, append([]bpf.Instruction{argument(0)}, unless(unix.AF_UNIX)...)...)
	if !r.Unix { // a datagram socket sends to any name, though it was made as one of a pair
		a.on(unix.SYS_SOCKETPAIR, append([]bpf.Instruction{argument(1), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: typeMask}},
			unless(unix.SOCK_STREAM, unix.SOCK_SEQPACKET)...)...)
	}
	// Of netlink only routes and addresses, which resolvers and language runtimes ask for.
	a.on(unix.SYS_SOCKET, argument(0),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_NETLINK, SkipFalse: 3},
		argument(2),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.NETLINK_ROUTE, SkipTrue: 1},
		errno(unix.EPERM))
	a.protocols(r.Inet)
	if r.Inet == InetTCP {
		a.bits(unix.SYS_SENDTO, 3, unix.MSG_FASTOPEN)
		a.bits(unix.SYS_SENDMSG, 2, unix.MSG_FASTOPEN)
		a.bits(unix.SYS_SENDMMSG, 3, unix.MSG_FASTOPEN)
	}
}

// protocols leaves the few that programs use: each of the others is code of the kernel that nobody
// needs to reach, and MPTCP is one that Landlock's port rules don't see. Programs that try MPTCP
// take the answer for a kernel without it.
func (a *assembler) protocols(inet Inet) {
	datagrams := []uint32{0, unix.IPPROTO_UDP}
	switch inet {
	case InetOpen:
		datagrams = append(datagrams, unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6)
	case InetTCP:
		datagrams = nil
	case InetOwn, InetNone:
	}
	stream := among(unix.EPROTONOSUPPORT, 0, unix.IPPROTO_TCP)
	datagram := []bpf.Instruction{errno(unix.EPERM)}
	if datagrams != nil {
		datagram = among(unix.EPROTONOSUPPORT, datagrams...)
	}
	body := []bpf.Instruction{argument(1),
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: typeMask},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_STREAM, SkipFalse: uint8(len(stream) + 1)}}
	body = append(body, stream...)
	body = append(body, bpf.Jump{Skip: uint32(len(datagram) + 2)},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_DGRAM, SkipTrue: 1}, errno(unix.EPERM))
	body = append(body, datagram...)
	a.on(unix.SYS_SOCKET, append([]bpf.Instruction{argument(0),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET6, SkipFalse: uint8(len(body))}}, body...)...)
}

// among answers with e when the protocol, a socket's third argument, is none of the values.
func among(e unix.Errno, values ...uint32) []bpf.Instruction {
	body := []bpf.Instruction{argument(2)}
	for i, v := range values {
		body = append(body, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(len(values) - i)})
	}
	return append(body, errno(e))
}

// Install puts the filter on the calling thread, which must be locked to its goroutine and have
// no_new_privs set; what it starts inherits the filter. It can't be taken off again.
func Install(r Rules) error {
	raw, err := Program(r)
	if err != nil {
		return fmt.Errorf("assemble system call filter: %w", err)
	}
	code := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		code[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(code)
	if e != 0 {
		return fmt.Errorf("install system call filter: %w", e)
	}
	return nil
}

// Available reports whether the kernel takes filters.
func Available() bool {
	// A null filter is refused with EFAULT where filters exist, with EINVAL where they don't.
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, 0)
	return e == unix.EFAULT
}
