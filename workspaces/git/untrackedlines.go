package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// More untracked files, or bytes in them, than this are not counted: then they are hardly work but, for
// example, dependencies that nobody told git to ignore.
const (
	maxCountedFiles = 1000
	maxCountedBytes = 32 << 20
)

// binaryHead is how much of a file is looked at for a zero byte, which makes it binary, as git does it.
const binaryHead = 8000

// settledAge is how old a file's time must be to say that the file has not changed since.
const settledAge = 2 * time.Second

// untrackedLines counts the lines of untracked files as Changes does. all is false, and lines 0, when
// there are too many.
func (g *Git) untrackedLines(ctx context.Context, dir string, entries []entry) (lines int, all bool, err error) {
	var files, folders []string
	for _, e := range entries {
		switch {
		case e.kind != '?':
		case strings.HasSuffix(e.path, "/"):
			folders = append(folders, e.path)
		default:
			files = append(files, e.path)
		}
	}
	if len(folders) > 0 {
		inside, few, err := g.untrackedIn(ctx, dir, folders)
		if err != nil || !few {
			return 0, false, err
		}
		files = append(files, inside...)
	}
	switch {
	case len(files) == 0:
		return 0, true, nil
	case len(files) > maxCountedFiles:
		return 0, false, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = root.Close() }() // only read
	left := int64(maxCountedBytes)
	for _, path := range files {
		if err := ctx.Err(); err != nil {
			return 0, false, err
		}
		n, size := g.linesOf(root, dir, path)
		if left -= size; left < 0 {
			return 0, false, nil
		}
		lines += n
	}
	return lines, true, nil
}

// untrackedIn lists the untracked files inside folders that hold nothing else. few is false when there
// are more than are counted.
func (g *Git) untrackedIn(ctx context.Context, dir string, folders []string) (files []string, few bool, err error) {
	if !fits(folders) {
		return nil, false, nil
	}
	out, err := g.Read(ctx, dir, append([]string{"--literal-pathspecs", "ls-files", "--others", "--exclude-standard", "-z", "--"}, folders...)...)
	if errors.Is(err, ErrTooMuch) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, g.explain(dir, err)
	}
	if bytes.Count(out.Stdout, []byte{0}) > maxCountedFiles {
		return nil, false, nil
	}
	for _, path := range bytes.Split(bytes.TrimSuffix(out.Stdout, []byte{0}), []byte{0}) {
		if len(path) > 0 && path[len(path)-1] != '/' { // else another repository
			files = append(files, string(path))
		}
	}
	return files, true, nil
}

// linesOf counts the lines of one untracked file and says how many bytes that took. What is binary, too
// large, gone or unreadable has none.
func (g *Git) linesOf(root *os.Root, dir, path string) (lines int, size int64) {
	info, err := root.Lstat(path)
	switch {
	case err != nil:
		return 0, 0
	case info.Mode()&fs.ModeSymlink != 0:
		return 1, 0 // its target
	case !info.Mode().IsRegular(), info.Size() > maxUntracked:
		return 0, 0
	}
	key := fmt.Sprintf("%s %d %d", filepath.Join(dir, path), info.Size(), info.ModTime().UnixNano())
	g.mu.Lock()
	lines, known := g.lines[key]
	g.mu.Unlock()
	if known {
		return lines, 0
	}
	if lines, err = countFile(root, path); err != nil {
		return 0, info.Size()
	}
	if time.Since(info.ModTime()) > settledAge {
		g.mu.Lock()
		remember(g.lines, key, lines)
		g.mu.Unlock()
	}
	return lines, info.Size()
}

// countFile counts the lines of a file that may be swapped for something else at any time.
func countFile(root *os.Root, path string) (lines int, err error) {
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe without a writer would block
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return 0, errors.Join(err, fs.ErrInvalid)
	}
	in := io.LimitReader(f, maxUntracked)
	buf := make([]byte, 32<<10)
	seen, last := 0, byte('\n')
	for {
		n, err := io.ReadFull(in, buf)
		if head := buf[:min(n, max(0, binaryHead-seen))]; bytes.IndexByte(head, 0) >= 0 {
			return 0, nil
		}
		if n > 0 {
			lines += bytes.Count(buf[:n], []byte{'\n'})
			seen, last = seen+n, buf[n-1]
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			if last != '\n' {
				lines++
			}
			return lines, nil
		case err != nil:
			return 0, err
		}
	}
}
