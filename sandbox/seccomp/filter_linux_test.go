package seccomp

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const (
	allow = uint32(unix.SECCOMP_RET_ALLOW)
	kill  = uint32(unix.SECCOMP_RET_KILL_PROCESS)
	eperm = uint32(unix.SECCOMP_RET_ERRNO) | uint32(unix.EPERM)
	nosys = uint32(unix.SECCOMP_RET_ERRNO) | uint32(unix.ENOSYS)

	noproto = uint32(unix.SECCOMP_RET_ERRNO) | uint32(unix.EPROTONOSUPPORT)
)

// judge runs the filter over one call, in the byte order that the simulation reads.
func judge(t *testing.T, r Rules, arch, nr uint32, args ...uint64) uint32 {
	t.Helper()
	raw, err := Program(r)
	if err != nil {
		t.Fatal(err)
	}
	code, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatal("the filter has instructions that can't be read back")
	}
	vm, err := bpf.NewVM(code)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[0:], nr)
	binary.BigEndian.PutUint32(data[4:], arch)
	for i, a := range args {
		binary.BigEndian.PutUint32(data[16+8*i:], uint32(a))
		binary.BigEndian.PutUint32(data[20+8*i:], uint32(a>>32))
	}
	got, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

// judged is one call and what the filter should say.
type judged struct {
	name string
	r    Rules
	nr   uint32
	args []uint64
	want uint32
}

func check(t *testing.T, cases []judged) {
	t.Helper()
	for _, c := range cases {
		if got := judge(t, c.r, auditArch, c.nr, c.args...); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
}

func TestFilterJudgesCalls(t *testing.T) {
	all, tcp := Rules{Unix: true}, Rules{Inet: InetTCP}
	check(t, []judged{
		{"read", all, unix.SYS_READ, nil, allow},
		{"getpid", all, unix.SYS_GETPID, nil, allow},
		{"execve", tcp, unix.SYS_EXECVE, nil, allow},
		{"mount", all, unix.SYS_MOUNT, nil, eperm},
		{"open_tree_attr", all, unix.SYS_OPEN_TREE_ATTR, nil, eperm},
		{"bpf", all, unix.SYS_BPF, nil, eperm},
		{"keyctl", all, unix.SYS_KEYCTL, nil, eperm},
		{"handle", all, unix.SYS_OPEN_BY_HANDLE_AT, nil, eperm},
		{"setns", all, unix.SYS_SETNS, nil, eperm},
		{"io_uring", all, unix.SYS_IO_URING_SETUP, nil, nosys},
		{"clone3", all, unix.SYS_CLONE3, nil, nosys},
		{"x32", all, 0x40000000 | unix.SYS_READ, nil, nosys},
		{"clone for a thread", all, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_THREAD}, allow},
		{"clone for a fork", all, unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, allow},
		{"clone a user namespace", all, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, eperm},
		{"unshare files", all, unix.SYS_UNSHARE, []uint64{unix.CLONE_FILES}, allow},
		{"unshare time", all, unix.SYS_UNSHARE, []uint64{unix.CLONE_NEWTIME}, eperm},
		{"TIOCSTI", all, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, eperm},
		{"TIOCSTI with high bits", all, unix.SYS_IOCTL, []uint64{0, 1<<32 | unix.TIOCSTI}, eperm},
		{"TIOCLINUX", all, unix.SYS_IOCTL, []uint64{0, tioclinux}, eperm},
		{"window size", all, unix.SYS_IOCTL, []uint64{0, unix.TIOCGWINSZ}, allow},
	})
}

func TestFilterJudgesSockets(t *testing.T) {
	all, own := Rules{Unix: true}, Rules{Unix: true, Inet: InetOwn}
	tcp, none := Rules{Inet: InetTCP}, Rules{Inet: InetNone}
	const in, in6, un, nl = unix.AF_INET, unix.AF_INET6, unix.AF_UNIX, unix.AF_NETLINK
	check(t, []judged{
		{"udp in a namespace", all, unix.SYS_SOCKET, []uint64{in, unix.SOCK_DGRAM}, allow},
		{"unix", all, unix.SYS_SOCKET, []uint64{un, unix.SOCK_STREAM}, allow},
		{"unix refused", tcp, unix.SYS_SOCKET, []uint64{un, unix.SOCK_STREAM}, eperm},
		{"unix pair", tcp, unix.SYS_SOCKETPAIR, []uint64{un, unix.SOCK_STREAM}, allow},
		{"vsock", all, unix.SYS_SOCKET, []uint64{unix.AF_VSOCK, unix.SOCK_STREAM}, eperm},
		{"packet", all, unix.SYS_SOCKET, []uint64{unix.AF_PACKET, unix.SOCK_RAW}, eperm},
		{"routes", none, unix.SYS_SOCKET, []uint64{nl, unix.SOCK_RAW, unix.NETLINK_ROUTE}, allow},
		{"audit", all, unix.SYS_SOCKET, []uint64{nl, unix.SOCK_RAW, unix.NETLINK_AUDIT}, eperm},
		{"tcp", tcp, unix.SYS_SOCKET, []uint64{in, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow},
		{"tcp6", tcp, unix.SYS_SOCKET, []uint64{in6, unix.SOCK_STREAM, unix.IPPROTO_TCP}, allow},
		{"udp", tcp, unix.SYS_SOCKET, []uint64{in, unix.SOCK_DGRAM}, eperm},
		{"udp6", tcp, unix.SYS_SOCKET, []uint64{in6, unix.SOCK_DGRAM | unix.SOCK_NONBLOCK}, eperm},
		{"raw", tcp, unix.SYS_SOCKET, []uint64{in, unix.SOCK_RAW, unix.IPPROTO_ICMP}, eperm},
		{"mptcp", tcp, unix.SYS_SOCKET, []uint64{in, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, noproto},
		{"mptcp in a namespace", own, unix.SYS_SOCKET, []uint64{in, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, noproto},
		{"sctp", all, unix.SYS_SOCKET, []uint64{in6, unix.SOCK_STREAM, unix.IPPROTO_SCTP}, noproto},
		{"sctp messages", own, unix.SYS_SOCKET, []uint64{in, unix.SOCK_SEQPACKET, unix.IPPROTO_SCTP}, eperm},
		{"udp by number", own, unix.SYS_SOCKET, []uint64{in6, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC, unix.IPPROTO_UDP}, allow},
		{"udplite", own, unix.SYS_SOCKET, []uint64{in, unix.SOCK_DGRAM, unix.IPPROTO_UDPLITE}, noproto},
		{"ping", all, unix.SYS_SOCKET, []uint64{in, unix.SOCK_DGRAM, unix.IPPROTO_ICMP}, allow},
		{"ping in a namespace", own, unix.SYS_SOCKET, []uint64{in, unix.SOCK_DGRAM, unix.IPPROTO_ICMP}, noproto},
		{"raw in a namespace", own, unix.SYS_SOCKET, []uint64{in, unix.SOCK_RAW, unix.IPPROTO_ICMP}, eperm},
		{"routes beside tcp", tcp, unix.SYS_SOCKET, []uint64{nl, unix.SOCK_RAW, unix.NETLINK_ROUTE}, allow},
		{"fast open", tcp, unix.SYS_SENDTO, []uint64{3, 0, 0, unix.MSG_FASTOPEN}, eperm},
		{"fast open by message", tcp, unix.SYS_SENDMSG, []uint64{3, 0, unix.MSG_FASTOPEN | 1}, eperm},
		{"fast open by messages", tcp, unix.SYS_SENDMMSG, []uint64{3, 0, 0, unix.MSG_FASTOPEN}, eperm},
		{"send", tcp, unix.SYS_SENDTO, []uint64{3, 0, 0, unix.MSG_NOSIGNAL}, allow},
		{"tcp without a network", none, unix.SYS_SOCKET, []uint64{in, unix.SOCK_STREAM}, eperm},
	})
}

func TestAnotherArchitectureIsKilled(t *testing.T) { // L103
	for _, arch := range []uint32{unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM, 0} {
		if got := judge(t, Rules{Unix: true}, arch, unix.SYS_READ); got != kill {
			t.Errorf("architecture %#x: %#x", arch, got)
		}
	}
}
