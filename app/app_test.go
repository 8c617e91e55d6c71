package app_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"carrel/app"
	"carrel/store"
	"carrel/workspaces/runtime"
)

// TestMain lets the test binary be the helper that ends what commands left running.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "reap" {
		if err := runtime.RunReaper(os.Stdin); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// house is an application on a root of its own, and what its events made of it so far.
type house struct {
	t        *testing.T
	root     *store.Root
	app      *app.App
	api      app.API
	headless bool
	path     string // PATH
	log      bytes.Buffer

	mu      sync.Mutex
	changed *sync.Cond
	events  []app.Event
}

func newHouse(t *testing.T, environ ...string) *house {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	root, err := store.Open(filepath.Join(home, "root"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	h := assembled(t, root)
	h.start(environ...)
	t.Cleanup(func() { h.stop() })
	return h
}

func assembled(t *testing.T, root *store.Root) *house {
	h := &house{t: t, root: root, path: os.Getenv("PATH")}
	h.changed = sync.NewCond(&h.mu)
	return h
}

func (h *house) start(environ ...string) {
	h.t.Helper()
	env := append([]string{"PATH=" + h.path, "HOME=" + os.Getenv("HOME"), "CARREL_DEMO_DELAY=0",
		"CARREL_MODE=bypass", "CARREL_SANDBOX=danger-full-access"}, environ...)
	a, err := app.New(app.Options{Root: h.root, Environ: env, ReaperArgv: []string{os.Args[0], "reap"},
		Headless: h.headless, Logger: slog.New(slog.NewTextHandler(&h.log, nil))})
	if err != nil {
		h.t.Fatal(err)
	}
	h.app, h.api = a, a.API()
	a.Subscribe(func(e app.Event) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.events = append(h.events, e)
		h.changed.Broadcast()
	})
}

func (h *house) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := h.app.Close(ctx); err != nil {
		h.t.Errorf("close: %v", err)
	}
}

// wait waits until an event satisfies ok.
func (h *house) wait(what string, ok func(app.Event) bool) {
	h.t.Helper()
	expired := time.AfterFunc(60*time.Second, func() { h.changed.Broadcast() })
	defer expired.Stop()
	start, seen := time.Now(), 0
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		for ; seen < len(h.events); seen++ {
			if ok(h.events[seen]) {
				return
			}
		}
		if time.Since(start) > 59*time.Second {
			h.t.Fatalf("timed out waiting for %s", what)
		}
		h.changed.Wait()
	}
}

func ended(id string, want app.Activity) func(app.Event) bool {
	return func(e app.Event) bool {
		c, ok := e.(app.ConversationChanged)
		return ok && c.Workspace == id && c.Status.Activity == want
	}
}

func repository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "harbor")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "README.md"), "# Harbor\n\nIt ships things.\n")
	gitIn(t, dir, "init", "-q", "-b", "main")
	gitIn(t, dir, "add", ".")
	gitIn(t, dir, "commit", "-qm", "Start")
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=Test", "-c", "user.email=test@example.org"}, args...)...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// desk makes a workspace of a new project.
func (h *house) desk(in app.NewWorkspace) (app.Project, app.Workspace) {
	h.t.Helper()
	p, err := h.api.Projects.Add(context.Background(), app.AddProject{Path: repository(h.t)})
	if err != nil {
		h.t.Fatal(err)
	}
	in.ProjectID = p.ID
	w, err := h.api.Workspaces.Create(context.Background(), in)
	if err != nil {
		h.t.Fatal(err)
	}
	return p, w
}

func (h *house) send(w app.Workspace, text string) {
	h.t.Helper()
	if err := h.api.Conversations.Send(context.Background(), app.SendMessage{Workspace: w.ID, Text: text, ID: store.NewID()}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) snapshot(w app.Workspace) app.Conversation {
	h.t.Helper()
	c, err := h.api.Conversations.Open(context.Background(), app.ByID{ID: w.ID})
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

func TestAnAgentCommitsOnItsOwnBranch(t *testing.T) {
	h := newHouse(t)
	p, w := h.desk(app.NewWorkspace{Name: "first"})
	h.send(w, "Say hello to the harbor")
	h.wait("the turn to end", ended(w.ID, app.Done))

	if got := gitIn(t, p.Path, "rev-list", "--count", "main..first"); got != "1" {
		t.Errorf("commits on the branch: %s, want 1", got)
	}
	if got := gitIn(t, p.Path, "status", "--porcelain"); got != "" {
		t.Errorf("the main checkout changed: %q", got)
	}
	h.wait("git's state", func(e app.Event) bool {
		c, ok := e.(app.WorkspaceChanged)
		return ok && c.Workspace.ID == w.ID && c.Workspace.Git != nil && c.Workspace.Git.Ahead == 1
	})
	h.mu.Lock()
	for _, e := range h.events { // the registry was written, the settings were not
		if _, ok := e.(app.SettingsChanged); ok {
			t.Error("a turn changed the settings")
		}
	}
	h.mu.Unlock()
	diff, err := h.api.Workspaces.Diff(context.Background(), app.ByID{ID: w.ID})
	if err != nil || len(diff.Files) != 1 {
		t.Fatalf("diff %+v, %v; want one file", diff, err)
	}
}

func TestAConversationReadsBackAsItWasShown(t *testing.T) {
	h := newHouse(t)
	_, w := h.desk(app.NewWorkspace{Name: "again"})
	h.send(w, "Do it")
	h.wait("the turn to end", ended(w.ID, app.Done))
	before := h.snapshot(w)
	h.stop()
	h.start()
	after := h.snapshot(w)
	if len(before.Entries) < 6 || len(after.Entries) != len(before.Entries) {
		t.Fatalf("%d entries before and %d after", len(before.Entries), len(after.Entries))
	}
	for i, a := range after.Entries {
		b := before.Entries[i]
		if a.ID != b.ID || a.Order != b.Order || a.Text != b.Text || a.Kind != b.Kind {
			t.Errorf("entry %d was %+v and is %+v", i, b, a)
		}
		if a.Tool != nil && (b.Tool == nil || a.Tool.Status != b.Tool.Status || a.Tool.Output != b.Tool.Output) {
			t.Errorf("call %d was %+v and is %+v", i, b.Tool, a.Tool)
		}
	}
}
