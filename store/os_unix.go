//go:build unix

package store

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// tryFlock takes a whole-file lock without waiting; errBusy when another has it.
func tryFlock(f *os.File, exclusive bool) error {
	err := flockHow(f, how(exclusive)|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errBusy
	}
	return err
}

// flock takes a whole-file lock and waits for it.
func flock(f *os.File, exclusive bool) error { return flockHow(f, how(exclusive)) }

func how(exclusive bool) int {
	if exclusive {
		return unix.LOCK_EX
	}
	return unix.LOCK_SH
}

func flockHow(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// unlock lets go of a whole-file lock. Closing the file does so too, once nobody has it.
func unlock(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// isDead reports whether there is no process of that id; 0 stands for one that is not known.
func isDead(pid int) bool { return pid > 0 && errors.Is(unix.Kill(pid, 0), unix.ESRCH) }

// ownedByUs reports whether the file belongs to the user that this process acts for.
func ownedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}

// syncDir makes a rename in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	_ = d.Close()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil // file systems that keep no order of their own to flush
	}
	return err
}
