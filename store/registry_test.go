package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	"carrel/store"
)

func db(t *testing.T, r *store.Root) *sql.DB {
	t.Helper()
	d, err := r.DB(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func addProject(t *testing.T, d *sql.DB, id string) {
	t.Helper()
	_, err := d.Exec(`INSERT INTO projects (id, name, path, added_at) VALUES (?, 'p', ?, 1)`, id, "/p/"+id)
	if err != nil {
		t.Fatal(err)
	}
}

func countProjects(t *testing.T, d *sql.DB) int {
	t.Helper()
	var n int
	if err := d.QueryRow(`SELECT count(*) FROM projects`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTwoProcessesShareTheRegistry(t *testing.T) {
	a := open(t)
	b := openAt(t, a.Dir())
	addProject(t, db(t, a), "one")
	addProject(t, db(t, b), "two")
	if n := countProjects(t, db(t, a)); n != 2 {
		t.Fatalf("%d projects", n)
	}
	if info, err := os.Stat(a.Path("registry.db")); err != nil || info.Mode() != 0o600 {
		t.Fatalf("got %v %v", info, err)
	}
}

func TestADamagedRegistryIsKeptAsideAndNamed(t *testing.T) { // O-DATA-03
	damage := map[string]func([]byte) []byte{
		"no database":     func([]byte) []byte { return []byte(strings.Repeat("garbage ", 1000)) },
		"cut in the half": func(b []byte) []byte { return b[:len(b)/2] },
		"a page of zeros": func(b []byte) []byte { return append(bytes.Clone(b[:4096]), make([]byte, len(b)-4096)...) },
	}
	for name, spoil := range damage {
		t.Run(name, func(t *testing.T) {
			r := open(t)
			addProject(t, db(t, r), "one")
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			bad := spoil([]byte(read(t, r.Path("registry.db"))))
			write(t, r, "registry.db", string(bad))
			if n := countProjects(t, db(t, r)); n != 0 {
				t.Fatalf("%d projects in the fresh registry", n)
			}
			p := r.Problems()
			if len(p) != 1 || p[0].Code != store.CorruptFile || read(t, p[0].Path) != string(bad) {
				t.Fatalf("problems %+v", p)
			}
		})
	}
}

func TestADamagedRegistryInUseIsLeftAlone(t *testing.T) {
	a := open(t)
	addProject(t, db(t, a), "one")
	if _, err := db(t, a).Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	write(t, a, "registry.db", strings.Repeat("garbage ", 1000))
	b := openAt(t, a.Dir())
	_, err := b.DB(context.Background())
	var locked *store.LockedError
	if !errors.As(err, &locked) || len(b.Problems()) != 0 {
		t.Fatalf("got %v, problems %v", err, b.Problems())
	}
}

func TestANewerRegistryIsRefusedAndLeftAlone(t *testing.T) {
	r := open(t)
	if _, err := db(t, r).Exec("PRAGMA user_version = 1000"); err != nil {
		t.Fatal(err)
	}
	_, err := openAt(t, r.Dir()).DB(context.Background())
	var newer *store.NewerError
	if !errors.As(err, &newer) || newer.Have != 1000 || !strings.Contains(err.Error(), "update Carrel") {
		t.Fatalf("got %v", err)
	}
}

func TestLocksNameTheirHolder(t *testing.T) {
	r := open(t)
	for _, take := range []func() (*store.Lock, error){r.Lock, func() (*store.Lock, error) { return r.LockSession("abc") }} {
		l, err := take()
		if err != nil {
			t.Fatal(err)
		}
		var locked *store.LockedError
		if _, err := take(); !errors.As(err, &locked) || locked.PID != os.Getpid() {
			t.Fatalf("got %v", err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := take()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
