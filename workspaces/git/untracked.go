package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Untracked files above this size count as binary, in bytes; see diffLimit.
const maxUntracked = 16 << 20

// readUntracked shows untracked files as added ones. Files that vanish meanwhile are left out.
func readUntracked(ctx context.Context, dir string, paths []string) ([]Change, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	var list []Change
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := untrackedChange(root, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			c.Cut = true // it is there, but can't be read
		}
		list = append(list, c)
	}
	return list, nil
}

func untrackedChange(root *os.Root, path string) (Change, error) {
	c := Change{Path: path, Status: "?"}
	if strings.HasSuffix(path, "/") {
		return c, nil // another repository
	}
	info, err := root.Lstat(path)
	if err != nil {
		return c, err
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		target, err := root.Readlink(path)
		if err != nil {
			return c, err
		}
		c.write("120000", []byte(target))
	case !mode.IsRegular():
	case info.Size() > maxUntracked:
		c.Binary = true
	default:
		text, err := readRegular(root, path)
		if err != nil {
			return c, err
		}
		perm := "100644"
		if mode&0o111 != 0 {
			perm = "100755"
		}
		c.write(perm, text)
	}
	return c, nil
}

// readRegular reads a file that may be swapped for something else at any time.
func readRegular(root *os.Root, path string) ([]byte, error) {
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %q: not a file", path)
	}
	return io.ReadAll(io.LimitReader(f, maxUntracked))
}

// write makes the patch that adds the content.
func (c *Change) write(mode string, text []byte) {
	if bytes.IndexByte(text[:min(len(text), binaryHead)], 0) >= 0 {
		c.Binary = true
		return
	}
	lines := bytes.SplitAfter(text, []byte{'\n'})
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	c.Added = len(lines)
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git %s %s\nnew file mode %s\n", quote("a/"+c.Path), quote("b/"+c.Path), mode)
	if len(lines) > 0 {
		span := "1"
		if len(lines) > 1 {
			span = fmt.Sprintf("1,%d", len(lines))
		}
		tab := "" // git ends a name with a space in it so
		if strings.Contains(c.Path, " ") {
			tab = "\t"
		}
		fmt.Fprintf(&b, "--- /dev/null\n+++ %s%s\n@@ -0,0 +%s @@\n", quote("b/"+c.Path), tab, span)
	}
	for _, line := range lines {
		if b.Len()+len(line)+40 > maxPatch {
			c.Cut = true
			break
		}
		b.WriteByte('+')
		b.Write(line)
	}
	if !c.Cut && len(lines) > 0 && text[len(text)-1] != '\n' {
		b.WriteString("\n\\ No newline at end of file\n")
	}
	c.Patch = b.String()
}
