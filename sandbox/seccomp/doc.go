// Package seccomp writes and installs the system call filter of sandboxed commands: 80 lines of
// classic BPF that can be read, for the two architectures that Carrel runs on.
//
// It promises: another architecture's system calls kill the process, x32 does not exist, and what
// would reach around mounts, namespaces or socket rules (the mount family, namespaces, io_uring,
// kernel keys, BPF, handles, pushing characters into a terminal, sockets of unknown families) is
// refused. Arguments that the kernel reads as 32 bits are compared as 32 bits. Nothing that lies
// in memory is judged: a filter can't trust it, so such calls are refused whole or left to the
// other layers.
package seccomp

// Inet is which internet sockets a command may make.
type Inet int

const (
	// InetOpen lets TCP, UDP and ping through: nothing restricts the network.
	InetOpen Inet = iota
	// InetOwn lets TCP and UDP through, which a network namespace of its own holds.
	InetOwn
	// InetTCP lets plain TCP through alone, for Landlock knows nothing else: not even Fast Open,
	// which connects without connect(2).
	InetTCP
	// InetNone refuses internet sockets.
	InetNone
)

// Rules is what differs between filters.
type Rules struct {
	Inet Inet
	// Unix allows sockets of the family AF_UNIX; pairs of them are always allowed.
	Unix bool
	// Starter is the thread, if any, that has the filter itself and starts the commands: they must not
	// signal it, which would end its whole process.
	Starter int
}
