//go:build linux || darwin

package core

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeInherited closes every descriptor above 2 that this process got from the one that started
// it, such as WebKit's. What this process opened itself is marked close-on-exec, and what passed
// an exec can't be.
func closeInherited() {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1)
	_ = dir.Close()
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd <= 2 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}
