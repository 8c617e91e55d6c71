package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

const maxLinks = 40 // symbolic links on the way to one file, as in the kernel

// look answers questions about the tree while one plan is made, each from one observation, and
// remembers what it saw: a later plan may count on it as long as every observation still holds.
type look struct {
	tree    Tree
	now     time.Time
	watcher Watcher // may be nil
	seen    map[string]sight
	blind   []string // of those seen the ones that can't be watched
	lists   map[string]list
	reals   map[string]resolved
}

// sight is what was seen of one name.
type sight struct {
	entry Entry
	err   error // fs.ErrNotExist, or what else keeps anyone from seeing it
}

// list is a folder as it was seen.
type list struct {
	entries []Entry
	names   map[string]int
	err     error
}

// resolved is where a path leads.
type resolved struct {
	path   string   // without links; the part that does not exist is appended as it was asked
	exists bool     // whether all of it does
	links  []string // the links followed, each by its own resolved place
	err    error
}

func newLook(t Tree, now time.Time, w Watcher) *look {
	return &look{tree: t, now: now, watcher: w, seen: map[string]sight{}, lists: map[string]list{}, reals: map[string]resolved{}}
}

// see looks at a name, after whatever would tell of a change is watched.
func (l *look) see(name string, more ...string) (Entry, error) {
	if l.watcher != nil {
		for _, w := range append(more, path.Dir(name)) {
			if !l.watcher.Add(w) {
				l.blind = append(l.blind, name)
				break
			}
		}
	}
	e, err := l.tree.Lstat(name)
	l.seen[name] = sight{e, err}
	return e, err
}

// lstat describes a name; anything but a present and visible one is an error. Where the folder has been
// listed already the answer comes from the list, and has no inode.
func (l *look) lstat(name string) (Entry, error) {
	if s, ok := l.seen[name]; ok {
		return s.entry, s.err
	}
	if dir, ok := l.lists[path.Dir(name)]; ok && dir.err == nil && name != "/" {
		i, ok := dir.names[path.Base(name)]
		if !ok {
			return Entry{}, fs.ErrNotExist
		}
		return dir.entries[i], nil
	}
	return l.see(name)
}

// list lists a folder, which must be given without links.
func (l *look) list(dir string) ([]Entry, error) {
	if known, ok := l.lists[dir]; ok {
		return known.entries, known.err
	}
	_, _ = l.see(dir, dir) // for the comparison of times: before the list is read
	entries, err := l.tree.ReadDir(dir)
	names := make(map[string]int, len(entries))
	for i, e := range entries {
		names[e.Name] = i
	}
	l.lists[dir] = list{entries, names, err}
	return entries, err
}

// isDir reports a folder that is no link.
func (l *look) isDir(name string) bool {
	e, err := l.lstat(name)
	return err == nil && e.IsDir()
}

// present reports a name, whatever it is.
func (l *look) present(name string) bool {
	_, err := l.lstat(name)
	return err == nil
}

// read returns a small file.
func (l *look) read(name string) ([]byte, error) {
	_, _ = l.see(name, name)
	if s := l.seen[name]; s.err != nil || !s.entry.Type.IsRegular() {
		return nil, fmt.Errorf("read %q: it is no regular file: %w", name, errors.Join(s.err, fs.ErrInvalid))
	}
	return l.tree.ReadFile(name, maxFile)
}

// real follows links. A part that can't be seen counts as one that does not exist: a command can't see
// it either.
func (l *look) real(name string) resolved {
	if r, ok := l.reals[name]; ok {
		return r
	}
	r := l.follow(name)
	l.reals[name] = r
	return r
}

func (l *look) follow(name string) resolved {
	r := resolved{path: "/", exists: true}
	rest := elements(name)
	for len(rest) > 0 {
		element := rest[0]
		rest = rest[1:]
		if element == ".." {
			r.path = path.Dir(r.path)
			continue
		}
		next := path.Join(r.path, element)
		if !r.exists {
			r.path = next
			continue
		}
		e, err := l.lstat(next)
		switch {
		case err != nil:
			r.exists, r.path = false, next
		case e.Type&fs.ModeSymlink != 0:
			target, err := l.tree.Readlink(next)
			if err != nil || len(r.links) >= maxLinks {
				r.err = fmt.Errorf("follow %q: %w", name, errors.Join(err, errors.New("the symbolic link leads nowhere")))
				return r
			}
			r.links = append(r.links, next)
			rest = append(elements(target), rest...)
			if path.IsAbs(target) {
				r.path = "/"
			}
		default:
			r.path = next
		}
	}
	return r
}

// elements splits a path; empty ones and "." fall out.
func elements(name string) []string {
	var list []string
	for e := range strings.SplitSeq(name, "/") {
		if e != "" && e != "." {
			list = append(list, e)
		}
	}
	return list
}

// settled says how long a folder must have been left alone before its time tells two states apart:
// clocks of file systems tick in steps.
const settled = 50 * time.Millisecond

// holds reports whether everything that was seen is still so. When it is quiet, nothing that is
// watched has changed.
func (l *look) holds(t Tree, quiet bool) bool {
	if quiet {
		return !slices.ContainsFunc(l.blind, func(name string) bool { return !l.still(t, name) })
	}
	for name := range l.seen {
		if !l.still(t, name) {
			return false
		}
	}
	return true
}

// still looks at a name again.
func (l *look) still(t Tree, name string) bool {
	s := l.seen[name]
	e, err := t.Lstat(name)
	if (err == nil) != (s.err == nil) {
		return false
	}
	return err != nil || e.Type == s.entry.Type && e.Inode == s.entry.Inode && (!l.depends(name, s) || same(e, s.entry, l.now))
}

// depends reports whether more than the existence of a name was used: its entries, text or target.
func (l *look) depends(name string, s sight) bool {
	_, listed := l.lists[name]
	return listed || !s.entry.IsDir()
}

// same reports that a folder or file has not changed since it was seen at a time.
func same(now, then Entry, at time.Time) bool {
	return now.Inode == then.Inode && now.ModTime.Equal(then.ModTime) && at.Sub(then.ModTime) > settled
}
