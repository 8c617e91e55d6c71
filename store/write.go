package store

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile replaces the file at path by data, whole or not at all, and durably: a temporary file
// beside it, fsync, rename, fsync of the folder. The file gets exactly mode. A symbolic link at
// path stays a link and its target is replaced, since people keep their settings in other places.
// After an error (a full disk, say) the old file is untouched.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := replace(path, data, mode); err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	return nil
}

// tempPattern names the temporary files of WriteFile for a file name; the star is random.
func tempPattern(name string) string { return "." + name + ".tmp-*" }

func replace(path string, data []byte, mode fs.FileMode) error {
	dir, name := filepath.Split(path)
	f, err := os.CreateTemp(dir, tempPattern(name))
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when all went well
	if err := fill(f, data, mode); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func fill(f *os.File, data []byte, mode fs.FileMode) error {
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// sweepTemps removes what killed writers of path left behind. The caller holds the lock that every
// writer of path takes, so no temporary file is in use.
func sweepTemps(path string) {
	dir, name := filepath.Split(path)
	left, _ := filepath.Glob(filepath.Join(dir, tempPattern(name))) // the pattern is well formed
	for _, p := range left {
		_ = os.Remove(p)
	}
}
