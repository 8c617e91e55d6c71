//go:build unix

package plan

import (
	"io/fs"
	"os"
	"syscall"
)

// inode identifies a file while it exists.
func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}

// openQuiet opens for reading, follows no link, and waits for no writer of a pipe that someone put there.
func openQuiet(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
