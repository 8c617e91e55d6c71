package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// cacheConns bounds the connections of one process to a cache.
const cacheConns = 3

// Cache is a database that may be thrown away at any time, because what is in it can be made again.
// Several processes may use it.
type Cache struct {
	*sql.DB
	using *Lock
}

// CacheSpec says what a cache is.
type CacheSpec struct {
	Name    string // NAME.db in the data root
	Version int    // of Schema, from 1; a file of any other version is thrown away
	Schema  string // SQL that makes the tables
}

// OpenCache opens a cache. One that is missing, damaged or of another version is made anew, unless
// another process uses it: then it is a *LockedError.
func (r *Root) OpenCache(ctx context.Context, spec CacheSpec) (*Cache, error) {
	c, err := r.openCache(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("open %s.db: %w", spec.Name, err)
	}
	return c, nil
}

func (r *Root) openCache(ctx context.Context, spec CacheSpec) (*Cache, error) {
	opening, err := waitLock(r.Path("run", spec.Name+".open.lock"), true)
	if err != nil {
		return nil, err
	}
	defer func() { _ = opening.Close() }()
	db, err := r.soundCache(ctx, spec)
	if damaged(err) || errors.Is(err, errOtherVersion) {
		if err := r.removeCache(spec.Name); err != nil {
			return nil, err
		}
		db, err = r.soundCache(ctx, spec)
	}
	if err != nil {
		return nil, err
	}
	using, err := waitLock(r.Path("run", spec.Name+".lock"), false)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Cache{DB: db, using: using}, nil
}

// Close lets go of the cache.
func (c *Cache) Close() error { return errors.Join(c.DB.Close(), c.using.Close()) }

// DropCache throws a cache away that turned out to be damaged, unless a process uses it: then it is
// a *LockedError.
func (r *Root) DropCache(name string) error {
	opening, err := waitLock(r.Path("run", name+".open.lock"), true)
	if err != nil {
		return fmt.Errorf("drop %s.db: %w", name, err)
	}
	defer func() { _ = opening.Close() }()
	if err := r.removeCache(name); err != nil {
		return fmt.Errorf("drop %s.db: %w", name, err)
	}
	return nil
}

// removeCache removes the files while nobody has them open: a process that goes on in removed files
// would at its end remove the log of the new ones.
func (r *Root) removeCache(name string) error {
	alone, err := takeLock(r.Path("run", name+".lock"))
	if err != nil {
		return err
	}
	errs := []error{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(r.Path(name + ".db" + suffix)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, alone.Close())...)
}

var errOtherVersion = errors.New("it has another schema")

// soundCache opens the file and makes the tables if there are none.
func (r *Root) soundCache(ctx context.Context, spec CacheSpec) (*sql.DB, error) {
	file := r.Path(spec.Name + ".db")
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600) // SQLite would let others read it
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", cacheDSN(file))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(cacheConns)
	db.SetMaxIdleConns(cacheConns)
	if err := makeCache(ctx, db, spec); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func makeCache(ctx context.Context, db *sql.DB, spec CacheSpec) error {
	var version, tables int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version == spec.Version {
		return nil
	}
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if version != 0 || tables > 0 {
		return errOtherVersion
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if _, err := tx.ExecContext(ctx, spec.Schema); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", spec.Version)); err != nil {
		return err
	}
	return tx.Commit()
}

// cacheDSN is like the registry's, but a power cut may take the last commits.
func cacheDSN(file string) string {
	u := url.URL{Scheme: "file", Path: file}
	q := url.Values{"_txlock": {"immediate"}}
	for _, p := range []string{"busy_timeout(10000)", "page_size(8192)", "journal_mode(WAL)", "synchronous(NORMAL)",
		"journal_size_limit(16777216)", "cache_size(-8000)"} {
		q.Add("_pragma", p)
	}
	return u.String() + "?" + q.Encode()
}

// Damaged reports whether err, of a Cache, means that its file is no sound database.
func Damaged(err error) bool { return damaged(err) }
