//go:build unix

package sandbox

import (
	"os"
	"syscall"
)

// rootOwns reports that nobody but root can change the file.
func rootOwns(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == 0 && info.Mode().Perm()&0o022 == 0
}
