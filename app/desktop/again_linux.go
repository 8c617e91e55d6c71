package desktop

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// startAgain puts a new start of this program in this process's place; it returns only on failure.
func startAgain() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	closeOnExec()
	return syscall.Exec(exe, os.Args, os.Environ())
}

// closeOnExec keeps WebKit's descriptors from the process that takes this one's place.
func closeOnExec() {
	if unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	for fd := 3; fd < 4096; fd++ { // a kernel before 5.11
		unix.CloseOnExec(fd)
	}
}
