package plan

import (
	"fmt"
	"slices"
)

// Version is a program's version; the zero value says that it is not there.
type Version struct {
	Major int `json:"major"`
	Minor int `json:"minor"`
	Patch int `json:"patch"`
}

// AtLeast compares versions.
func (v Version) AtLeast(major, minor, patch int) bool {
	switch {
	case v.Major != major:
		return v.Major > major
	case v.Minor != minor:
		return v.Minor > minor
	}
	return v.Patch >= patch
}

// String is "1.2.3", or "none".
func (v Version) String() string {
	if v == (Version{}) {
		return "none"
	}
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// Machine is what a machine can enforce, as probed; nothing in this package looks by itself.
type Machine struct {
	UserNS   bool    `json:"user_ns"`  // the helper can make and use user namespaces
	NetNS    bool    `json:"net_ns"`   // and network namespaces in them
	Overlay  bool    `json:"overlay"`  // and mount overlays in them
	Landlock int     `json:"landlock"` // ABI; 0 without
	Errata   int     `json:"errata"`   // Landlock's bit mask of mended errors
	Bwrap    Version `json:"bwrap"`
	OldBwrap bool    `json:"old_bwrap,omitempty"` // tests only: take a bubblewrap that is too old
	Seccomp  bool    `json:"seccomp"`
	Root     bool    `json:"root"` // the caller is the machine's root
	UID      int     `json:"uid"`
	GID      int     `json:"gid"`
	// Helper is the absolute path of the program that ssh goes through to the proxy where nothing is
	// captured; empty leaves ssh out.
	Helper string `json:"helper,omitempty"`
	// Sockets lists the pathname Unix sockets that someone listens on now.
	Sockets []string `json:"sockets,omitempty"`
	// Mounts are the machine's mount points: what is denied at one place must not show at another.
	Mounts []MountPoint `json:"mounts,omitempty"`
}

// equal reports whether a plan for one machine is a plan for the other.
func (m Machine) equal(n Machine) bool {
	return m.UserNS == n.UserNS && m.NetNS == n.NetNS && m.Overlay == n.Overlay && m.Landlock == n.Landlock && m.Errata == n.Errata &&
		m.Bwrap == n.Bwrap && m.OldBwrap == n.OldBwrap && m.Seccomp == n.Seccomp && m.Root == n.Root && m.UID == n.UID && m.GID == n.GID && m.Helper == n.Helper &&
		slices.Equal(m.Sockets, n.Sockets) && slices.Equal(m.Mounts, n.Mounts)
}

// Unavailable says that a machine can't enforce a tier, or a policy in it, and what would mend that.
type Unavailable struct {
	Tier Tier
	Why  string // "user namespaces are refused"
	Mend string // what to do; may be empty
}

// Error is one sentence without the mend.
func (e *Unavailable) Error() string { return fmt.Sprintf("plan tier %s: %s", e.Tier, e.Why) }
