package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxLinks is how many symbolic links one path may go through, as on Linux.
const maxLinks = 40

// maxPath is the longest path that is looked at, in bytes, as on Linux. Following links costs the square
// of its length.
const maxPath = 4096

// files is the tree below a folder of this machine. Every access goes through an os.Root, so that
// a folder swapped for a link between check and use can't lead out either. The links are followed
// here before, since os.Root refuses absolute ones, even those that stay inside.
type files struct {
	dir   string // canonical
	given string // as it was named when the workspace was opened
}

func (f files) Open(ctx context.Context, path string) (io.ReadCloser, fs.FileInfo, error) {
	var file *os.File
	var info fs.FileInfo
	err := f.at(ctx, "open", path, follow, func(root *os.Root, name string) (err error) {
		// Not opened for its type alone: a fifo would block, and a device could act.
		if info, err = root.Stat(name); err == nil {
			err = regular(info)
		}
		if err != nil {
			return err
		}
		if file, err = root.OpenFile(name, os.O_RDONLY|nonblock, 0); err != nil {
			return err
		}
		if info, err = file.Stat(); err == nil {
			err = regular(info)
		}
		if err == nil {
			err = judged(ctx, placeOf(file, filepath.Join(f.dir, name)))
		}
		if err != nil {
			_ = file.Close()
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return file, info, nil
}

func (f files) Stat(ctx context.Context, path string) (fs.FileInfo, error) {
	var info fs.FileInfo
	err := f.at(ctx, "stat", path, follow, func(root *os.Root, name string) (err error) {
		info, err = root.Stat(name)
		return err
	})
	return info, err
}

func (f files) ReadDir(ctx context.Context, path string) ([]fs.DirEntry, error) {
	var entries []fs.DirEntry
	err := f.at(ctx, "list", path, follow, func(root *os.Root, name string) error {
		dir, err := root.OpenFile(name, os.O_RDONLY|nonblock|folderOnly, 0)
		if err != nil {
			return err
		}
		entries, err = dir.ReadDir(-1)
		return errors.Join(err, dir.Close())
	})
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}

func (f files) Remove(ctx context.Context, path string) error {
	return f.at(ctx, "remove", path, keepLast, func(root *os.Root, name string) error {
		if name == "." {
			return errors.New("it is the workspace itself")
		}
		return root.Remove(name)
	})
}

func (f files) Write(ctx context.Context, path string, data []byte, o WriteOptions) error {
	return f.at(ctx, "write", path, follow, func(root *os.Root, name string) error {
		if name == "." {
			return errors.New("it is a folder")
		}
		if err := judged(ctx, filepath.Join(f.dir, name)); err != nil {
			return err
		}
		parent, base := filepath.Dir(name), filepath.Base(name)
		if err := root.MkdirAll(parent, 0o777); err != nil {
			return err
		}
		dir, err := root.OpenRoot(parent)
		if err != nil {
			return err
		}
		if err = f.stayed(ctx, dir, parent, base); err == nil {
			err = replace(dir, base, data, o)
		}
		return errors.Join(err, dir.Close())
	})
}

// stayed checks that a folder which is open for a write is where it was judged to be.
func (f files) stayed(ctx context.Context, dir *os.Root, parent, base string) error {
	open, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = open.Close() }()
	return judged(ctx, filepath.Join(placeOf(open, filepath.Join(f.dir, parent)), base))
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return syscall.EISDIR
	case !info.Mode().IsRegular():
		return fmt.Errorf("not a regular file but %s: %w", info.Mode().Type(), fs.ErrInvalid)
	}
	return nil
}

// last says what to do when the last part of a path is a link.
type last int

const (
	follow last = iota
	keepLast
)

// at does one thing to the file that a path leads to, inside the root.
func (f files) at(ctx context.Context, op, path string, l last, do func(root *os.Root, name string) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s %q: %w", op, path, err)
	}
	root, err := f.root()
	if err != nil {
		return fmt.Errorf("%s %q: %w", op, path, err)
	}
	name, err := f.resolve(root, path, l)
	if err == nil {
		if err = do(root, name); err != nil {
			// os.Root has no named error for a way out; look again whether it was one.
			if _, again := f.resolve(root, path, l); errors.Is(again, ErrOutside) {
				err = again
			}
		}
	}
	_ = root.Close()
	if err != nil {
		return fmt.Errorf("%s %q: %w", op, path, cause(err))
	}
	return nil
}

// root opens the workspace's folder, provided that nobody put a link in its place.
func (f files) root() (*os.Root, error) {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace %q: %w", f.dir, cause(err))
	}
	opened, err := root.Stat(".")
	if err == nil {
		var named fs.FileInfo
		if named, err = os.Lstat(f.dir); err == nil && !os.SameFile(opened, named) {
			err = ErrOutside
		}
	}
	if err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("open workspace %q: %w", f.dir, cause(err))
	}
	return root, nil
}

// folder gives the absolute path of a folder in the workspace.
func (f files) folder(path string) (string, error) {
	abs := f.dir
	err := f.at(context.Background(), "enter", cmp.Or(path, "."), follow, func(root *os.Root, name string) error {
		info, err := root.Stat(name)
		if err == nil && !info.IsDir() {
			err = syscall.ENOTDIR
		}
		abs = filepath.Join(f.dir, name)
		return err
	})
	return abs, err
}

// resolve gives the path relative to the root with all links followed. A part that does not exist
// is left as it is.
func (f files) resolve(root *os.Root, path string, l last) (string, error) {
	rel, err := f.relative(path)
	if err != nil {
		return "", err
	}
	var done []string
	todo := strings.Split(rel, string(filepath.Separator))
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		if name == "." || name == "" {
			continue
		}
		if name == ".." {
			if len(done) == 0 {
				return "", ErrOutside
			}
			done = done[:len(done)-1]
			continue
		}
		target, err := linkAt(root, filepath.Join(filepath.Join(done...), name))
		if err != nil {
			return "", err
		}
		if target == "" || len(todo) == 0 && l == keepLast {
			done = append(done, name)
			continue
		}
		if links++; links > maxLinks {
			return "", syscall.ELOOP
		}
		if filepath.IsAbs(target) {
			if target, err = f.relative(target); err != nil {
				return "", err
			}
			done = nil
		}
		todo = append(strings.Split(target, string(filepath.Separator)), todo...)
	}
	return filepath.Join(append([]string{"."}, done...)...), nil
}

// linkAt gives the target of a symbolic link, "" for anything else.
func linkAt(root *os.Root, name string) (string, error) {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil || info.Mode().Type() != fs.ModeSymlink {
		return "", err
	}
	return root.Readlink(name)
}

// relative gives the path relative to the root by its text, or ErrOutside.
func (f files) relative(path string) (string, error) {
	if len(path) > maxPath {
		return "", syscall.ENAMETOOLONG
	}
	if strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("path has a NUL character: %w", fs.ErrInvalid)
	}
	clean := filepath.Clean(path)
	if filepath.IsLocal(clean) {
		return clean, nil
	}
	if !filepath.IsAbs(clean) {
		clean = filepath.Join(f.dir, clean)
	}
	// The last try is for a path to the workspace that goes through a link outside of it.
	for _, try := range []struct{ base, path string }{{f.dir, clean}, {f.given, clean}, {f.dir, canonical(clean)}} {
		rel, err := filepath.Rel(try.base, try.path)
		if err == nil && filepath.IsLocal(rel) {
			return rel, nil
		}
	}
	return "", ErrOutside
}

// canonical follows the links of the part of an absolute path that exists.
func canonical(path string) string {
	rest := ""
	for p := path; ; p = filepath.Dir(p) {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(real, rest)
		}
		if p == filepath.Dir(p) {
			return path
		}
		rest = filepath.Join(filepath.Base(p), rest)
	}
}
