package git

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// maxGitFile bounds the small files of a git folder that are read here, in bytes. Configurations are
// the largest of them.
const maxGitFile = 1 << 20

// readFile reads a small file of a repository. Anything but a plain file is refused without waiting for
// it: a pipe would hold the reader for ever, a device or a sparse file would fill the memory.
func readFile(path string) ([]byte, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, maxGitFile+1))
	if err == nil && len(text) > maxGitFile {
		err = fmt.Errorf("read %q: larger than %d KiB", path, maxGitFile>>10)
	}
	return text, err
}

// openFile opens a plain file of a repository for reading, and nothing else.
func openFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("read %q: not a plain file", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
