package core

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"carrel/app/attach"
	"carrel/store"
)

// logFile is logs/core.log. When it has grown to 8 MiB it becomes core.log.1, and standard output
// and error, where a panic goes, follow to the new one.
type logFile struct {
	root *store.Root
	max  int64

	mu   sync.Mutex
	file *os.File
	size int64
}

func openLogFile(root *store.Root) (*logFile, error) {
	l := &logFile{root: root, max: attach.MaxLog}
	return l, l.open()
}

func (l *logFile) open() error {
	f, err := attach.OpenLog(l.root)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return err
	}
	if l.file != nil {
		_ = l.file.Close()
	}
	l.file, l.size = f, info.Size()
	return redirectOutput(f)
}

// Write implements io.Writer. A log that can't be rotated goes on in the old file.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > l.max {
		if err := os.Rename(l.file.Name(), l.file.Name()+".1"); err == nil {
			_ = l.open() // else the renamed file goes on being written
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}

// Empty empties the file and removes the one before it.
func (l *logFile) Empty() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := os.Remove(l.file.Name() + ".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := l.file.Truncate(0); err != nil { // it is appended to, so that the next line comes first
		return err
	}
	l.size = 0
	return nil
}

// Close closes the file.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
