package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// tracked is what the index of a checkout has that git status does not tell of.
type tracked struct {
	links  map[string]string // places of other repositories, with the commit wanted there
	hidden []hiddenFile
}

// hiddenFile is a file that git was told not to look at, by update-index --assume-unchanged or
// --skip-worktree: so people keep changes of their own to a tracked file. A sparse checkout has such
// files too, but not on disk.
type hiddenFile struct{ path, mode, object string }

// tracked reads the index of the checkout at dir.
func (g *Git) tracked(ctx context.Context, dir string) (tracked, error) {
	out, err := g.Read(ctx, dir, "ls-files", "-s", "-v", "-z")
	if err != nil {
		return tracked{}, g.explain(dir, err)
	}
	t := tracked{links: map[string]string{}}
	for record := range bytes.SplitSeq(out.Stdout, []byte{0}) {
		// "H 100644 OBJECT 0\tpath"; a small letter is assumed unchanged, S is skipped.
		if len(record) == 0 || record[0] == 'H' && !bytes.HasPrefix(record[1:], []byte(" 160000 ")) {
			continue
		}
		info, path, _ := strings.Cut(string(record), "\t")
		fields := strings.Fields(info)
		switch {
		case len(fields) != 4:
		case fields[1] == "160000":
			t.links[path] = fields[2]
		case fields[0] == "S" || fields[0] == strings.ToLower(fields[0]):
			t.hidden = append(t.hidden, hiddenFile{path: path, mode: fields[1], object: fields[2]})
		}
	}
	return t, nil
}

// linkMode is the mode of a symbolic link in the index.
const linkMode = "120000"

// hiddenChanges lists those of the files that are there and differ from the index.
func (g *Git) hiddenChanges(ctx context.Context, dir string, files []hiddenFile) (changed []string, err error) {
	var regular []hiddenFile
	for _, f := range files {
		info, err := os.Lstat(filepath.Join(dir, f.path))
		switch {
		case err != nil:
			// Nothing is there that could be lost.
		case info.Mode().IsRegular() && f.mode != linkMode:
			regular = append(regular, f)
		case info.Mode().Type() == os.ModeSymlink && f.mode == linkMode:
			if same, err := g.sameLink(ctx, dir, f); err != nil || !same {
				changed = append(changed, f.path)
			}
		default:
			changed = append(changed, f.path)
		}
	}
	if len(regular) == 0 {
		return changed, ctx.Err()
	}
	var names strings.Builder
	for _, f := range regular {
		names.WriteString(quote(f.path) + "\n")
	}
	out, err := g.run(ctx, call{dir: dir, args: []string{"hash-object", "--stdin-paths"}, read: true, stdin: strings.NewReader(names.String())})
	var failed *Error
	if err != nil && !errors.As(err, &failed) {
		return changed, err
	}
	objects := strings.Fields(string(out.Stdout)) // fewer where one can't be read: the rest counts as changed
	for i, f := range regular {
		if i >= len(objects) || objects[i] != f.object {
			changed = append(changed, f.path)
		}
	}
	return changed, nil
}

// sameLink reports whether a symbolic link leads where the index says.
func (g *Git) sameLink(ctx context.Context, dir string, f hiddenFile) (bool, error) {
	target, err := os.Readlink(filepath.Join(dir, f.path))
	if err != nil {
		return false, err
	}
	out, err := g.run(ctx, call{dir: dir, args: []string{"hash-object", "--stdin"}, read: true, stdin: strings.NewReader(target)})
	return strings.TrimSpace(string(out.Stdout)) == f.object, err
}
