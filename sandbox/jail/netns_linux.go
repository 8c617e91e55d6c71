package jail

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// loopback is the index of the interface lo in a fresh network namespace.
const loopback = 1

// ifreq is struct ifreq as SIOCSIFFLAGS reads it.
type ifreq struct {
	name  [unix.IFNAMSIZ]byte
	flags uint16
	_     [22]byte
}

// RaiseLoopback switches lo on in the calling thread's network namespace.
func RaiseLoopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return failure("raise loopback", "lo", err)
	}
	defer func() { _ = unix.Close(s) }()
	r := ifreq{flags: unix.IFF_UP | unix.IFF_RUNNING}
	copy(r.name[:], "lo")
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(s), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&r))); e != 0 {
		return failure("raise loopback", "lo", e)
	}
	return nil
}

// captureAll makes every address one of this network namespace, so that listeners on the wildcard
// address get what programs send anywhere. IPv6 may be switched off in the kernel.
func captureAll() error {
	if err := addOutwardAddress(); err != nil {
		return failure("add an address to loopback", "lo", err)
	}
	if err := RouteToSelf(unix.AF_INET); err != nil {
		return failure("route every address to loopback", "IPv4", err)
	}
	err := RouteToSelf(unix.AF_INET6)
	if err != nil && !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EAFNOSUPPORT) {
		return failure("route every address to loopback", "IPv6", err)
	}
	return nil
}

// addOutwardAddress gives lo an address that is none of the loopback's, one that is kept for
// documentation: with loopback addresses alone, resolvers that are asked for usable ones
// (AI_ADDRCONFIG) find no name at all.
func addOutwardAddress() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(s) }()
	r, err := unix.NewIfreq("lo:1")
	if err != nil {
		return err
	}
	if err := r.SetInet4Addr([]byte{192, 0, 2, 1}); err != nil {
		return err
	}
	return unix.IoctlIfreq(s, unix.SIOCSIFADDR, r)
}

// RouteToSelf is, for a family of addresses (unix.AF_INET): ip route add local default dev lo. Servers of the
// network namespace, which must be a fresh one, then answer at every address.
func RouteToSelf(family uint8) error {
	s, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(s) }()
	const size = unix.SizeofNlMsghdr + unix.SizeofRtMsg + unix.SizeofRtAttr + 4
	b := make([]byte, 0, size)
	le := binary.NativeEndian
	b = le.AppendUint32(b, size)
	b = le.AppendUint16(b, unix.RTM_NEWROUTE)
	b = le.AppendUint16(b, unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE)
	b = le.AppendUint32(b, 1) // sequence
	b = le.AppendUint32(b, 0) // to the kernel
	// struct rtmsg: family, prefix lengths, type of service, table, protocol, scope, type, flags
	b = append(b, family, 0, 0, 0, unix.RT_TABLE_LOCAL, unix.RTPROT_STATIC, unix.RT_SCOPE_HOST, unix.RTN_LOCAL)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint16(b, unix.SizeofRtAttr+4)
	b = le.AppendUint16(b, unix.RTA_OIF)
	b = le.AppendUint32(b, loopback)
	if err := unix.Sendto(s, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 1024)
	n, _, err := unix.Recvfrom(s, answer, 0)
	if err != nil {
		return err
	}
	if n < unix.SizeofNlMsghdr+4 {
		return unix.EBADMSG
	}
	if code := int32(le.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}

// listenAll opens sockets, and says which.
func listenAll(want []Endpoint) (fds []int, have []Endpoint, err error) {
	for _, e := range want {
		fd, err := listen(e)
		if err != nil && e.Optional {
			continue
		}
		if err != nil {
			CloseAll(fds)
			return nil, nil, err
		}
		fds, have = append(fds, fd), append(have, e)
	}
	return fds, have, nil
}

// listen opens one listening socket; "[::]:80" takes IPv4 too, and is IPv4 alone without IPv6.
func listen(e Endpoint) (int, error) {
	at, err := netip.ParseAddrPort(e.Address)
	if err != nil {
		return -1, failure("listen", e.Address, err)
	}
	fd, err := bind(at, e.UDP)
	if errors.Is(err, unix.EAFNOSUPPORT) && at.Addr() == netip.IPv6Unspecified() {
		fd, err = bind(netip.AddrPortFrom(netip.IPv4Unspecified(), at.Port()), e.UDP)
	}
	if err != nil {
		return -1, failure("listen", e.Address, err)
	}
	return fd, nil
}

func bind(at netip.AddrPort, udp bool) (int, error) {
	kind := unix.SOCK_STREAM
	if udp {
		kind = unix.SOCK_DGRAM
	}
	fd, err := unix.Socket(family(at.Addr()), kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if !udp {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if err == nil && udp { // a name server's address is nobody's here
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_FREEBIND, 1)
	}
	if err == nil && at.Addr() == netip.IPv6Unspecified() {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0)
	}
	if err == nil {
		err = unix.Bind(fd, sockaddr(at))
	}
	if err == nil && !udp {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func family(a netip.Addr) int {
	if a.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

func sockaddr(at netip.AddrPort) unix.Sockaddr {
	if at.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
}

// dialTimeout bounds a connection to the loopback: only a full queue makes one wait.
const dialTimeout = 2 * time.Second

// dial connects to a port of this namespace's loopback, IPv4 first.
func dial(port int) ([]int, error) {
	if port < 1 || port > 65535 {
		return nil, failure("dial", fmt.Sprint(port), unix.EINVAL)
	}
	var last error
	for _, a := range []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
		fd, err := connect(netip.AddrPortFrom(a, uint16(port)))
		if err == nil {
			return []int{fd}, nil
		}
		if last == nil || !errors.Is(err, unix.EAFNOSUPPORT) {
			last = err
		}
	}
	return nil, failure("dial", fmt.Sprint(port), last)
}

func connect(at netip.AddrPort) (int, error) {
	fd, err := unix.Socket(family(at.Addr()), unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	err = unix.Connect(fd, sockaddr(at))
	if errors.Is(err, unix.EINPROGRESS) {
		err = connected(fd)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// connected waits for a connection that is under way.
func connected(fd int) error {
	polls := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	for end := time.Now().Add(dialTimeout); ; {
		left := time.Until(end)
		if left <= 0 {
			return unix.ETIMEDOUT
		}
		n, err := unix.Poll(polls, int(left.Milliseconds())+1)
		if errors.Is(err, unix.EINTR) || err == nil && n == 0 {
			continue
		}
		if err != nil {
			return err
		}
		code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if err == nil && code != 0 {
			err = unix.Errno(code)
		}
		return err
	}
}
