package workspaces

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// niceness of background work: it yields to everything that somebody waits for.
const niceness = 15

// lowerPriority lowers the calling goroutine's thread, and with it the processes that it starts. The
// thread stays with the goroutine and ends with it, since a thread cannot be raised again.
func lowerPriority() {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, niceness) // at worst it runs at normal priority
}
