package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"carrel/sandbox/plan"
)

// prepare makes what a plan needs on disk, and reports whether anything was missing. No symbolic link is
// followed.
func prepare(steps []plan.Prepare) (made bool, err error) {
	for _, s := range steps {
		new, err := prepareOne(s)
		if err != nil {
			return made, fmt.Errorf("prepare %q: %w", s.Path, err)
		}
		made = made || new
	}
	return made, nil
}

func prepareOne(s plan.Prepare) (made bool, err error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	at, err := unix.Openat2(unix.AT_FDCWD, path.Dir(s.Path), &how)
	if errors.Is(err, unix.ENOENT) && !s.Stand { // our own folders may be some levels deep
		if _, err := prepareOne(plan.Prepare{Path: path.Dir(s.Path), Dir: true, Mode: 0o700}); err != nil {
			return false, err
		}
		at, err = unix.Openat2(unix.AT_FDCWD, path.Dir(s.Path), &how)
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = unix.Close(at) }()
	name := path.Base(s.Path)
	if !s.Dir {
		return prepareFile(at, name, s)
	}
	if err := unix.Mkdirat(at, name, s.Mode); !errors.Is(err, unix.EEXIST) {
		if err == nil && s.Stand {
			markStand(at, name)
		}
		return err == nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return false, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return false, unix.ENOTDIR
	}
	return false, nil
}

// prepareFile writes a small file unless it is as it should be.
func prepareFile(at int, name string, s plan.Prepare) (made bool, err error) {
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err == nil {
		f := os.NewFile(uintptr(fd), s.Path)
		have, err := io.ReadAll(io.LimitReader(f, int64(len(s.Text))+1))
		_ = f.Close()
		if err == nil && string(have) == s.Text {
			return false, nil
		}
	}
	fresh := name + ".new"
	if err := unix.Unlinkat(at, fresh, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return false, err
	}
	fd, err = unix.Openat(at, fresh, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC|unix.O_NOFOLLOW, s.Mode)
	if err != nil {
		return false, err
	}
	f := os.NewFile(uintptr(fd), s.Path)
	_, err = f.WriteString(s.Text)
	if err = errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	return true, unix.Renameat(at, fresh, at, name)
}
