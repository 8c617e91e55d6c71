package core

import (
	"os"

	"golang.org/x/sys/unix"
)

// redirectOutput makes f the process's standard output and error.
func redirectOutput(f *os.File) error {
	for _, fd := range []int{1, 2} {
		if err := unix.Dup2(int(f.Fd()), fd); err != nil {
			return err
		}
	}
	return nil
}
