package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"carrel/agent/catalog"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
	"carrel/store"
	"carrel/workspaces"
	"carrel/workspaces/git"
	"carrel/workspaces/runtime"
)

// Sizes of what commands leave behind when their output is too large to show.
const (
	maxSpill = 256 << 20
	spillAge = 7 * 24 * time.Hour
)

// Options says what an App works on.
type Options struct {
	Root *store.Root
	// Environ is the environment of the process: commands inherit an allow-listed part, provider
	// keys are read from it.
	Environ []string
	// ReaperArgv starts the helper that ends what commands left running when this process dies.
	ReaperArgv []string
	Logger     *slog.Logger
	// Headless is for one command's time, such as `carrel run`: nothing is watched, warmed, swept or
	// recovered beyond what the command itself opens.
	Headless bool
}

// App is the application. It owns the open conversations, the watching of git and the place of every
// workspace; Close ends them all. Several processes may hold one on the same root: the registry and
// the session locks keep them apart.
type App struct {
	root     *store.Root
	git      *git.Git
	registry *workspaces.Registry
	desks    *workspaces.Desks
	catalog  *catalog.Catalog
	reaper   *runtime.Reaper
	watcher  *git.Watcher // nil when headless
	logger   *slog.Logger
	environ  []string
	started  time.Time

	cancel context.CancelFunc // ends the background work
	work   sync.WaitGroup

	rev  atomic.Uint64
	bus  bus
	told rows // belongs to the goroutine that hears of outside changes

	mu       sync.Mutex // guards what follows
	sessions map[string]*opening
	desk     map[string]*deskState
	window   Window
	closed   bool
}

// opening is a session that is open or being opened: one attempt at a time for each workspace.
type opening struct {
	ready chan struct{}
	s     *session
	err   error
}

// New starts the application on a data root.
func New(o Options) (*App, error) {
	ctx, cancel := context.WithCancel(context.Background())
	a := &App{root: o.Root, logger: o.Logger, environ: o.Environ, started: time.Now(), cancel: cancel,
		sessions: map[string]*opening{}, desk: map[string]*deskState{}}
	if a.logger == nil {
		a.logger = slog.New(slog.DiscardHandler)
	}
	db, err := o.Root.DB(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	if a.git, err = git.New(git.Options{Env: o.Environ}); err != nil {
		cancel()
		return nil, userError(err)
	}
	a.registry = workspaces.NewRegistry(db)
	a.reaper = runtime.NewReaper(o.ReaperArgv)
	a.catalog = catalog.New(o.Root, lookup(o.Environ))
	a.desks = workspaces.New(workspaces.Options{Root: o.Root, Git: a.git, Registry: a.registry,
		Reaper: a.reaper, Env: o.Environ, Events: a.deskEvent, Stop: a.stopWork})
	o.Root.OnProblem(func(p store.Problem) { a.publish(ProblemAppeared{Problem: Problem(p)}) })
	if !o.Headless {
		a.watcher = git.NewWatcher(a.git, a.gitChanged)
		a.background(ctx)
	}
	return a, nil
}

// background starts what only the core does.
func (a *App) background(ctx context.Context) {
	if told, err := a.readRows(ctx); err != nil {
		a.logger.Error("read the registry", "err", err)
	} else {
		a.told = told
	}
	a.root.Changed(ctx, a.outsideChange)
	a.work.Go(func() {
		if err := a.desks.Recover(ctx); err != nil {
			a.logger.Error("recover workspaces", "err", err)
		}
		a.watchAll(ctx)
		a.recoverTurns(ctx)
		a.desks.WarmSpares(ctx)
		if err := a.desks.PurgeTrash(ctx); err != nil {
			a.logger.Warn("empty the trash", "err", err)
		}
		a.sweep()
	})
}

// Recover puts right what a process left behind that died while it made or changed workspaces. It
// is for a headless App that no core runs beside; others do it by themselves.
func (a *App) Recover(ctx context.Context) error { return a.desks.Recover(ctx) }

// recoverTurns opens every conversation that was cut off in a turn, so that it says so.
func (a *App) recoverTurns(ctx context.Context) {
	all, err := a.registry.Workspaces(ctx)
	if err != nil {
		a.logger.Error("recover turns", "err", err)
		return
	}
	for _, w := range all {
		if ctx.Err() != nil || w.ArchivedAt != nil || !a.cutOff(w.ID) {
			continue
		}
		if _, err := a.session(ctx, w.ID); err != nil {
			a.logger.Error("recover a turn", "workspace", w.ID, "err", err)
		}
	}
}

// cutOff reports whether a conversation's log ends inside a turn.
func (a *App) cutOff(id string) bool {
	dir := a.root.Path("sessions", id)
	if _, err := os.Stat(filepath.Join(dir, "transcript.jsonl")); err != nil {
		return false
	}
	log, err := transcript.OpenReader(dir)
	if err != nil {
		a.logger.Error("read a conversation", "workspace", id, "err", err)
		return false
	}
	defer func() { _ = log.Close() }()
	return log.State().Turn != ""
}

// API gives the services.
func (a *App) API() API {
	return API{Projects: projects{a}, Workspaces: desks{a}, Conversations: conversations{a},
		Settings: settings{a}, System: system{a}}
}

// Subscribe calls f for every event, in order, until cancel is called. f must not block.
func (a *App) Subscribe(f func(Event)) (cancel func()) { return a.bus.subscribe(f) }

func (a *App) publish(e Event) { a.bus.publish(e) }

// SetWindow says which desktop window is attached; nil when it went away.
func (a *App) SetWindow(w Window) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.window = w
}

// Busy reports whether a turn or an init hook runs.
func (a *App) Busy() bool {
	for _, s := range a.open() {
		if s.busy() {
			return true
		}
	}
	all, err := a.registry.Workspaces(context.Background())
	if err != nil {
		a.logger.Warn("look for running init hooks", "err", err)
		return false
	}
	return slices.ContainsFunc(all, func(w workspaces.Workspace) bool {
		return w.ArchivedAt == nil && (w.Creating || w.Init == workspaces.InitRunning)
	})
}

// open gives the sessions that are open.
func (a *App) open() []*session {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []*session
	for _, o := range a.sessions {
		select {
		case <-o.ready:
			if o.err == nil {
				out = append(out, o.s)
			}
		default:
		}
	}
	return out
}

// session gives a workspace's conversation, opening it if need be.
func (a *App) session(ctx context.Context, id string) (*session, error) {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return nil, &Error{Code: "closing", Message: "Carrel is closing."}
	}
	o := a.sessions[id]
	if o == nil {
		o = &opening{ready: make(chan struct{})}
		a.sessions[id] = o
		a.work.Go(func() {
			o.s, o.err = a.openSession(context.Background(), id)
			if o.err != nil {
				a.mu.Lock()
				delete(a.sessions, id)
				a.mu.Unlock()
			}
			close(o.ready)
			if o.err == nil && o.s.current().State != turn.Idle { // a turn that was cut off
				a.workspaceChanged(id)
			}
		})
	}
	a.mu.Unlock()
	select {
	case <-o.ready:
		return o.s, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// closeSession ends a workspace's conversation and everything that its commands left running.
func (a *App) closeSession(ctx context.Context, id string) error {
	return errors.Join(a.endSession(ctx, id), runtime.KillTagged(ctx, id))
}

// stopWork ends what this process does in a workspace that is about to be archived or deleted.
func (a *App) stopWork(ctx context.Context, id string) error {
	if a.watcher != nil {
		a.watcher.Remove(id)
	}
	return a.endSession(ctx, id)
}

// endSession ends a workspace's conversation.
func (a *App) endSession(ctx context.Context, id string) error {
	a.mu.Lock()
	o := a.sessions[id]
	delete(a.sessions, id)
	a.mu.Unlock()
	if o == nil {
		return nil
	}
	<-o.ready
	if o.err != nil {
		return nil
	}
	return o.s.close(ctx)
}

// Close interrupts what runs, saves it and ends everything that the App owns. It takes at most as
// long as ctx allows.
func (a *App) Close(ctx context.Context) error {
	a.mu.Lock()
	a.closed = true
	ids := make([]string, 0, len(a.sessions))
	for id := range a.sessions {
		ids = append(ids, id)
	}
	a.mu.Unlock()
	var errs []error
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, id := range ids {
		all.Go(func() {
			if err := a.closeSession(ctx, id); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		})
	}
	all.Wait()
	a.cancel()
	if a.watcher != nil {
		a.watcher.Close()
	}
	errs = append(errs, a.desks.Close(), a.reaper.Close())
	a.work.Wait()
	return errors.Join(errs...)
}

func (a *App) spillDir(id string) (string, error) {
	dir := a.root.Path("sessions", id, "output")
	return dir, os.MkdirAll(dir, 0o700)
}

// sweep removes old output that was too large to show.
func (a *App) sweep() {
	dirs, _ := filepath.Glob(a.root.Path("sessions", "*", "output"))
	for _, dir := range dirs {
		if err := tool.SweepSpill(dir, maxSpill, spillAge); err != nil {
			a.logger.Warn("sweep old output", "dir", dir, "err", err)
		}
	}
}

// lookup reads variables of an environment.
func lookup(environ []string) func(string) string {
	vars := make(map[string]string, len(environ))
	for _, kv := range environ {
		if k, v, ok := cutVar(kv); ok {
			vars[k] = v
		}
	}
	return func(k string) string { return vars[k] }
}
