//go:build !unix

package store

import (
	"errors"
	"io/fs"
	"os"
)

// errNoLocks says that this system has no file locks that we know. Without them two processes
// could write one root, so nothing opens.
var errNoLocks = errors.New("file locks are not supported on this system")

func isDead(int) bool { return false }

func unlock(*os.File) {}

func tryFlock(*os.File, bool) error { return errNoLocks }

func flock(*os.File, bool) error { return errNoLocks }

func ownedByUs(fs.FileInfo) bool { return true }

func syncDir(string) error { return nil }
