package jail

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// capset empties the capability sets of the threads that call reaches. A thread that starts later
// has those of the thread that starts it.
func capset(call func(trap, a1, a2, a3 uintptr) (r1, r2 uintptr, err syscall.Errno)) error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	var pin runtime.Pinner // stacks move
	pin.Pin(&head)
	pin.Pin(&none)
	defer pin.Unpin()
	_, _, e := call(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&none)), 0)
	if e != 0 {
		return failure("drop capabilities", "", e)
	}
	return nil
}
