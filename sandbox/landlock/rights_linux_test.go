package landlock

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A kernel refuses rights that it does not know, so that each is asked for from its version on.
func TestOnlyKnownRightsAreHandled(t *testing.T) {
	for right, since := range map[uint64]int{
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE: 2, unix.LANDLOCK_ACCESS_FS_TRUNCATE: 3, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV: 5,
		unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX: 9,
	} {
		for version := MinAny; version < 12; version++ {
			if got := (Ruleset{}).handled(version)&right != 0; got != (version >= since) {
				t.Errorf("right %#x in version %d: %v", right, version, got)
			}
		}
	}
	if a := Socket.access(); a != unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX || a&onFiles != a {
		t.Errorf("%#x is not what names a socket", a)
	}
	if a := (Read | Write | List | Device).access(); a&unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX != 0 {
		t.Errorf("%#x connects to sockets", a)
	}
	if s := (Read | Socket).String(); s != "read,socket" {
		t.Error(s)
	}
}
