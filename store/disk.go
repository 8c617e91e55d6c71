package store

import (
	"errors"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// DiskError says that the disk of a data root takes nothing more: what was to be saved is not. Cause is
// for logs.
type DiskError struct {
	Path     string // the data root, or the file that was being written
	ReadOnly bool   // it cannot be written at all; else it is full
	Cause    error
}

// Error says which disk it is.
func (e *DiskError) Error() string {
	if e.ReadOnly {
		return "the disk of " + e.Path + " cannot be written: " + e.Cause.Error()
	}
	return "the disk of " + e.Path + " is full: " + e.Cause.Error()
}

// Unwrap gives the cause.
func (e *DiskError) Unwrap() error { return e.Cause }

// Disk finds in err that a disk is full or cannot be written, whether a file or the registry met it. Path
// is "" where err does not tell the place.
func Disk(err error) (*DiskError, bool) {
	var known *DiskError
	if errors.As(err, &known) {
		return known, true
	}
	found := &DiskError{Cause: err}
	var file *fs.PathError
	if errors.As(err, &file) {
		found.Path = file.Path
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), registryFull(err):
		return found, true
	case errors.Is(err, syscall.EROFS), registryCode(err)&0xff == sqlite3.SQLITE_READONLY:
		found.ReadOnly = true
		return found, true
	}
	return nil, false
}

// registryFull says whether SQLite found no room: for a page, or for the index that WAL keeps beside.
func registryFull(err error) bool {
	code := registryCode(err)
	return code&0xff == sqlite3.SQLITE_FULL || code == sqlite3.SQLITE_IOERR_SHMSIZE
}

// registryCode is the code of SQLite's error in err, 0 when there is none.
func registryCode(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code()
}

// onDisk makes err tell which data root's disk it is about, if it is about one.
func (r *Root) onDisk(err error) error {
	found, ok := Disk(err)
	if !ok {
		return err
	}
	return &DiskError{Path: r.dir, ReadOnly: found.ReadOnly, Cause: err}
}
