// Package policy says what a confined command may write, read and reach, and nothing about how that
// is enforced: it is data that a person can read, compare and keep as JSON. Package plan turns it into
// the exact steps for one machine.
//
// Rules of precedence, the same on every system: of the paths that cover a file the longest decides
// whether it can be seen (so a project inside a denied folder is visible, and a denied file inside a
// project is not). A guard always beats the write root around it.
package policy

// Mode is what a person chooses with --sandbox.
type Mode string

// The modes, from the narrowest to none.
const (
	ModeReadOnly  Mode = "read-only"          // nothing but private temporary files can be written
	ModeWorkspace Mode = "workspace-write"    // the project, temporary files and caches can be written
	ModeFull      Mode = "danger-full-access" // no sandbox: there is no policy to make
)

// Network is how far commands reach.
type Network string

// The network modes.
const (
	NetworkAllow     Network = "allow"     // everything, as outside
	NetworkDeny      Network = "deny"      // nothing but the sandbox's own loopback
	NetworkAllowlist Network = "allowlist" // hosts that Allowed names and Denied does not, by the filtering proxy
)

// CacheMode is what becomes of writes into a cache.
type CacheMode string

// The cache modes.
const (
	CacheOverlay CacheMode = "overlay" // they go to a layer that only this workspace sees
	CacheWrite   CacheMode = "write"   // they go to the cache itself
	CacheOff     CacheMode = "off"     // they are refused
)

// Cache is a folder of downloads or build results that package managers share between projects.
type Cache struct {
	Path string    `json:"path"` // absolute
	Mode CacheMode `json:"mode"`
	// Fresh lets an empty folder of the workspace's private layer stand in while the cache does not
	// exist. Overlay only.
	Fresh bool `json:"fresh,omitempty"`
}

// Guard is a name inside write roots that stays as it is: what it holds could later run outside the
// sandbox.
type Guard struct {
	// Name is relative to a write root, with slashes, or an absolute path, which counts where a write
	// root or a cache covers it.
	Name string `json:"name"`
	// Dir says that it is a folder.
	Dir bool `json:"dir,omitempty"`
	// Deep guards the name in every folder of the tree, not only at its top. Relative names only.
	Deep bool `json:"deep,omitempty"`
	// Hold lets an empty read-only folder stand in while the name does not exist. Dir only. A missing
	// name without it is looked for after each command.
	Hold bool `json:"hold,omitempty"`
}

// Limits bound what a command may use. Zero leaves the system's own limit.
type Limits struct {
	Processes int   `json:"processes,omitempty"`  // processes and threads of all commands of a workspace
	OpenFiles int   `json:"open_files,omitempty"` // descriptors of one process
	FileSize  int64 `json:"file_size,omitempty"`  // bytes of one written file
	Memory    int64 `json:"memory,omitempty"`     // bytes of address space of one process
	Core      int64 `json:"core"`                 // bytes of a core dump; the default is none
}

// Policy is what commands of one workspace may do. The zero value is not valid: start from Defaults.
// All paths are absolute and clean; a leading "~/" is the caller's to expand (see Expand).
type Policy struct {
	// Project is the folder that commands work in. It is writable unless ReadOnly is set.
	Project string `json:"project"`
	// Write lists more writable folders.
	Write []string `json:"write,omitempty"`
	// ReadOnly leaves only temporary files and overlaid caches writable.
	ReadOnly bool `json:"read_only,omitempty"`
	// DenyRead lists files and folders that can't be read, whether they exist yet or not.
	DenyRead []string `json:"deny_read,omitempty"`
	// AllowRead lists what stays readable inside DenyRead. The last element may be a pattern as in
	// path.Match ("*.pub"); it never reveals what a longer entry of DenyRead covers.
	AllowRead []string `json:"allow_read,omitempty"`
	// Guards are the names that stay as they are inside write roots.
	Guards []Guard `json:"guards,omitempty"`
	// Caches are the package managers' folders.
	Caches []Cache `json:"caches,omitempty"`
	// Private is this workspace's own folder on disk: tmp, overlay layers. It lies outside of every
	// write root, and commands see no more of it than its tmp.
	Private string `json:"private"`
	// Network, Allowed and Denied: host patterns are exact names or "*.suffix"; Denied wins. A nil
	// Allowed means the package registries (see Registries), an empty one nothing.
	Network Network  `json:"network"`
	Allowed []string `json:"allowed"`
	Denied  []string `json:"denied,omitempty"`
	// AllowPrivate lists private networks (10.20.0.0/16) and addresses that allowed names may lead to; none
	// by default. This machine's own, link-local and metadata addresses are not among what it can allow.
	AllowPrivate []string `json:"allow_private,omitempty"`
	// SSHAgent lets commands talk to the agent that holds the person's SSH keys.
	SSHAgent bool `json:"ssh_agent,omitempty"`
	// Env lists the variables that commands inherit: "NAME", or "PREFIX*" for a family, of which
	// names that speak of a secret are left out.
	Env []string `json:"env"`
	// Limits bound each command.
	Limits Limits `json:"limits"`
	// Home is the person's home, Root Carrel's data root.
	Home string `json:"home"`
	Root string `json:"root"`
}
