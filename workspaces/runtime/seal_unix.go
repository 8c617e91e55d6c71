//go:build unix

package runtime

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// keepDescriptors marks every descriptor above 2 close-on-exec. They are not closed: an argument such as
// /dev/fd/63 may still be read.
func keepDescriptors() error {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return fmt.Errorf("list open files: %w", err)
	}
	names, err := dir.Readdirnames(-1)
	_ = dir.Close() // only read
	if err != nil {
		return fmt.Errorf("list open files: %w", err)
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
