// Package plan turns a policy into the exact list of steps that confines one command on one machine.
// It is pure: everything that it knows of the machine is in Machine, everything that it knows of the
// files comes through Tree. It starts no process, changes nothing and reads no environment. Whoever
// executes a plan adds nothing to it and leaves nothing out; what a tier can't hold is in Unheld.
//
// Order matters: mounts are listed so that each target lies in what precedes it, and a later mount
// covers an earlier one.
package plan

import (
	"carrel/sandbox/policy"
)

// Tier is how strongly a machine can confine a command.
type Tier string

// The tiers, strongest first.
const (
	TierA Tier = "A" // own namespaces and mounts, Landlock and seccomp on top
	TierB Tier = "B" // the same through bubblewrap
	TierC Tier = "C" // Landlock and seccomp only
	TierD Tier = "D" // nothing: each command is asked for
)

// Plan is what confines one command. It can be kept as JSON.
type Plan struct {
	Tier Tier `json:"tier"`
	// Prepare lists what must exist on disk before the first mount; it is made outside the sandbox,
	// without following links.
	Prepare []Prepare `json:"prepare,omitempty"`
	// Mounts are executed in order. Every Source is opened before the first mount changes the view.
	Mounts []Mount `json:"mounts,omitempty"`
	// Access is what Landlock grants; everything else is refused.
	Access []Access `json:"access,omitempty"`
	// Watch lists mount targets whose loss ends the command: something outside replaced the file, and
	// what is there now is not guarded.
	Watch []string `json:"watch,omitempty"`
	// Absent lists names that nobody may make or replace but that can't be held, and could later run
	// outside: they are looked at when the command has ended, and may be watched while it runs.
	Absent []Absent `json:"absent,omitempty"`
	// Network is the policy's. Tiers A and B hold it by a network namespace.
	Network policy.Network `json:"network"`
	// Unix says whether commands may make Unix sockets. False is held by seccomp.
	Unix bool `json:"unix"`
	// Helper is where commands see the machine's Helper; empty where they don't, or need none.
	Helper string `json:"helper,omitempty"`
	// Env is the whole environment, sorted NAME=value; the proxy's variables come on top.
	Env []string `json:"env"`
	// Dir is where the command starts, resolved.
	Dir string `json:"dir"`
	// Write lists the writable trees, resolved: what commands can change for good.
	Write []string `json:"write"`
	// Limits are the policy's.
	Limits policy.Limits `json:"limits"`
	// Unheld says, in sentences for people, what of the policy this tier can't hold here.
	Unheld []string `json:"unheld,omitempty"`
	// Notes says, in sentences for people, what of the policy was left out and why (a cache that is a
	// symbolic link, a repository that does not know its worktree).
	Notes []string `json:"notes,omitempty"`

	key string // hash, computed once
}

// Kind says what a mount step does.
type Kind string

// The kinds of steps.
const (
	KindRoot    Kind = "root"    // the host's whole tree: read-only, no set-user-id, no devices, recursive
	KindProc    Kind = "proc"    // a fresh /proc, mounted while the old one is still visible
	KindDev     Kind = "dev"     // a fresh /dev: null zero full random urandom tty, fd links, own pts and shm; read-only
	KindTmpfs   Kind = "tmpfs"   // an empty folder in memory, with Mode; writable until sealed
	KindSeal    Kind = "seal"    // the tmpfs at Target becomes read-only; what is mounted inside does not change
	KindDir     Kind = "dir"     // a folder, with Mode, is made in the tmpfs that Target lies in
	KindLink    Kind = "link"    // a symbolic link to Link is made in the tmpfs that Target lies in
	KindRO      Kind = "ro"      // Source appears at Target, recursive, read-only
	KindRW      Kind = "rw"      // Source appears at Target, recursive, writable
	KindPin     Kind = "pin"     // the same as rw; it is there so that Target can't be renamed or removed
	KindOverlay Kind = "overlay" // Source below Upper appears at Target; writes go to Upper. One superblock per Upper at a time: mount it once and clone it
	KindMask    Kind = "mask"    // Target can't be read: an empty folder of mode 0 if Dir, else a node that can't be opened
)

// Mount is one step. Where Target lies in a tmpfs of the plan, its last element is made for the mount (a
// folder, or an empty file unless Dir); everywhere else it exists. No path of a plan leads through a
// symbolic link; a step that meets one has been tampered with and fails.
type Mount struct {
	Kind   Kind   `json:"kind"`
	Source string `json:"source,omitempty"` // path on the host: of ro, rw, pin, and the lower folder of overlay
	Target string `json:"target"`
	Dir    bool   `json:"dir,omitempty"` // Source and Target are folders
	Upper  string `json:"upper,omitempty"`
	Work   string `json:"work,omitempty"`
	Mode   uint32 `json:"mode,omitempty"` // permission bits of tmpfs and dir
	Link   string `json:"link,omitempty"`
	Why    string `json:"why"`
}

// Prepare is a folder or small file on disk that must exist before the mounts.
type Prepare struct {
	Path string `json:"path"`
	Text string `json:"text,omitempty"` // content of a file; it is rewritten when it differs
	Dir  bool   `json:"dir,omitempty"`
	Mode uint32 `json:"mode"`
	// Stand says that it stands in for a missing guard, inside a folder of the user's: it is made one
	// level deep, never over anything, and may be removed while empty when no command of any sandbox
	// runs there any more.
	Stand bool `json:"stand,omitempty"`
}

// Absent is a name that must be after the command what it was before.
type Absent struct {
	Path string `json:"path"`
	// Link is the target of the symbolic link that the name is now; empty says that it does not exist.
	Link string `json:"link,omitempty"`
	Why  string `json:"why"`
}

// Rights are what Landlock grants below a path, or of a file.
type Rights uint8

// The rights.
const (
	Read   Rights = 1 << iota // read files, list folders, execute
	Write                     // write, truncate, make, remove, rename and link
	Device                    // ioctl on a device
	List                      // list folders, no more
	Socket                    // connect to Unix sockets of programs outside; where Landlock knows of them (ABI 9)
)

// Access is one grant.
type Access struct {
	Path   string `json:"path"`
	Rights Rights `json:"rights"`
	Dir    bool   `json:"dir,omitempty"` // Path is a folder: rights that only folders have may be asked for
	Why    string `json:"why"`
}

// Command is what is to be confined.
type Command struct {
	Dir  string   // where it starts; the project when empty
	Env  []string // the environment (NAME=value) that the policy filters
	Set  []string // variables on top that a person gave to the workspace: they pass as they are
	Tier Tier     // the best that the machine has when empty
	// Proxy is the port of the filtering proxy on 127.0.0.1, which Seatbelt names in its profile.
	Proxy int
}

// Make computes the plan. Errors say what in the policy can't be held or does not exist; *Unavailable
// says that the machine lacks the tier.
func Make(p policy.Policy, m Machine, t Tree, c Command) (Plan, error) {
	return NewCache().Make(p, m, t, c)
}
