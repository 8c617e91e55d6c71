package git

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A repository with more folders of refs than this is read in the slow round instead.
const maxRefFolders = 256

// folder is a watched folder. A watch stays with a folder that is moved, even when another takes its
// name, so it is kept which one it was.
type folder struct {
	subs  []sub
	place os.FileInfo
}

// sub says what a watched folder means to whom.
type sub struct {
	kind subKind
	k    *watched
}

type subKind int

const (
	topFolder subKind = iota // of the checkout
	gitFolder                // of the checkout
	refFolder                // of the repository: the common folder and those below refs
)

// install watches what belongs to a checkout, and reports whether it is one. What was read before has
// to be read again then: nothing told of a change in between. What can't be watched is left to the slow
// round.
func (w *Watcher) install(k *watched) bool {
	k.top, k.gitDir, k.common = canonical(k.dir), "", ""
	w.watch(k.top, sub{topFolder, k})
	gitDir, err := gitDirAt(k.dir)
	common := ""
	if err == nil {
		common, err = commonDirOf(gitDir)
	}
	if err == nil {
		_, err = os.Stat(gitDir)
	}
	if err != nil {
		k.unwatched = true
		return false
	}
	k.gitDir, k.common, k.unwatched = canonical(gitDir), canonical(common), false
	w.watch(k.top, sub{topFolder, k}) // again: it may only be there since
	w.watch(k.gitDir, sub{gitFolder, k})
	w.watch(k.common, sub{refFolder, k})
	for _, refs := range []string{"refs", "reftable"} {
		w.watchRefs(filepath.Join(k.common, refs), k)
	}
	// Where the base is now, so that a later move shows.
	w.repoOf(k).refs = time.Now()
	return true
}

// reinstall watches a checkout anew whose folder went, came back or became another one.
func (w *Watcher) reinstall(k *watched) {
	w.unwatch(k)
	if w.install(k) {
		k.touch(time.Now(), w.pace)
	}
}

// seat is a path and the folder that is watched under it.
type seat struct {
	path  string
	place os.FileInfo
}

// taken reports whether the folder at the path is still that one.
func (s seat) taken() bool {
	now, err := os.Stat(s.path)
	return err == nil && s.place != nil && os.SameFile(now, s.place)
}

// seatsOf gives the two folders that a checkout stands on, as far as they are watched.
func (w *Watcher) seatsOf(k *watched) (seats []seat) {
	if f := w.folders[k.top]; f != nil {
		seats = append(seats, seat{k.dir, f.place})
	}
	if f := w.folders[k.gitDir]; f != nil {
		seats = append(seats, seat{k.gitDir, f.place})
	}
	return seats
}

// watchRefs watches a folder of refs and the folders in it.
func (w *Watcher) watchRefs(dir string, k *watched) {
	left := maxRefFolders
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if left--; left < 0 {
			k.unwatched = true
			return filepath.SkipAll
		}
		w.watch(path, sub{refFolder, k})
		return nil
	})
}

func (w *Watcher) watch(path string, s sub) {
	if w.fs == nil {
		s.k.unwatched = true
		return
	}
	f := w.folders[path]
	if f != nil && !(seat{path, f.place}).taken() {
		w.replaced(path)
		f = nil
	}
	if f == nil {
		f = &folder{}
		f.place, _ = os.Stat(path) // before it is watched: if it is replaced in between, that shows
		if err := w.addPath(path); err != nil {
			s.k.unwatched = true
			w.notice(err)
			return
		}
		w.folders[path] = f
	}
	if !slices.Contains(f.subs, s) {
		f.subs = append(f.subs, s)
	}
}

// replaced ends a watch whose folder is another one now. All who need it are read, and installed anew.
func (w *Watcher) replaced(path string) {
	f := w.folders[path]
	delete(w.folders, path)
	_ = w.fs.Remove(path) // it may be gone with its folder
	for _, s := range f.subs {
		s.k.gitDir = ""
		s.k.touch(time.Now(), w.pace)
	}
}

// notice tells the user once that the system gives no more watches.
func (w *Watcher) notice(err error) {
	full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
	if !full || w.noticed {
		return
	}
	w.noticed = true
	w.g.notice("This system gives no more file watches, so the state of some workspaces is only read every few seconds.")
}

func (w *Watcher) remove(key string) {
	k := w.keys[key]
	if k == nil {
		return
	}
	k.gone.Store(true)
	delete(w.keys, key)
	w.unwatch(k)
	for _, other := range w.keys {
		if other.common == k.common {
			return
		}
	}
	if r := w.repos[k.common]; r != nil && !r.busy {
		delete(w.repos, k.common)
	}
}

func (w *Watcher) unwatch(k *watched) {
	for path, f := range w.folders {
		var kept []sub // not in place: the caller may be reading the old ones
		for _, s := range f.subs {
			if s.k != k {
				kept = append(kept, s)
			}
		}
		if f.subs = kept; len(kept) == 0 {
			delete(w.folders, path)
			_ = w.fs.Remove(path) // it is gone with its folder
		}
	}
}

// Files of a git folder whose change means another state.
var stateFiles = map[string]bool{
	"HEAD": true, "index": true, "MERGE_HEAD": true, "CHERRY_PICK_HEAD": true, "REVERT_HEAD": true,
	"BISECT_LOG": true, "rebase-merge": true, "rebase-apply": true, "config.worktree": true,
}

func (w *Watcher) event(e fsnotify.Event, now time.Time) {
	name := filepath.Base(e.Name)
	if strings.HasSuffix(name, ".lock") {
		return
	}
	for _, s := range w.subsOf(filepath.Dir(e.Name)) {
		switch s.kind {
		case topFolder:
			if name == ".git" && e.Has(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) {
				w.unwatch(s.k)
				w.install(s.k)
			} else if name == ".git" || s.k.gitDir == "" {
				continue // the main checkout's git folder is watched itself; without one there is nothing to read
			}
			s.k.touch(now, w.pace)
		case gitFolder:
			if stateFiles[name] {
				s.k.touch(now, w.pace)
			}
		case refFolder:
			w.refEvent(e, s.k, now)
		}
	}
	if !e.Has(fsnotify.Remove | fsnotify.Rename) {
		return
	}
	// A watched folder itself has gone.
	gone := w.subsOf(e.Name)
	delete(w.folders, e.Name)
	for _, s := range gone {
		if s.kind != refFolder {
			s.k.gitDir = ""
			s.k.touch(now, w.pace)
		}
	}
}

func (w *Watcher) subsOf(path string) []sub {
	if f := w.folders[path]; f != nil {
		return f.subs
	}
	return nil
}

// refEvent handles a change in the common folder or below refs.
func (w *Watcher) refEvent(e fsnotify.Event, k *watched, now time.Time) {
	if filepath.Dir(e.Name) == k.common && filepath.Base(e.Name) != "packed-refs" {
		return
	}
	if e.Has(fsnotify.Create) {
		if info, err := os.Lstat(e.Name); err == nil && info.IsDir() {
			w.watchRefs(e.Name, k)
		}
	}
	if r := w.repoOf(k); r.refs.IsZero() {
		r.refs = now.Add(w.pace.settle)
	}
}

// failure handles what fsnotify could not deliver: after an overflow everything may have changed.
func (w *Watcher) failure(err error) {
	w.notice(err)
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		return
	}
	now := time.Now()
	for _, k := range w.keys {
		k.touch(now, w.pace)
	}
}
