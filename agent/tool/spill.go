package tool

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// maxSpill is how much of one command's output is kept in a file.
const maxSpill = 64 << 20

// spill is a file in the spill folder with the whole output of a command.
type spill struct {
	dir, path string
	file      *os.File
	buf       *bufio.Writer
	size      int64
	full      bool
	err       error
	started   bool
}

func newSpill(dir, callID string) *spill {
	if dir == "" {
		return &spill{}
	}
	return &spill{dir: dir, path: filepath.Join(dir, spillName(callID))}
}

// spillName names a file after its call, as far as the provider's id goes into a name.
func spillName(callID string) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return -1
	}, callID)
	return "output-" + id[:min(len(id), 40)] + "-" + strings.ToLower(rand.Text()[:6]) + ".txt"
}

func (s *spill) open() bool { return s.started }

func (s *spill) start() {
	s.started = true
	if s.dir == "" {
		return
	}
	if s.err = os.MkdirAll(s.dir, 0o700); s.err == nil {
		s.file, s.err = os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		s.buf = bufio.NewWriterSize(s.file, 64<<10)
	}
}

func (s *spill) write(text []byte) {
	if s.file == nil || s.err != nil {
		return
	}
	if left := maxSpill - s.size; int64(len(text)) > left {
		text, s.full = text[:left], true
	}
	n, err := s.buf.Write(text)
	s.size += int64(n)
	s.err = err
}

func (s *spill) close() {
	if s.file != nil {
		s.err = errors.Join(s.err, s.buf.Flush(), s.file.Close())
	}
}

// kept gives the file's path, "" when there is none.
func (s *spill) kept() string {
	if s.file == nil || s.size == 0 {
		return ""
	}
	return s.path
}

// where says where the whole output is.
func (s *spill) where() string {
	switch {
	case s.dir == "":
		return "they were not kept"
	case s.kept() == "":
		return fmt.Sprintf("they could not be kept: %v", s.err)
	case s.err != nil:
		return fmt.Sprintf("only the first %d bytes of the output could be kept, in %s: %v", s.size, s.path, s.err)
	case s.full:
		return fmt.Sprintf("the first %d bytes of the output are in %s", s.size, s.path)
	}
	return "the whole output is in " + s.path
}

// openFile opens a file for reading: one of the workspace, or one in the spill folder.
func openFile(ctx context.Context, env Env, path string) (io.ReadCloser, fs.FileInfo, error) {
	if env.SpillDir != "" && filepath.IsAbs(path) {
		if rel, err := filepath.Rel(env.SpillDir, path); err == nil && filepath.IsLocal(rel) {
			return openSpilled(env.SpillDir, rel)
		}
	}
	return env.Runtime.Files().Open(ctx, path)
}

func openSpilled(dir, rel string) (io.ReadCloser, fs.FileInfo, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Lstat(rel)
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		return nil, nil, &fs.PathError{Op: "open", Path: rel, Err: syscall.EISDIR}
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: rel, Err: fs.ErrInvalid}
	}
	file, err := root.Open(rel)
	return file, info, err
}

// SweepSpill deletes the files of a spill folder that are older than maxAge, then the oldest until
// the rest is not over maxBytes. A folder that is not there is fine.
func SweepSpill(dir string, maxBytes int64, maxAge time.Duration) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sweep %q: %w", dir, err)
	}
	var files []fs.FileInfo
	for _, e := range entries {
		// One that is gone meanwhile needs no sweeping.
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	var total int64
	var errs []error
	for _, f := range files {
		total += f.Size()
		if total > maxBytes || time.Since(f.ModTime()) > maxAge {
			errs = append(errs, os.Remove(filepath.Join(dir, f.Name())))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("sweep %q: %w", dir, err)
	}
	return nil
}
