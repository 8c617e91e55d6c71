package jail

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// capset sets the capabilities of the threads that call reaches. A thread that starts later has
// those of the thread that starts it.
func capset(head *unix.CapUserHeader, data *[2]unix.CapUserData,
	call func(trap, a1, a2, a3 uintptr) (r1, r2 uintptr, err syscall.Errno)) error {
	_, _, e := call(unix.SYS_CAPSET, uintptr(unsafe.Pointer(head)), uintptr(unsafe.Pointer(data)), 0)
	runtime.KeepAlive(head)
	runtime.KeepAlive(data)
	if e != 0 {
		return failure("drop capabilities", "", e)
	}
	return nil
}
