//go:build unix

package git

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLockDir takes the lock of a folder, which ends with the process too. busy says that another has
// it. Where the file system has no locks it goes without.
func tryLockDir(dir string) (unlock func(), busy bool) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}, false // whoever works there will say what is wrong
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close() // only read
		return func() {}, errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR)
	}
	return func() {
		_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // closing is not enough while a process is being started
		_ = f.Close()
	}, false
}
