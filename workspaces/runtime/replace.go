package runtime

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// keptBits are the mode bits that an existing file keeps.
const keptBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// replace puts data in the place of a file in one step: a reader sees the old content or the new.
func replace(dir *os.Root, name string, data []byte, o WriteOptions) (err error) {
	old, err := existing(dir, name, o)
	if err != nil {
		return err
	}
	perm := fs.FileMode(0o666)
	if o.Mode != 0 {
		perm = o.Mode
	}
	if old != nil {
		perm = 0o600 // until it has the old file's owner and mode
	}
	temp := ".carrel-" + strings.ToLower(rand.Text()) + ".tmp"
	file, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = dir.Remove(temp)
		}
	}()
	err = fill(file, data, old)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if o.New {
		// A link fails where a file is, a rename would replace it.
		return errors.Join(dir.Link(temp, name), dir.Remove(temp))
	}
	// As late as possible: what changes the file after this is lost.
	if err := unchanged(dir, name, o.If); err != nil {
		return err
	}
	return dir.Rename(temp, name)
}

// existing gives the file that is to be replaced, nil when there is none.
func existing(dir *os.Root, name string, o WriteOptions) (fs.FileInfo, error) {
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if o.If != nil {
			return nil, ErrChanged
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if o.New {
		return nil, fs.ErrExist
	}
	if err := regular(info); err != nil {
		return nil, err
	}
	// Renaming over a file needs no permission to write it; its owner may have meant what he set.
	file, err := dir.OpenFile(name, os.O_WRONLY|nonblock, 0)
	if busy(err) {
		return info, nil
	}
	if err != nil {
		return nil, err
	}
	return info, file.Close()
}

// fill writes the content and gives the file the mode and, where permitted, the owner of old.
func fill(file *os.File, data []byte, old fs.FileInfo) error {
	if _, err := file.Write(data); err != nil {
		return err
	}
	if old != nil {
		mode := old.Mode() & keptBits
		if err := keepOwner(file, old); err != nil {
			mode &^= fs.ModeSetuid | fs.ModeSetgid // they would now act for someone else
		}
		if err := file.Chmod(mode); err != nil {
			return err
		}
	}
	return file.Sync()
}

func keepOwner(file *os.File, old fs.FileInfo) error {
	mine, err := file.Stat()
	if err != nil {
		return err
	}
	uid, gid, ok := owner(old)
	uidNow, gidNow, okNow := owner(mine)
	if !ok || !okNow || uid == uidNow && gid == gidNow {
		return nil
	}
	if err := file.Chown(uid, gid); err != nil {
		return errors.Join(err, file.Chown(-1, gid))
	}
	return nil
}

// unchanged reports ErrChanged unless the file still holds want; nil wants nothing.
func unchanged(dir *os.Root, name string, want []byte) error {
	if want == nil {
		return nil
	}
	file, err := dir.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrChanged
	}
	if err != nil {
		return err
	}
	have, err := io.ReadAll(io.LimitReader(file, int64(len(want))+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("read again: %w", err)
	}
	if !bytes.Equal(have, want) {
		return ErrChanged
	}
	return nil
}
