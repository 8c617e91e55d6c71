package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A repository with more folders of refs than this is read in the slow round instead.
const maxRefFolders = 256

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

// install watches what belongs to a checkout. What can't be watched is left to the slow round.
func (w *Watcher) install(k *watched) {
	gitDir, err := gitDirAt(k.dir)
	if err == nil {
		k.common, err = commonDirOf(gitDir)
	}
	if err != nil {
		k.gitDir, k.common, k.unwatched = "", "", true
		return
	}
	k.gitDir, k.common, k.unwatched = canonical(gitDir), canonical(k.common), false
	w.watch(canonical(k.dir), sub{topFolder, k})
	w.watch(k.gitDir, sub{gitFolder, k})
	w.watch(k.common, sub{refFolder, k})
	for _, refs := range []string{"refs", "reftable"} {
		w.watchRefs(filepath.Join(k.common, refs), k)
	}
	// Where the base is now, so that a later move shows.
	w.repoOf(k).refs = time.Now()
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
	for _, have := range w.subs[path] {
		if have == s {
			return
		}
	}
	if w.fs == nil {
		s.k.unwatched = true
		return
	}
	if len(w.subs[path]) == 0 {
		if err := w.addPath(path); err != nil {
			s.k.unwatched = true
			w.notice(err)
			return
		}
	}
	w.subs[path] = append(w.subs[path], s)
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
	for path, subs := range w.subs {
		kept := subs[:0]
		for _, s := range subs {
			if s.k != k {
				kept = append(kept, s)
			}
		}
		if len(kept) > 0 {
			w.subs[path] = kept
			continue
		}
		delete(w.subs, path)
		_ = w.fs.Remove(path) // it is gone with its folder
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
	for _, s := range w.subs[filepath.Dir(e.Name)] {
		switch s.kind {
		case topFolder:
			if name == ".git" && e.Has(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) {
				w.unwatch(s.k)
				w.install(s.k)
			} else if name == ".git" {
				continue // the main checkout's git folder is watched itself
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
	gone := w.subs[e.Name]
	delete(w.subs, e.Name)
	for _, s := range gone {
		if s.kind != refFolder {
			s.k.gitDir = ""
			s.k.touch(now, w.pace)
		}
	}
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
