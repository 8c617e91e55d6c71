package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// calmTime joins the several writes of one commit or save into one call.
	calmTime = 50 * time.Millisecond
	// lookAgain is how often we look again after the last event, each time after twice the pause. An
	// event tells that a commit is being written; it counts only once it is synced, which a busy disk
	// takes its time for and nobody tells.
	lookAgain = 5
	// pollTime is how often we look where the system can't watch a folder.
	pollTime = 2 * time.Second
)

// Changed calls onChange, on a goroutine of its own, after another process has changed the registry
// or a JSONC file, until ctx ends or the root is closed. It watches when it returns, so a later
// change is not missed. Our own writes may cause a call as well: take it as "look again", and don't
// write in it.
func (r *Root) Changed(ctx context.Context, onChange func()) {
	ctx, cancel := context.WithCancel(ctx)
	events := watchFolder(r.dir)
	w := &watch{root: r, tell: onChange}
	w.look(ctx) // the state that later looks are compared with
	r.mu.Lock()
	r.stops = append(r.stops, cancel)
	r.mu.Unlock()
	r.watchers.Add(1)
	go func() {
		defer r.watchers.Done()
		defer cancel()
		defer w.close()
		if events == nil {
			w.poll(ctx)
			return
		}
		defer func() { _ = events.Close() }()
		w.follow(ctx, events)
	}()
}

// watchFolder watches dir, or gives nil where the system can't: it is out of watches, most likely.
func watchFolder(dir string) *fsnotify.Watcher {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil
	}
	if err := w.Add(dir); err != nil {
		_ = w.Close()
		return nil
	}
	return w
}

// watch is one caller of Changed. Its goroutine owns it.
type watch struct {
	root    *Root
	tell    func()
	conn    *sql.Conn // data_version counts per connection, so it keeps one
	version int64
	seen    map[string][sha256.Size]byte
}

// follow looks each time the folder has been calm for a moment after an event, and a few times more.
func (w *watch) follow(ctx context.Context, events *fsnotify.Watcher) {
	calm := time.NewTimer(time.Hour)
	calm.Stop()
	defer calm.Stop()
	waiting, again := false, 0
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-events.Events:
			if !ok {
				return
			}
			if !waiting && concerns(e.Name) {
				calm.Reset(calmTime) // not put off by further events: a busy writer is heard too
				waiting, again = true, 0
			}
		case _, ok := <-events.Errors: // events were lost: look
			if !ok {
				return
			}
			calm.Reset(0)
			waiting, again = true, 0
		case <-calm.C:
			waiting = false
			w.report(ctx)
			if again < lookAgain {
				again++
				calm.Reset(calmTime << again)
			}
		}
	}
}

func (w *watch) poll(ctx context.Context) {
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.report(ctx)
		}
	}
}

func (w *watch) report(ctx context.Context) {
	if w.look(ctx) && ctx.Err() == nil {
		w.tell()
	}
}

// concerns reports whether an event's file can mean news.
func concerns(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, registryFile) || name == settingsFile || name == providersFile
}

// look compares everything with what it was at the last look and reports whether it is different.
func (w *watch) look(ctx context.Context) bool {
	news := w.lookRegistry(ctx)
	if w.seen == nil {
		w.seen = map[string][sha256.Size]byte{}
	}
	for _, name := range []string{settingsFile, providersFile} {
		text, err := readSettings(w.root.Path(name))
		if err != nil {
			text = nil // missing counts as empty
		}
		now := sha256.Sum256(text)
		before, known := w.seen[name]
		w.seen[name] = now
		if known && before != now {
			news = true
		}
	}
	return news
}

func (w *watch) lookRegistry(ctx context.Context) bool {
	if w.conn == nil {
		db, err := w.root.DB(ctx)
		if err != nil {
			return false
		}
		if w.conn, err = db.Conn(ctx); err != nil {
			return false
		}
		w.version, _ = dataVersion(ctx, w.conn)
		return false
	}
	w.root.checkRegistry()
	v, err := dataVersion(ctx, w.conn)
	if err != nil || v == w.version {
		return false
	}
	w.version = v
	return true
}

func (w *watch) close() {
	if w.conn != nil {
		_ = w.conn.Close()
	}
}
