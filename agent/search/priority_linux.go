package search

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// niceness of the updater: it yields to everything that somebody waits for.
const niceness = 15

// lowerPriority lowers the calling goroutine's thread, which stays with it and ends with it, since a
// thread cannot be raised again.
func lowerPriority() {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, niceness) // at worst it runs at normal priority
}
