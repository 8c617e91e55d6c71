package app_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"carrel/app"
)

// countedGit puts a git before the true one that notes its calls.
func countedGit(t *testing.T) (path string, calls func() int) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "calls")
	write(t, filepath.Join(dir, "git"), fmt.Sprintf("#!/bin/sh\necho \"$@\" >> '%s'\nPATH='%s' exec git \"$@\"\n", log, os.Getenv("PATH")))
	if err := os.Chmod(filepath.Join(dir, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir + ":" + os.Getenv("PATH"), func() int {
		text, err := os.ReadFile(log)
		if err != nil {
			return 0
		}
		return strings.Count(string(text), "\n")
	}
}

// heldGit puts a git before the true one. hold makes its status calls in a folder wait, begun returns when
// one does, and release lets them go on.
func heldGit(t *testing.T) (path string, hold func(dir string), begun, release func()) {
	t.Helper()
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate") // a pipe, with the folder in its name
	write(t, filepath.Join(dir, "git"), fmt.Sprintf(`#!/bin/sh
gate='%s'$(pwd -P | tr / _)
case " $* " in *" status "*) [ -p "$gate" ] && cat "$gate" ;; esac
PATH='%s' exec git "$@"
`, gate, os.Getenv("PATH")))
	if err := os.Chmod(filepath.Join(dir, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	var pipe *os.File
	hold = func(in string) {
		real, err := filepath.EvalSymlinks(in)
		gate += strings.ReplaceAll(real, "/", "_")
		if err := errors.Join(err, syscall.Mkfifo(gate, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	begun = func() { // opening waits for the other end
		var err error
		if pipe, err = os.OpenFile(gate, os.O_WRONLY, 0); err != nil {
			t.Fatal(err)
		}
	}
	release = func() {
		if err := errors.Join(os.Remove(gate), pipe.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return dir + ":" + os.Getenv("PATH"), hold, begun, release
}

func TestListingStartsNoProcessAndTakesMilliseconds(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	p, _ := h.desk(app.NewWorkspace{Name: "tree"})
	db, err := h.root.DB(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 { // more than that need not be made
		_, err := db.ExecContext(ctx, `INSERT INTO workspaces (id, project_id, name, title, runtime, branch, made_branch, base, dir, model, init, creating, created_at, active_at)
			SELECT ?1, project_id, ?1, title, 'local', '', 0, '', ?2, '', 'none', 0, created_at, active_at FROM workspaces WHERE name = 'tree'`,
			fmt.Sprintf("desk%d", i), p.Path)
		if err != nil {
			t.Fatal(err)
		}
	}
	h.stop()
	path, calls := countedGit(t)
	t.Setenv("PATH", path)
	quiet := assembled(t, h.root)
	quiet.path, quiet.headless = path, true // nothing else that asks git
	quiet.start()
	defer quiet.stop()
	before := calls()
	best := time.Hour
	for n := 0; n < 5 || n < 50 && best > 200*time.Millisecond; n++ { // a busy machine may delay some
		start := time.Now()
		all, err := quiet.api.Workspaces.List(ctx, app.ListWorkspaces{})
		if err != nil || len(all) != 201 {
			t.Fatalf("%d workspaces, %v", len(all), err)
		}
		if _, err := quiet.api.Projects.List(ctx); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	if n := calls() - before; before == 0 || n != 0 {
		t.Errorf("listing asked git %d times, after %d before", n, before)
	}
	t.Logf("201 workspaces in %v", best)
	if best > 200*time.Millisecond { // a few of them on an idle machine
		t.Errorf("listing took %v", best)
	}
	ws, err := quiet.api.Projects.List(ctx)
	if err != nil || ws[0].Branch != "main" {
		t.Errorf("the project's branch: %+v, %v", ws, err)
	}
}

func TestWithoutGitTheRestWorks(t *testing.T) {
	home := newHouse(t)
	home.stop()
	h := assembled(t, home.root)
	h.path = t.TempDir() // no bash either
	t.Setenv("PATH", h.path)
	here := t.TempDir()
	h.start()
	defer h.stop()
	ctx := context.Background()
	checks, err := h.api.System.Doctor(ctx)
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, c := range checks {
		if c.Status == "missing" {
			missing[c.Name] = true
			if c.Mend == "" || strings.Contains(c.Detail, "did not foresee") {
				t.Errorf("the doctor says of %s: %+v", c.Name, c)
			}
		}
	}
	if !missing["git"] || !missing["bash"] {
		t.Errorf("missing: %v", missing)
	}
	if _, err := h.api.Projects.Add(ctx, app.AddProject{Path: here}); code(err) != "no_git" {
		t.Errorf("adding a folder: %v", err)
	}
	if _, err := h.api.Settings.Models(ctx); err != nil {
		t.Error(err)
	}
}

func place(id string, want app.Health) func(app.Event) bool {
	return func(e app.Event) bool {
		c, ok := e.(app.WorkspaceChanged)
		return ok && c.Workspace.ID == id && c.Workspace.Health == want
	}
}

func TestAFolderThatComesBackIsNoticed(t *testing.T) { // O-GIT-02
	h := newHouse(t)
	_, w := h.desk(app.NewWorkspace{Name: "wanderer"})
	h.wait("git's state", func(e app.Event) bool {
		c, ok := e.(app.WorkspaceChanged)
		return ok && c.Workspace.ID == w.ID && c.Workspace.Git != nil
	})
	if err := os.Rename(w.Dir, w.Dir+".away"); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if err := h.api.Workspaces.RefreshGit(ctx, app.ByID{ID: w.ID}); err != nil {
		t.Fatal(err)
	}
	h.wait("missing", place(w.ID, app.DirMissing))
	if err := h.api.Conversations.Send(ctx, app.SendMessage{Workspace: w.ID, Text: "hello"}); code(err) != "missing" {
		t.Errorf("sending: %v", err)
	}
	if _, err := h.api.Workspaces.Diff(ctx, app.ByID{ID: w.ID}); code(err) != "missing" {
		t.Errorf("the diff: %v", err)
	}
	h.forgetEvents()
	if err := os.Rename(w.Dir+".away", w.Dir); err != nil {
		t.Fatal(err)
	}
	h.wait("ready", place(w.ID, app.Ready))
}

func TestAFolderThatWasGoneTooShortlyForGitIsNoticed(t *testing.T) { // O-GIT-02
	first := newHouse(t)
	first.stop()
	h := assembled(t, first.root)
	path, hold, begun, release := heldGit(t)
	t.Setenv("PATH", path)
	h.path = path
	h.start()
	defer h.stop()
	_, w := h.desk(app.NewWorkspace{Name: "wanderer"})
	h.wait("git's state", func(e app.Event) bool {
		c, ok := e.(app.WorkspaceChanged)
		return ok && c.Workspace.ID == w.ID && c.Workspace.Git != nil
	})
	ctx := context.Background()
	refresh := func() {
		t.Helper()
		if err := h.api.Workspaces.RefreshGit(ctx, app.ByID{ID: w.ID}); err != nil {
			t.Error(err)
		}
	}
	hold(w.Dir)
	refresh() // the watcher reads nothing else here until this has its answer
	begun()
	if err := os.Rename(w.Dir, w.Dir+".away"); err != nil {
		t.Fatal(err)
	}
	refresh()
	h.wait("missing", place(w.ID, app.DirMissing))
	h.forgetEvents()
	if err := os.Rename(w.Dir+".away", w.Dir); err != nil {
		t.Fatal(err)
	}
	release()
	h.wait("ready", place(w.ID, app.Ready))
}

func TestDiffLooksAtTheWorkspaceAlone(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	outer := repository(t)
	inner := filepath.Join(outer, "inner") // not tracked: a project of its own, without git
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(inner, "file"), "x")
	unborn := t.TempDir()
	gitIn(t, unborn, "init", "-q")
	write(t, filepath.Join(unborn, "first"), "x\n")
	for path, files := range map[string]int{inner: 0, unborn: 1, t.TempDir(): 0} {
		p, err := h.api.Projects.Add(ctx, app.AddProject{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		w, err := h.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: p.ID, Name: "here", Runtime: "local"})
		if err != nil {
			t.Fatal(err)
		}
		d, err := h.api.Workspaces.Diff(ctx, app.ByID{ID: w.ID})
		if err != nil || len(d.Files) != files {
			t.Errorf("%s: %+v, %v", path, d, err)
		}
		if err := h.api.Workspaces.RefreshGit(ctx, app.ByID{ID: w.ID}); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatARepositorySaysIsCapped(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	dir := repository(t)
	write(t, filepath.Join(dir, "message"), strings.Repeat("é", 100_000))
	gitIn(t, dir, "commit", "--allow-empty", "-qF", "message")
	p, err := h.api.Projects.Add(ctx, app.AddProject{Path: dir, Name: strings.Repeat("n", 5000)})
	if err != nil || len(p.Name) > 300 {
		t.Fatalf("a name of %d bytes, %v", len(p.Name), err)
	}
	w, err := h.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: p.ID, Runtime: "local"})
	if err != nil {
		t.Fatal(err)
	}
	h.wait("git's state", func(e app.Event) bool {
		c, ok := e.(app.WorkspaceChanged)
		if !ok || c.Workspace.ID != w.ID || c.Workspace.Git == nil {
			return false
		}
		if n := len(c.Workspace.Git.Subject); n > 1000 {
			t.Errorf("a subject of %d bytes", n)
		}
		return true
	})
}
