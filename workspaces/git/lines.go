package git

import (
	"context"
	"slices"
)

// More paths than this are not named one by one: looking at every file is cheaper then.
const (
	maxNamedPaths = 1000
	maxNamedBytes = 64 << 10
)

// fits reports whether the paths may be given as arguments.
func fits(paths []string) bool {
	size := 0
	for _, p := range paths {
		size += len(p) + 1
	}
	return len(paths) <= maxNamedPaths && size <= maxNamedBytes
}

// split divides the tracked entries of a status by how their lines can be counted without looking at
// every file once more.
type split struct {
	tracked bool
	staged  []string // differ between fork and index, and not between index and work tree
	loose   []string // differ between index and work tree only
	mixed   bool     // some differ in both, or may be renamed between the two: only a full look is right
}

func splitEntries(r relation, entries []entry) split {
	var s split
	s.mixed = r.lines.many
	deleted, added := false, false
	for _, e := range entries {
		if e.kind == '?' || e.kind == '!' {
			continue
		}
		s.tracked = true
		inIndex := e.x != '.' || e.kind == 'u' || slices.Contains(r.lines.paths, e.path)
		switch {
		case inIndex && e.y != '.':
			s.mixed = true
		case inIndex:
			s.staged = append(s.staged, e.path)
			if e.from != "" {
				s.staged = append(s.staged, e.from)
			}
		default:
			s.loose = append(s.loose, e.path)
		}
		deleted = deleted || e.y == 'D'
		added = added || e.x == 'A'
	}
	s.mixed = s.mixed || deleted && added || !fits(slices.Concat(s.staged, s.loose, r.lines.paths))
	return s
}

// countLines counts the lines that differ between the fork and the work tree. Measured on 20,000 files:
// diff-files and diff-index --cached with paths cost next to nothing, diff-index without paths as much
// as a status, and diff-index with paths four times that.
func (g *Git) countLines(ctx context.Context, dir string, r relation, entries []entry) (added, removed int, err error) {
	s := splitEntries(r, entries)
	count := func(args ...string) error {
		list, err := g.numstat(ctx, dir, append([]string{args[0], "--ignore-submodules=dirty", "--numstat", "-z", "-M"}, args[1:]...)...)
		t := sum(list)
		added, removed = added+t.added, removed+t.removed
		return err
	}
	if s.tracked && s.mixed {
		err = count("diff-index", r.fork, "--")
		return added, removed, err
	}
	if len(s.staged) == 0 {
		added, removed = r.lines.added, r.lines.removed
	} else if err := count(append([]string{"diff-index", "--cached", r.fork, "--"}, slices.Concat(s.staged, r.lines.paths)...)...); err != nil {
		return 0, 0, err
	}
	if len(s.loose) > 0 {
		err = count(append([]string{"diff-files", "--"}, s.loose...)...)
	}
	return added, removed, err
}
