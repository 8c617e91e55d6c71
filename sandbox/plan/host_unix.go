//go:build unix

package plan

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// canMake asks the system, which knows of read-only file systems too.
func canMake(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// openQuiet opens for reading, follows no link, and waits for no writer of a pipe that someone put there.
func openQuiet(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
