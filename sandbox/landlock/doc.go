// Package landlock restricts one thread, and what it starts, to listed files and ports.
//
// It promises: what was asked for is enforced or an error says what the kernel lacks. Files are named by descriptors that no symbolic link can turn
// elsewhere. Restrictions are inherited and can't be lifted.
//
// It does not hold (no kernel does, yet): changing modes, times and attributes, and seeing that a
// path exists; before version 9, connecting to sockets that have a name in the file system.
package landlock

// Rights is what a command may do at a path and below it.
type Rights uint8

const (
	// Read reads and runs files, and lists directories.
	Read Rights = 1 << iota
	// List lists directories and no more.
	List
	// Write writes, creates, renames, links and removes; not device nodes.
	Write
	// Device uses a device node with its controls.
	Device
	// Socket connects to Unix sockets that something outside listens on. From version 9 on it needs
	// this right; before, whoever can make a socket can do it anywhere.
	Socket
)

// Rule grants rights below a path, which must be free of symbolic links.
type Rule struct {
	Path   string
	Rights Rights
}

// Ruleset is everything that remains allowed.
type Ruleset struct {
	Rules []Rule
	// Ports restricts outgoing TCP to Connect; it needs version 4 of the kernel's interface.
	Ports bool
	// Connect are the ports that may be reached, at any address: Landlock knows no addresses.
	Connect []uint16
	// Scope keeps signals and abstract Unix sockets inside; it needs version 6.
	Scope bool
	// Light leaves reading and truncating alone, for where mounts hold them. Of everything that is opened
	// the kernel then need not look at the folders above, which takes a third of the time of opening it:
	// for each open file it finds out beforehand whether it may be truncated.
	Light bool
}
