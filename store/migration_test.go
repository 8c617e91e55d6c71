package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"testing"

	_ "modernc.org/sqlite"

	"carrel/store"
)

// oldRegistry makes the registry that an older Carrel left: the first migrations up to version, and
// what script puts in.
func oldRegistry(t *testing.T, r *store.Root, version int, script string) {
	t.Helper()
	d, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: r.Path("registry.db")}).String())
	if err != nil {
		t.Fatal(err)
	}
	for v := 1; v <= version; v++ {
		migration, err := os.ReadFile(fmt.Sprintf("migrations/%03d.sql", v))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Exec(string(migration)); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []string{script, fmt.Sprintf("PRAGMA user_version = %d", version)} {
		if _, err := d.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAnOldRegistryKeepsItsRows(t *testing.T) {
	r := open(t)
	oldRegistry(t, r, 1, `
		INSERT INTO projects (id, name, path, added_at) VALUES ('p', 'desk', '/desk', 1);
		INSERT INTO workspaces (rowid, id, project_id, name, runtime, dir, model, created_at, active_at)
			VALUES (7, 'w', 'p', 'fix', 'worktree', '/fix', 'demo:story', 1, 2);
		INSERT INTO queue VALUES ('m2', 'w', 2, 'second', 20), ('m1', 'w', 1, 'first', 10);
		INSERT INTO usage VALUES ('w', 5, 'demo:story', 1, 2, 3, 4)`)
	d := db(t, r)
	if p := r.Problems(); len(p) > 0 {
		t.Fatalf("problems %+v", p)
	}
	for query, want := range map[string]string{
		`SELECT group_concat(id || text || dispatch || created_at) FROM (SELECT * FROM queue ORDER BY position)`: "m1firststep10,m2secondstep20",
		`SELECT rowid || id || name || model || level || pro || auto_retry FROM workspaces`:                      "7wfixdemo:story01",
		`SELECT count(*) FROM workspaces WHERE budget_micro IS NULL`:                                             "1",
		`SELECT input || output || cache_read || cache_write || at || kind FROM usage WHERE cost_micro IS NULL`:  "12345",
		`SELECT count(*) FROM drafts`: "0",
	} {
		var got string
		if err := d.QueryRow(query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", query, got, err, want)
		}
	}
}

func TestTwoWorkspacesMayQueueTheSameID(t *testing.T) {
	d := db(t, open(t))
	const add = `INSERT INTO queue (id, workspace_id, position, text, created_at) VALUES ('m', ?, 1, 'hello', 1)`
	for _, w := range []string{"one", "two"} {
		if _, err := d.Exec(add, w); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Exec(add, "one"); err == nil {
		t.Fatal("one workspace has the id twice")
	}
}

// An older program that runs while a newer one migrates writes with the statements it knows.
func TestTheStatementsOfTheFirstSchemaStillWork(t *testing.T) {
	r := open(t)
	d := db(t, r)
	_, err := d.Exec(`
		INSERT INTO queue (id, workspace_id, position, text, created_at)
		SELECT 'm', 'w', COALESCE((SELECT MAX(position) FROM queue WHERE workspace_id = 'w'), 0) + 1, 'hi', 1;
		INSERT INTO workspaces (id, project_id, name, title, runtime, branch, made_branch, base, dir, model, init,
			creating, created_at, active_at) VALUES ('w', NULL, 'n', '', 'local', '', 0, '', '/d', '', 'none', 0, 1, 1)
			ON CONFLICT (project_id, name) DO NOTHING`)
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryMigrationMakesTheNextSchema(t *testing.T) {
	all, err := os.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	for version := range all {
		r := open(t)
		if version > 0 {
			oldRegistry(t, r, version, "")
		}
		var now int
		if err := db(t, r).QueryRowContext(context.Background(), "PRAGMA user_version").Scan(&now); err != nil || now != len(all) {
			t.Errorf("from %d: schema %d %v", version, now, err)
		}
	}
}
