package transcript

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Copy puts a copy of the log up to its last closed turn into dir, which is made where missing and
// must not hold a log: fs.ErrExist is wrapped then. What follows that turn, up to the next message,
// belongs to it. The blobs are linked, or copied where that is not possible. What a crash leaves in
// dir has no log yet and is safe to delete.
func Copy(from *Log, dir string) error {
	if err := from.copyTo(dir); err != nil {
		return fmt.Errorf("copy log %q: %w", from.dir, err)
	}
	return nil
}

func (l *Log) copyTo(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(dir, logName)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fs.ErrExist, err)
	}
	log, size := io.ReaderAt(nil), int64(0)
	err := l.reading(func() (err error) {
		log = l.f
		size, err = l.closed()
		return err
	})
	if err != nil {
		return err
	}
	if err := copyBlobs(l.dir, dir); err != nil {
		return err
	}
	// Both are checked when they are used: what does not fit the copy only costs reading it.
	for _, name := range []string{indexName, foldName} {
		if err := copyFile(filepath.Join(l.dir, name), filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	in := io.Reader(strings.NewReader(""))
	if size > 0 {
		in = io.MultiReader(io.NewSectionReader(log, 0, size), strings.NewReader("\n"))
	}
	if err := writeNew(temp, in); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncDir(dir)
}

// closed gives the end, without its newline, of the last record that belongs to closed turns.
func (l *Log) closed() (int64, error) {
	at, err := l.idx.last(l.idx.count(), classTurnEnd)
	if err != nil || at[0] < 0 {
		return 0, err
	}
	const batch = 64
	end := int64(0)
	for lo := at[0]; lo < l.idx.count(); lo += batch {
		es, err := l.idx.entries(lo, min(lo+batch, l.idx.count()))
		if err != nil {
			return 0, err
		}
		for _, e := range es {
			if e.class == classUser || e.class == classTurnStart {
				return end, nil
			}
			end = e.off + e.size
		}
	}
	return end, nil
}

// copyBlobs links or copies the blobs of a log.
func copyBlobs(from, to string) error {
	from, to = filepath.Join(from, "blobs"), filepath.Join(to, "blobs")
	names, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, n := range names {
		if strings.HasPrefix(n.Name(), ".") || !n.Type().IsRegular() {
			continue
		}
		a, b := filepath.Join(from, n.Name()), filepath.Join(to, n.Name())
		if err := os.Link(a, b); err == nil || errors.Is(err, fs.ErrExist) {
			continue
		}
		if err := copyFile(a, b); err != nil {
			return err
		}
	}
	return syncDir(to)
}

// copyFile copies a file to a place that is free, or was left by a copy that failed.
func copyFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return writeNew(to, f)
}
