package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed migrations/*.sql
var migrations embed.FS

const registryFile = "registry.db"

// Reading every page of a registry up to this many bytes costs a few milliseconds, so it is checked
// whole when opened. Damage inside a larger one shows when it is read.
const checkAtMost = 4 << 20

// maxConns bounds the connections of one process: readers do not wait for each other, and each has
// a page cache of its own.
const maxConns = 4

// NewerError says that a newer Carrel wrote the registry. It is left untouched.
type NewerError struct {
	Path        string
	Have, Known int // schema versions: the file's, and the newest that this program knows
}

// Error says what to do.
func (e *NewerError) Error() string {
	return fmt.Sprintf("%s was written by a newer Carrel (schema %d, this one knows %d): "+
		"update Carrel, or choose another data root with CARREL_ROOT", e.Path, e.Have, e.Known)
}

// DB opens the registry, once; every call gives the same pool. It migrates an older schema and
// refuses a newer one (*NewerError). A damaged file is kept aside, reported, and a fresh one made,
// unless another process has it open: then it is an error. A disk that takes nothing is a *DiskError.
func (r *Root) DB(ctx context.Context) (*sql.DB, error) {
	r.dbMu.Lock()
	defer r.dbMu.Unlock()
	if r.db != nil {
		return r.db, nil
	}
	db, using, err := r.openRegistry(ctx)
	if err != nil {
		return nil, fmt.Errorf("open registry: %w", r.onDisk(err))
	}
	r.db, r.using = db, using
	if info, err := os.Stat(r.Path(registryFile)); err == nil {
		r.dbFile = info
	}
	return db, nil
}

// checkRegistry reports it when the registry that is open is no longer the file at its place: what is
// written then is lost when this process ends.
func (r *Root) checkRegistry() {
	r.dbMu.Lock()
	opened := r.dbFile
	r.dbMu.Unlock()
	path := r.Path(registryFile)
	if info, err := os.Stat(path); opened == nil || err == nil && os.SameFile(info, opened) {
		return
	}
	r.report(Problem{Code: RegistryGone, Path: path, Message: registryFile + " was removed or replaced while Carrel used it. " +
		"Projects and workspaces that change now are not kept. Close every Carrel, put the right file back, then start again."})
}

// openRegistry opens and migrates while no other process does the same: two that turn a new file
// to WAL at once trip over each other.
func (r *Root) openRegistry(ctx context.Context) (*sql.DB, *Lock, error) {
	opening, err := waitLock(r.Path("run", "registry.open.lock"), true)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = opening.Close() }()
	file := r.Path(registryFile)
	db, bad := openSound(ctx, file)
	if damaged(bad) {
		reason := bad
		// Whoever has it open holds this lock shared; moving the file under them would split the
		// registry in two.
		alone, err := takeLock(r.Path("run", "registry.lock"))
		if err != nil {
			return nil, nil, fmt.Errorf("%s is damaged and in use: close every Carrel, then start again: %w",
				file, errors.Join(reason, err))
		}
		_, err = r.KeepAside(file, reason.Error())
		if err := errors.Join(err, alone.Close()); err != nil {
			return nil, nil, err
		}
		db, bad = openSound(ctx, file)
	}
	if bad != nil {
		return nil, nil, bad
	}
	using, err := waitLock(r.Path("run", "registry.lock"), false)
	if err != nil {
		_ = db.Close()
		return nil, nil, err
	}
	return db, using, nil
}

// openSound opens the file, checks it and brings it to the newest schema.
func openSound(ctx context.Context, file string) (*sql.DB, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600) // SQLite would let others read it
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dsn(file))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	err = migrate(ctx, db, file)
	if err == nil && info.Size() > 0 && info.Size() <= checkAtMost {
		err = check(ctx, db)
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// dsn names the file and how each connection behaves. FULL: a message that we called saved is still
// there after a power cut. Immediate: a transaction that reads first can't fail at its first write.
func dsn(file string) string {
	u := url.URL{Scheme: "file", Path: file}
	q := url.Values{"_txlock": {"immediate"}}
	for _, p := range []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"} {
		q.Add("_pragma", p)
	}
	return u.String() + "?" + q.Encode()
}

// errCheck says that SQLite's own check found damage.
type errCheck string

func (e errCheck) Error() string { return string(e) }

func check(ctx context.Context, db *sql.DB) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return errCheck(verdict)
	}
	return nil
}

// damaged reports whether err means that the file is no sound database.
func damaged(err error) bool {
	var found errCheck
	if errors.As(err, &found) {
		return true
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	primary := e.Code() & 0xff
	return primary == sqlite3.SQLITE_CORRUPT || primary == sqlite3.SQLITE_NOTADB
}

// migrate runs the migrations that the file has not seen, each in one transaction.
func migrate(ctx context.Context, db *sql.DB, file string) error {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	var have int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	if have > len(names) {
		return &NewerError{Path: file, Have: have, Known: len(names)}
	}
	for ; have < len(names); have++ {
		if err := migrateOne(ctx, db, names[have], have+1); err != nil {
			return fmt.Errorf("migrate %q: %w", path.Base(names[have]), err)
		}
	}
	return nil
}

func migrateOne(ctx context.Context, db *sql.DB, name string, version int) error {
	script, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if _, err := tx.ExecContext(ctx, string(script)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		return err
	}
	return tx.Commit()
}

// dataVersion is a number that changes when any other connection, of this process or another, has
// committed to the registry since the last call on the same connection.
func dataVersion(ctx context.Context, c *sql.Conn) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var v int64
	err := c.QueryRowContext(ctx, "PRAGMA data_version").Scan(&v)
	return v, err
}
