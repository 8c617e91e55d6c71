package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// entry is one line of git status --porcelain=v2.
type entry struct {
	kind byte // '1' changed, '2' renamed or copied, 'u' unmerged, '?' untracked, '!' ignored
	x, y byte // state in the index and in the work tree, '.' for unchanged
	path string
	from string // old path of a rename
}

// status is what git status --porcelain=v2 --branch -z says.
type status struct {
	commit, branch, upstream string // "" for none: unborn, detached, no upstream
	entries                  []entry
}

// statusArgs ask for status without running anything in submodules: their own configuration would be
// read there, and git has no way to say which of it to believe.
func statusArgs(untracked string) []string {
	return []string{"status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z", "--find-renames",
		"--untracked-files=" + untracked, "--ignored=no", "--ignore-submodules=dirty"}
}

func (g *Git) status(ctx context.Context, dir, untracked string) (status, error) {
	release, err := g.hold(ctx, "status "+dir)
	if err != nil {
		return status{}, err
	}
	defer release()
	out, err := g.readFiles(ctx, call{dir: dir, args: statusArgs(untracked)})
	if err != nil {
		return status{}, g.explain(dir, err)
	}
	s, err := parseStatus(out.Stdout)
	if err != nil {
		return s, fmt.Errorf("read status of %q: %w", dir, err)
	}
	return s, nil
}

var errFormat = errors.New("git printed something unexpected")

// parseStatus reads NUL-ended records. Paths are taken as they are, byte by byte.
func parseStatus(text []byte) (status, error) {
	var s status
	for len(text) > 0 {
		record, rest, ended := bytes.Cut(text, []byte{0})
		if !ended {
			return s, errFormat
		}
		text = rest
		if header, ok := bytes.CutPrefix(record, []byte("# ")); ok {
			s.header(string(header))
			continue
		}
		e, err := parseEntry(string(record))
		if err != nil {
			return s, err
		}
		if e.kind == '2' {
			from, rest, ended := bytes.Cut(text, []byte{0})
			if !ended || len(from) == 0 {
				return s, errFormat
			}
			e.from, text = string(from), rest
		}
		s.entries = append(s.entries, e)
	}
	return s, nil
}

func (s *status) header(line string) {
	key, value, _ := strings.Cut(line, " ")
	switch key {
	case "branch.oid":
		if value != "(initial)" {
			s.commit = value
		}
	case "branch.head":
		if value != "(detached)" {
			s.branch = value
		}
	case "branch.upstream":
		s.upstream = value
	}
}

// Number of fields before the path, the kind included.
var fieldsBefore = map[byte]int{'1': 8, '2': 9, 'u': 10, '?': 1, '!': 1}

func parseEntry(record string) (entry, error) {
	if len(record) < 3 {
		return entry{}, errFormat
	}
	n, ok := fieldsBefore[record[0]]
	if !ok {
		return entry{}, errFormat
	}
	fields := strings.SplitN(record, " ", n+1)
	if len(fields) != n+1 || len(fields[0]) != 1 || fields[n] == "" {
		return entry{}, errFormat
	}
	e := entry{kind: record[0], x: '.', y: '.', path: fields[n]}
	if n > 1 {
		if len(fields[1]) != 2 || strings.Trim(fields[1], ".MTADRCU") != "" {
			return entry{}, errFormat
		}
		e.x, e.y = fields[1][0], fields[1][1]
	}
	return e, nil
}

// dirtySubmodules lists the filled submodules of dir with changes inside, at any depth. It is the
// hardened form of what git status finds by itself without --ignore-submodules.
func (g *Git) dirtySubmodules(ctx context.Context, dir string, depth int) ([]string, error) {
	list, err := g.submodules(ctx, dir)
	if err != nil || depth >= maxNesting {
		return nil, err
	}
	var dirty []string
	for _, s := range list {
		sub := filepath.Join(dir, s.path)
		if _, err := gitDirAt(sub); err != nil || s.commit == "" {
			continue
		}
		st, err := g.status(ctx, sub, "normal")
		if err != nil {
			return nil, err
		}
		inside, err := g.dirtySubmodules(ctx, sub, depth+1)
		if err != nil {
			return nil, err
		}
		if len(st.entries)+len(inside) > 0 {
			dirty = append(dirty, s.path)
		}
	}
	return dirty, nil
}
