// Package store owns the data root: the one folder that holds everything Carrel keeps.
//
//	settings.jsonc, providers.jsonc   edited by people and by us; comments survive our edits
//	registry.db                       projects, workspaces, queue, usage (SQLite, several writers)
//	sessions/<workspace id>/          transcripts; only the holder of the session's lock writes there
//	run/                              locks and the core's socket
//	src/, trash/, logs/               worktrees, deleted worktrees, logs
//
// It promises that a file is replaced whole or not at all, that two processes on one root never
// lose each other's edits, and that a file it can't read is kept aside under a name that the
// person is told, never overwritten by defaults.
package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Root is an open data root. Its methods may be called from any goroutine.
type Root struct {
	dir string

	dbMu sync.Mutex // opening may wait for other processes; nothing else waits for it
	db   *sql.DB
	// dbFile is the registry's file as it was when it was opened.
	dbFile fs.FileInfo
	using  *Lock // shared, held while db is open

	mu       sync.Mutex
	problems []Problem
	tell     []func(Problem)

	stops    []context.CancelFunc // of the watchers
	watchers sync.WaitGroup
}

// Open opens the data root in dir, and makes it (mode 0700) if it is missing. An empty dir means
// the one that CARREL_ROOT names, else ~/.carrel. It refuses a root of another user and one that
// others can write, because what lies there decides what runs here.
func Open(dir string) (*Root, error) {
	dir, err := locate(dir)
	if err != nil {
		return nil, fmt.Errorf("find the data root: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make data root: %w", err)
	}
	// Canonical once, here: every path below it compares equal however the person spelled it.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("open data root: %w", err)
	}
	if err := secure(dir); err != nil {
		return nil, fmt.Errorf("open data root %q: %w", dir, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "run"), 0o700); err != nil {
		return nil, fmt.Errorf("open data root: %w", err)
	}
	return &Root{dir: dir}, nil
}

// locate says where the data root is to be, as an absolute path.
func locate(dir string) (string, error) {
	if dir == "" {
		dir = os.Getenv("CARREL_ROOT")
	}
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no home folder; set CARREL_ROOT: %w", err)
		}
		dir = filepath.Join(home, ".carrel")
	}
	return filepath.Abs(dir)
}

// secure makes sure that nobody else can change or read what is in dir. A folder that is still
// empty is simply tightened: whatever its mode was, nobody has put anything there.
func secure(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errors.New("it is not a folder")
	}
	if !ownedByUs(info) {
		return errors.New("it belongs to another user; choose another folder with CARREL_ROOT")
	}
	mode := info.Mode().Perm()
	if mode&0o077 == 0 {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if mode&0o022 != 0 && len(entries) > 0 {
		return fmt.Errorf("other users can write it (mode %04o); look at what is in it, then run: chmod 700 %s",
			mode, dir)
	}
	return os.Chmod(dir, 0o700)
}

// Dir is the root's folder: absolute, without symbolic links.
func (r *Root) Dir() string { return r.dir }

// Path joins elem to the root's folder.
func (r *Root) Path(elem ...string) string {
	return filepath.Join(append([]string{r.dir}, elem...)...)
}

// validID is what may become a folder name: ids of ours, and nothing that climbs.
var validID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// SessionDir is the folder of a workspace's session, made (mode 0700) if it is missing. An id that
// could name anything else than a folder directly below sessions/ is an error.
func (r *Root) SessionDir(id string) (string, error) {
	if !validID.MatchString(id) {
		return "", fmt.Errorf("open session %q: not an id", id)
	}
	dir := r.Path("sessions", id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("open session %q: %w", id, err)
	}
	return dir, nil
}

// SessionOf gives id if this root has a session of that id, else "". It makes nothing.
func (r *Root) SessionOf(id string) string {
	if !validID.MatchString(id) || !exists(r.Path("sessions", id)) {
		return ""
	}
	return id
}

// NewID makes an id: 12 characters of a-z and 2-7, 60 bits from the system's random source.
func NewID() string {
	var raw [8]byte
	_, _ = rand.Read(raw[:]) // never fails: the runtime ends the process instead
	return strings.ToLower(base32.StdEncoding.EncodeToString(raw[:]))[:12]
}

// Close stops the watchers and closes the registry. Locks are closed by who took them.
func (r *Root) Close() error {
	r.mu.Lock()
	for _, stop := range r.stops {
		stop()
	}
	r.mu.Unlock()
	r.watchers.Wait()
	r.dbMu.Lock()
	defer r.dbMu.Unlock()
	var err error
	if r.db != nil {
		err = errors.Join(r.db.Close(), r.using.Close())
		r.db, r.using = nil, nil
	}
	return err
}

// exists reports whether something is at path, without following a link.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
