package git

import (
	"bytes"
	"context"
	"errors"
	"slices"
)

// Files lists the files of a work tree below dir that git knows or would add, sorted, relative to dir, at
// most most of them; more says that there are others. What git ignores is left out, and so are folders of
// other repositories. A listed file may have been deleted meanwhile.
func (g *Git) Files(ctx context.Context, dir string, most int) (paths []string, more bool, err error) {
	out, err := g.Read(ctx, dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if errors.Is(err, ErrTooMuch) {
		out.Stdout, more = out.Stdout[:bytes.LastIndexByte(out.Stdout, 0)+1], true
	} else if err != nil {
		return nil, false, err
	}
	for item := range bytes.SplitSeq(out.Stdout, []byte{0}) {
		if len(item) == 0 || bytes.HasSuffix(item, []byte("/")) {
			continue
		}
		if len(paths) == most {
			more = true
			break
		}
		paths = append(paths, string(item))
	}
	slices.Sort(paths)
	return slices.Compact(paths), more, nil
}
