package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/wire"
	"carrel/store"
	"carrel/workspaces/runtime"
)

// TestMain runs the tests, or, started as `EXE core`, a core with the fake application.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "core" {
		os.Exit(childCore())
	}
	if len(os.Args) > 1 && os.Args[1] == "helper" {
		if err := runtime.RunReaper(os.Stdin); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// realApp, set in the environment, gives a child core the real application.
const realApp = "CARREL_TEST_REAL_APP"

// childCore is a core in a process of its own.
func childCore() int {
	root, err := store.Open("")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	err = Run(context.Background(), Options{
		Root: root, Version: "1", Detached: true, Page: fstest.MapFS{},
		Open: func(_ context.Context, log *slog.Logger, _ app.Journal) (App, error) {
			if os.Getenv(realApp) == "" {
				return &fakeApp{dir: root.Dir()}, nil
			}
			return app.New(app.Options{Root: root, Environ: append(os.Environ(), "CARREL_MODE=bypass", "CARREL_SANDBOX=danger-full-access"), ReaperArgv: []string{os.Args[0], "helper", "reap"}, Logger: log})
		},
	})
	switch {
	case errors.Is(err, ErrRunning):
		return attach.ExitLocked
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// fakeApp is an application that does nothing but answer.
type fakeApp struct {
	dir    string // Close leaves a file "saved" there
	busy   atomic.Bool
	closed atomic.Bool

	mu      sync.Mutex
	publish func(app.Event)
	window  app.Window
	dropped []string
}

func (f *fakeApp) API() app.API {
	return app.API{Projects: fakeProjects{f: f}, System: fakeSystem{f: f}}
}

func (f *fakeApp) Subscribe(publish func(app.Event)) func() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.publish = publish
	return func() {}
}

func (f *fakeApp) SetWindow(w app.Window) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.window = w
}

func (f *fakeApp) SetAudience(func(string) bool) {}

func (f *fakeApp) Busy() bool { return f.busy.Load() }

func (f *fakeApp) FinishCoder(state, _, _ string) bool { return state == "waits" }

func (f *fakeApp) ShowTerminal(context.Context, io.ReadWriter, json.RawMessage) error { return nil }

func (f *fakeApp) Waiting(context.Context, string) ([]byte, string, error) {
	return nil, "", errors.New("nothing waits")
}

func (f *fakeApp) Upload(context.Context, string, io.Reader) (app.Uploaded, error) {
	return app.Uploaded{}, errors.New("nothing is kept")
}

func (f *fakeApp) Picture(context.Context, string, string) ([]byte, string, error) {
	return nil, "", errors.New("nothing is kept")
}

func (f *fakeApp) Close(context.Context) error {
	f.closed.Store(true)
	return os.WriteFile(filepath.Join(f.dir, "saved"), nil, 0o600)
}

type fakeProjects struct {
	app.ProjectsAPI
	f *fakeApp
}

func (p fakeProjects) Add(_ context.Context, args app.AddProject) (app.Project, error) {
	if args.Path == "/crash" {
		go func() { panic("a bug somewhere") }()
		select {}
	}
	project := app.Project{ID: "p", Path: args.Path}
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	p.f.publish(app.ProjectChanged{Project: project})
	return project, nil
}

func (p fakeProjects) Drop(_ context.Context, args app.DropFolders) error {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	p.f.dropped = args.Paths
	return nil
}

type fakeSystem struct {
	app.SystemAPI
	f *fakeApp
}

func (s fakeSystem) Raise(ctx context.Context) error {
	s.f.mu.Lock()
	w := s.f.window
	s.f.mu.Unlock()
	if w == nil {
		return &app.Error{Code: "no_window", Message: "No window is open."}
	}
	return w.Raise(ctx)
}

func openRoot(t *testing.T) *store.Root {
	t.Helper()
	root, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// started is a core in this process.
type started struct {
	app   *fakeApp
	root  *store.Root
	found attach.Core
	ended chan error
}

func startHere(t *testing.T, change func(*Options)) *started {
	t.Helper()
	s := &started{root: openRoot(t), ended: make(chan error, 1)}
	s.app = &fakeApp{dir: s.root.Dir()}
	ctx, cancel := context.WithCancel(context.Background())
	ready := make(chan struct{})
	o := Options{
		Root: s.root, Version: "1", Page: fstest.MapFS{}, IdleAfter: -1,
		Open:  func(context.Context, *slog.Logger, app.Journal) (App, error) { return s.app, nil },
		Ready: readyOnce(ready),
	}
	if change != nil {
		change(&o)
	}
	over := make(chan struct{})
	go func() { defer close(over); s.ended <- Run(ctx, o) }()
	t.Cleanup(func() { cancel(); <-over })
	receive(t, ready)
	var err error
	if s.found, err = attach.Find(t.Context(), s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// receive waits for a value or a close.
func receive[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(60 * time.Second):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// eventually waits for what tells nobody.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

// dial attaches a host to whatever core find names.
func dial(t *testing.T, o wire.ClientOptions, find func(context.Context) (attach.Core, error)) *wire.Client {
	t.Helper()
	o.Find = func(ctx context.Context) (wire.Address, error) {
		core, err := find(ctx)
		return wire.Address{URL: core.URL, Token: core.Token}, err
	}
	if o.Role == "" {
		o.Role = wire.CLI
	}
	c, err := wire.Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (s *started) dial(t *testing.T, o wire.ClientOptions) *wire.Client {
	return dial(t, o, func(context.Context) (attach.Core, error) { return s.found, nil })
}

func containsAll(text string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}
