package plan

import (
	"io/fs"
	"path"
	"time"

	"golang.org/x/sys/unix"
)

// lstat is os.Lstat without what nobody needs here: planning asks it of every folder of a project.
func lstat(name string) (Entry, error) {
	var st unix.Stat_t
	if err := unix.Lstat(name, &st); err != nil {
		return Entry{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	e := Entry{Name: path.Base(name), Inode: st.Ino, ModTime: time.Unix(st.Mtim.Unix())}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		e.Type = fs.ModeDir
	case unix.S_IFLNK:
		e.Type = fs.ModeSymlink
	case unix.S_IFSOCK:
		e.Type = fs.ModeSocket
	case unix.S_IFIFO:
		e.Type = fs.ModeNamedPipe
	default:
		e.Type = fs.ModeDevice
	}
	return e, nil
}
