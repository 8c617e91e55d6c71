package scan

import (
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
)

const (
	// maxContent is how much of a watched file is read and kept for putting it back. A longer one is
	// told by its change time and not put back.
	maxContent = 256 << 10
	// maxKept bounds what a look keeps of all files.
	maxKept = 16 << 20
)

// item is one watched file, or what is in its place.
type item struct {
	rule    rule
	id      ident
	racy    bool
	mode    fs.FileMode
	size    int64
	sum     [sha256.Size]byte // of the content, or of a link's target
	content []byte            // nil when there is none, it is too long, or too much is kept already
	read    bool              // sum is of the whole content
}

// same reports whether a file means what it meant.
func (i *item) same(other *item) bool {
	if i.mode != other.mode || i.size != other.size {
		return false
	}
	if i.read && other.read {
		return i.sum == other.sum
	}
	return i.id.same(other.id) && !i.racy && !other.racy
}

// item notes the file with that name. rel is its path below the root.
func (w *walker) item(at *os.Root, name, rel string, r rule) {
	if len(w.tree.items) >= w.limits.Items {
		w.cut("more than %d files that are watched", w.limits.Items)
		return
	}
	info, err := at.Lstat(name)
	if err != nil {
		return
	}
	it := &item{rule: r, id: identOf(info), mode: info.Mode(), size: info.Size()}
	it.racy = racy(it.id, w.now)
	w.tree.items[rel] = it
	if w.old != nil {
		if old := w.old.items[rel]; old != nil && !old.racy && old.read && old.id.same(it.id) {
			it.sum, it.content, it.read = old.sum, old.content, true
			w.kept += int64(len(it.content))
			return
		}
	}
	w.readItem(at, name, it)
}

func (w *walker) readItem(at *os.Root, name string, it *item) {
	switch {
	case it.mode&fs.ModeSymlink != 0:
		if target, err := at.Readlink(name); err == nil {
			it.sum, it.content, it.read = sha256.Sum256([]byte(target)), []byte(target), true
		}
		return
	case !it.mode.IsRegular() || it.size > maxContent:
		return
	}
	f, err := at.OpenFile(name, os.O_RDONLY|openFlags, 0) // never waits for a pipe's other end
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return
	}
	content, err := io.ReadAll(io.LimitReader(f, maxContent+1))
	if err != nil || len(content) > maxContent {
		return
	}
	it.sum, it.read = sha256.Sum256(content), true
	if w.kept += int64(len(content)); w.kept <= maxKept {
		it.content = content
	}
}

func lstatIdent(path string) (ident, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return ident{}, err
	}
	return identOf(info), nil
}
