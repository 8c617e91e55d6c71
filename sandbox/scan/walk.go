package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// walker looks at one root. It holds one open folder per level.
type walker struct {
	limits Limits
	old    *tree // may be nil
	tree   *tree
	now    time.Time
	left   int   // folders
	kept   int64 // bytes of content
}

// look reads a root. old is what the last look saw, or nil.
func look(ctx context.Context, root string, limits Limits, old *tree) (*tree, error) {
	top, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open %q to scan it: %w", root, err)
	}
	defer func() { _ = top.Close() }()
	info, err := top.Stat(".")
	if err != nil {
		return nil, fmt.Errorf("scan %q: %w", root, err)
	}
	w := &walker{limits: limits, old: old, now: time.Now(), left: limits.Folders,
		tree: &tree{root: root, folders: map[string]*folder{}, items: map[string]*item{}}}
	if err := w.visit(ctx, top, ".", info, 0); err != nil {
		return nil, fmt.Errorf("scan %q: %w", root, err)
	}
	return w.tree, nil
}

func (w *walker) cut(format string, args ...any) {
	if w.tree.partial == "" {
		w.tree.partial = fmt.Sprintf(format, args...)
	}
}

// former is a folder as the last look saw it, when it did not change since.
func (w *walker) former(rel string, id ident) *folder {
	if w.old == nil {
		return nil
	}
	if f := w.old.folders[rel]; f != nil && !f.racy && f.id.same(id) {
		return f
	}
	return nil
}

// visit looks at a folder and all below. The only error is the context's; what can't be read is noted.
func (w *walker) visit(ctx context.Context, at *os.Root, rel string, info fs.FileInfo, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.left--; w.left < 0 {
		w.cut("more than %d folders", w.limits.Folders)
		return nil
	}
	id := identOf(info)
	f := w.former(rel, id)
	if f == nil {
		f = w.list(at, rel, id)
	}
	w.tree.folders[rel] = f
	for _, name := range f.marks {
		w.mark(at, rel, name)
	}
	if f.isGit {
		// Its folders are looked at all the same: three names are easily made.
		w.gitDir(at, rel, 0)
	}
	for _, name := range f.subs {
		if err := w.descend(ctx, at, rel, name, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) descend(ctx context.Context, at *os.Root, rel, name string, depth int) error {
	below := path.Join(rel, name)
	info, err := at.Lstat(name)
	if err != nil || !info.IsDir() {
		return nil // gone or replaced; a replaced name changed its folder, which the next look sees
	}
	if f := w.former(below, identOf(info)); f != nil && len(f.subs) == 0 && len(f.marks) == 0 && !f.isGit {
		w.tree.folders[below] = f
		return nil
	}
	if depth > w.limits.Depth {
		w.cut("folders deeper than %d", w.limits.Depth)
		return nil
	}
	sub, err := at.OpenRoot(name)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			w.item(at, name, below, hidden(Ask))
		}
		return nil
	}
	defer func() { _ = sub.Close() }()
	opened, err := sub.Stat(".")
	if err != nil {
		return nil
	}
	return w.visit(ctx, sub, below, opened, depth)
}

// list reads the names in a folder and keeps those that matter.
func (w *walker) list(at *os.Root, rel string, id ident) *folder {
	f := &folder{id: id, racy: racy(id, w.now)}
	dir, err := at.Open(".")
	if err != nil {
		if rel == "." {
			w.cut("it can't be read")
		} else {
			w.hide(rel)
		}
		f.racy = true
		return f
	}
	defer func() { _ = dir.Close() }()
	var head, objects, refs bool
	for n := 0; ; {
		entries, err := dir.ReadDir(1024)
		for _, e := range entries {
			f.note(e)
			head = head || e.Name() == "HEAD"
			objects = objects || e.Name() == "objects"
			refs = refs || e.Name() == "refs"
		}
		if n += len(entries); n > w.limits.Entries {
			w.cut("a folder with more than %d names", w.limits.Entries)
			f.racy = true
			break
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				w.cut("a folder that can't be read to its end")
				f.racy = true
			}
			break
		}
	}
	f.isGit = head && objects && refs
	return f
}

// note keeps an entry that matters.
func (f *folder) note(e fs.DirEntry) {
	name, lower := e.Name(), fold(e.Name())
	_, isFile := watchedFile(lower)
	_, isFolder := watchedFolder(lower)
	switch {
	case lower == ".git":
		f.marks = append(f.marks, name)
	case e.IsDir():
		if isFolder {
			f.marks = append(f.marks, name)
		}
		f.subs = append(f.subs, name)
	case isFile, isFolder: // a folder's name on a link leads to a folder elsewhere
		f.marks = append(f.marks, name)
	}
}

// mark looks at a name that matters.
func (w *walker) mark(at *os.Root, rel, name string) {
	below, lower := path.Join(rel, name), fold(name)
	info, err := at.Lstat(name)
	if err != nil {
		return
	}
	rule, isFolder := watchedFolder(lower)
	switch {
	case lower == ".git" && info.IsDir():
		w.open(at, name, below, func(git *os.Root) { w.gitDir(git, below, 0) })
	case lower == ".git":
		w.item(at, name, below, gitFile())
	case isFolder && info.IsDir():
		w.open(at, name, below, func(dir *os.Root) { w.settings(dir, below, "", rule, 0) })
	case isFolder:
		w.item(at, name, below, rule)
	default:
		if rule, ok := watchedFile(lower); ok {
			w.item(at, name, below, rule)
		}
	}
}

// settings notes the files of a watched folder that matter. within is the path below that folder.
func (w *walker) settings(at *os.Root, rel, within string, r rule, depth int) {
	if depth > 8 {
		w.cut("settings deeper than 8 folders")
		return
	}
	for _, e := range w.names(at) {
		inner := path.Join(within, e.Name())
		switch {
		case e.IsDir():
			if strings.EqualFold(e.Name(), ".git") {
				continue
			}
			sub := path.Join(rel, e.Name())
			w.open(at, e.Name(), sub, func(dir *os.Root) { w.settings(dir, sub, inner, r, depth+1) })
		case r.matters(inner), e.Type()&fs.ModeSymlink != 0 && r.matters(inner+"/"):
			w.item(at, e.Name(), path.Join(rel, e.Name()), r)
		}
	}
}

// names lists a small folder, bounded by the number of items.
func (w *walker) names(at *os.Root) []fs.DirEntry {
	dir, err := at.Open(".")
	if err != nil {
		return nil // open has noted it
	}
	defer func() { _ = dir.Close() }()
	entries, err := dir.ReadDir(w.limits.Items)
	if err == nil && len(entries) == w.limits.Items {
		w.cut("a watched folder with more than %d names", w.limits.Items)
	}
	return entries
}

// hidden is the rule for a folder that can't be looked into.
func hidden(a Action) rule {
	return rule{kind: Hidden, action: a, why: "it can't be looked into, so what it holds is unknown"}
}

// hide notes an open folder that can't be listed.
func (w *walker) hide(rel string) {
	it := &item{rule: hidden(Ask), mode: fs.ModeDir}
	if f := w.tree.folders[rel]; f != nil {
		it.id = f.id
	}
	w.tree.items[rel] = it
}

// open runs f with a folder that is watched, whose path below the root is rel. A link in its place is
// left alone.
func (w *walker) open(at *os.Root, name, rel string, f func(*os.Root)) {
	info, err := at.Lstat(name)
	if err != nil || !info.IsDir() {
		return
	}
	if info.Mode().Perm()&0o500 != 0o500 && closed(at, name) {
		w.item(at, name, rel, hidden(Move))
		return
	}
	if w.left--; w.left < 0 {
		w.cut("more than %d folders", w.limits.Folders)
		return
	}
	sub, err := at.OpenRoot(name)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			w.item(at, name, rel, hidden(Move))
		}
		return
	}
	defer func() { _ = sub.Close() }()
	f(sub)
}

// closed reports whether a folder can't be listed or entered.
func closed(at *os.Root, name string) bool {
	dir, err := at.Open(name)
	if err != nil {
		return errors.Is(err, fs.ErrPermission)
	}
	defer func() { _ = dir.Close() }()
	if _, err := dir.ReadDir(1); err != nil && !errors.Is(err, io.EOF) {
		return errors.Is(err, fs.ErrPermission)
	}
	_, err = at.Lstat(path.Join(name, "config"))
	return errors.Is(err, fs.ErrPermission)
}
