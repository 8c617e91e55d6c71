package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

// patches fills the patches of list. all says that list is everything that differs from the commit.
func (g *Git) patches(ctx context.Context, dir, from string, list []Change, all bool) error {
	if len(list) == 0 {
		return nil
	}
	args := append([]string{"--literal-pathspecs"}, diffIndex(from, "-p", "--src-prefix=a/", "--dst-prefix=b/")...)
	if !all {
		var paths []string
		for _, c := range list {
			paths = append(paths, c.Path)
			if c.OldPath != "" {
				paths = append(paths, c.OldPath)
			}
		}
		if fits(paths) {
			args = append(args, paths...)
		}
	}
	err := g.patchesWith(ctx, dir, args, list, FiltersUser)
	if failed := (*Error)(nil); errors.As(err, &failed) {
		for i := range list {
			list[i].Patch, list[i].Cut = "", false
		}
		err = g.patchesWith(ctx, dir, args, list, FiltersNone) // as in readFiles
	}
	return err
}

func (g *Git) patchesWith(ctx context.Context, dir string, args []string, list []Change, filters Filters) error {
	split := newSplitter(list)
	_, err := g.run(ctx, call{
		dir: dir, args: args, read: true, stdout: split, filters: filters,
		config: [][2]string{{"core.bigFileThreshold", diffLimit}},
	})
	if split.full && ctx.Err() == nil {
		err = nil // it was ended since the rest is not wanted
	}
	if err != nil {
		return g.explain(dir, err)
	}
	split.line()
	split.finish()
	return nil
}

// splitter gives each file of a unified diff its part of it. A line of content never begins with
// "diff --git", so those lines alone divide the text; which file they begin is found by writing the
// line that git must have written.
type splitter struct {
	list    []Change
	headers map[string]int
	current int             // index in list, -1 for none
	patch   strings.Builder // of the current file
	buf     []byte
	long    bool // the line is longer than a patch may be: its rest is dropped
	left    int  // files whose part has not begun
	full    bool // everything wanted is there
}

var errEnough = errors.New("enough")

func newSplitter(list []Change) *splitter {
	s := &splitter{list: list, headers: map[string]int{}, current: -1, left: len(list)}
	for i, c := range list {
		old := c.OldPath
		if old == "" {
			old = c.Path
		}
		s.headers["diff --git "+quote("a/"+old)+" "+quote("b/"+c.Path)] = i
	}
	return s
}

func (s *splitter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		if room := maxPatch - len(s.buf); len(line) > room {
			line, s.long = line[:room], true
		}
		s.buf = append(s.buf, line...)
		if !ended {
			break
		}
		if p = rest; !s.line() {
			s.full = true
			return n - len(p), errEnough
		}
	}
	return n, nil
}

// line takes the line that is complete. It gives false when the rest of the diff is not wanted.
func (s *splitter) line() bool {
	defer func() { s.buf, s.long = s.buf[:0], false }()
	if bytes.HasPrefix(s.buf, []byte("diff --git ")) {
		i, ok := s.headers[string(s.buf)]
		if !ok {
			i = -1
		}
		if i < 0 && s.left == 0 {
			return false
		}
		if i != s.current {
			s.finish()
		}
		if i != s.current && i >= 0 {
			s.left--
		}
		s.current = i
	}
	if s.current < 0 || len(s.buf) == 0 {
		return true
	}
	s.addLine(&s.list[s.current])
	return true
}

// addLine adds the line to the current patch unless that would be too long.
func (s *splitter) addLine(c *Change) {
	switch {
	case c.Binary || c.Cut:
	case s.long || s.patch.Len()+len(s.buf)+1 > maxPatch:
		c.Cut = true
	default:
		s.patch.Write(s.buf)
		s.patch.WriteByte('\n')
	}
}

// finish gives the current file its patch.
func (s *splitter) finish() {
	if s.current >= 0 {
		s.list[s.current].Patch += s.patch.String()
	}
	s.patch.Reset()
}

// quote writes a name as git does in a diff when core.quotePath is off.
func quote(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(name); i++ {
		c := name[i]
		if at := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c); at >= 0 {
			b.WriteByte('\\')
			b.WriteByte("abtnvfr\"\\"[at])
		} else if c < ' ' || c == 0x7f {
			fmt.Fprintf(&b, "\\%03o", c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
