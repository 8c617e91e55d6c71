package workspaces

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// The limits of what a new worktree gets copied.
const (
	maxCopyFile  = 64 << 20  // bytes of one file
	maxCopyTotal = 256 << 20 // bytes of all
	maxCopyFiles = 20_000
	maxNotes     = 20 // sentences about what was left out
)

// copier copies files from a project's folder into a worktree. Both ends are confined, so a link in
// either tree cannot lead a copy out of it.
type copier struct {
	from, to *os.Root
	total    int64
	skipped  []string
}

// copyIgnored copies files, relative paths, from one folder to another: never over something that
// is there, links as links. It returns a sentence for each file that was left out.
func copyIgnored(ctx context.Context, from, to string, files []string) ([]string, error) {
	source, err := os.OpenRoot(from)
	if err != nil {
		return nil, fmt.Errorf("copy ignored files: %w", err)
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenRoot(to)
	if err != nil {
		return nil, fmt.Errorf("copy ignored files: %w", err)
	}
	defer func() { _ = target.Close() }()
	c := &copier{from: source, to: target}
	for i, file := range files {
		if err := ctx.Err(); err != nil {
			return c.notes(), fmt.Errorf("copy ignored files: %w", err)
		}
		if i == maxCopyFiles {
			c.skip("%d more files were not copied: the limit is %d files", len(files)-i, maxCopyFiles)
			break
		}
		c.copy(file)
	}
	return c.notes(), nil
}

func (c *copier) skip(format string, args ...any) {
	c.skipped = append(c.skipped, fmt.Sprintf(format, args...))
}

// notes keeps the list of what was left out readable.
func (c *copier) notes() []string {
	if more := len(c.skipped) - maxNotes; more > 0 {
		return append(c.skipped[:maxNotes:maxNotes], fmt.Sprintf("%d more files were not copied", more))
	}
	return c.skipped
}

func (c *copier) copy(file string) {
	info, err := c.from.Lstat(file)
	if err != nil {
		c.skip("%s was not copied: %v", file, err)
		return
	}
	if _, err := c.to.Lstat(file); err == nil {
		c.skip("%s was not copied: the worktree has a file of that name", file)
		return
	}
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		err = c.link(file)
	case !info.Mode().IsRegular():
		c.skip("%s was not copied: it is neither a file nor a link", file)
		return
	case info.Size() > maxCopyFile:
		c.skip("%s was not copied: %d MiB, the limit is %d MiB a file", file, info.Size()>>20, maxCopyFile>>20)
		return
	case c.total+info.Size() > maxCopyTotal:
		c.skip("%s was not copied: with it more than %d MiB would be copied", file, maxCopyTotal>>20)
		return
	default:
		err = c.file(file, info)
	}
	if errors.Is(err, fs.ErrExist) {
		c.skip("%s was not copied: the worktree has a file in its place", file)
	} else if err != nil {
		c.skip("%s was not copied: %v", file, err)
	}
}

func (c *copier) link(file string) error {
	target, err := c.from.Readlink(file)
	if err != nil {
		return err
	}
	if err := c.parent(file); err != nil {
		return err
	}
	return c.to.Symlink(target, file)
}

func (c *copier) parent(file string) error {
	if dir := path.Dir(file); dir != "." {
		return c.to.MkdirAll(dir, 0o777)
	}
	return nil
}

func (c *copier) file(file string, info fs.FileInfo) (err error) {
	in, err := c.from.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	if err := c.parent(file); err != nil {
		return err
	}
	out, err := c.to.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, maxCopyFile+1)) // it may grow meanwhile
	c.total += n
	if err == nil && n > maxCopyFile {
		err = fmt.Errorf("it grew over %d MiB", maxCopyFile>>20)
	}
	if e := out.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = c.to.Remove(file) // half a copy is worse than none; what is left is ignored by git
		return err
	}
	return c.to.Chmod(file, info.Mode().Perm()) // the umask took its part at creation
}
