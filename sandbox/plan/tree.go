package plan

import (
	"io/fs"
	"time"
)

// Entry is one name in a folder.
type Entry struct {
	Name string
	Type fs.FileMode // the type bits
	// The rest is set by Lstat only.
	Inode   uint64 // 0 where the system has none
	ModTime time.Time
}

// IsDir reports a folder.
func (e Entry) IsDir() bool { return e.Type.IsDir() }

// Tree is what a plan sees of the files. Implementations follow no symbolic link in the last element
// and bound what they return.
type Tree interface {
	// Lstat describes a name; an absent one is fs.ErrNotExist.
	Lstat(path string) (Entry, error)
	// ReadDir lists a folder, sorted; at most MaxEntries, then ErrTooMany.
	ReadDir(path string) ([]Entry, error)
	// Readlink returns the target of a link as it is written.
	Readlink(path string) (string, error)
	// CanMake reports whether the caller may make names in a folder.
	CanMake(dir string) bool
	// ReadFile returns a regular file of at most limit bytes, else ErrTooMany.
	ReadFile(path string, limit int) ([]byte, error)
}

// Bounds of a Tree.
const (
	MaxEntries = 20_000  // names in one folder
	maxFile    = 1 << 16 // bytes of a .git file or a git configuration
)

// treeError is a sentinel that compares by identity.
type treeError string

func (e treeError) Error() string { return string(e) }

// ErrTooMany says that a folder or a file is larger than anyone reads here.
const ErrTooMany = treeError("too large to look at")
