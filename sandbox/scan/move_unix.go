//go:build linux || darwin

package scan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// openDir opens the folder rel below root, from folder to folder and through no link. mend gives
// ourselves the rights on folders of ours that a command has closed.
func openDir(root, rel string) (int, error) {
	fd, err := unix.Open(root, unix.O_DIRECTORY|unix.O_CLOEXEC|dirFlags, 0)
	if err != nil {
		return -1, err
	}
	if rel == "." {
		return fd, nil
	}
	for name := range strings.SplitSeq(rel, "/") {
		if name == "" || name == "." || name == ".." {
			_ = unix.Close(fd)
			return -1, fs.ErrInvalid
		}
		next, err := openAt(fd, name)
		_ = unix.Close(fd)
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}

func openAt(at int, name string) (int, error) {
	const flags = unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | dirFlags
	fd, err := unix.Openat(at, name, flags, 0)
	if errors.Is(err, unix.EACCES) && mend(at) == nil {
		fd, err = unix.Openat(at, name, flags, 0)
	}
	return fd, err
}

// rename is renameat, once more after mending the rights of the folder that it takes from.
func rename(from int, name string, to int, toName string) error {
	err := unix.Renameat(from, name, to, toName)
	if errors.Is(err, unix.EACCES) && mend(from) == nil {
		err = unix.Renameat(from, name, to, toName)
	}
	return err
}

// moveAway moves a file or folder to own/object; when it can't leave its folder, to another name
// there, which it gives.
func moveAway(root, rel, own, id string) (aside string, err error) {
	dir, err := openDir(root, path.Dir(rel))
	if err != nil {
		return "", err
	}
	defer func() { _ = unix.Close(dir) }()
	to, err := unix.Open(own, unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW|dirFlags, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = unix.Close(to) }()
	name := path.Base(rel)
	err = rename(dir, name, to, objectName)
	if errors.Is(err, unix.EXDEV) || errors.Is(err, unix.EACCES) { // another disk, or a folder without rights
		aside = asideName(name, id)
		err = rename(dir, name, dir, aside)
	}
	return aside, err
}

// asideName is a name under which nothing runs a file, at most 255 bytes.
func asideName(name, id string) string {
	suffix := ".quarantine-" + id
	if len(name)+len(suffix) > 255 {
		name = name[:255-len(suffix)]
	}
	return name + suffix
}

// putBack writes the former file. It never writes into one that is there.
func putBack(root, rel string, was *item) error {
	dir, err := openDir(root, path.Dir(rel))
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(dir) }()
	name := path.Base(rel)
	if was.mode&fs.ModeSymlink != 0 {
		return unix.Symlinkat(string(was.content), dir, name)
	}
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	_, err = f.Write(was.content)
	if err == nil {
		err = f.Chmod(was.mode.Perm())
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

func moveBack(k Kept, own string) error {
	dir, err := openDir(k.Root, path.Dir(k.Path))
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(dir) }()
	name := path.Base(k.Path)
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return fs.ErrExist
	}
	if k.Aside != "" {
		if filepath.Base(k.Aside) != k.Aside {
			return fmt.Errorf("its name is %q: %w", k.Aside, fs.ErrInvalid)
		}
		return rename(dir, k.Aside, dir, name)
	}
	from, err := unix.Open(own, unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW|dirFlags, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(from) }()
	return rename(from, objectName, dir, name)
}
