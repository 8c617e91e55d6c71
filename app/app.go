package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"carrel/agent/catalog"
	"carrel/agent/costs"
	"carrel/agent/search"
	"carrel/agent/tokens"
	"carrel/agent/tool"
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
	// Journal keeps what Logger wrote lately, for hosts to show.
	Journal Journal
	// Headless is for one command's time, such as `carrel run`: nothing is watched, warmed, swept,
	// counted or recovered beyond what the command itself opens.
	Headless bool
}

// App is the application. It owns the open conversations, the watching of git and the place of every
// workspace; Close ends them all. Several processes may hold one on the same root: the registry and
// the session locks keep them apart.
type App struct {
	root      *store.Root
	git       *git.Git
	registry  *workspaces.Registry
	desks     *workspaces.Desks
	catalog   *catalog.Catalog
	reaper    *runtime.Reaper
	watcher   *git.Watcher // nil when headless
	logger    *slog.Logger
	environ   []string
	readOnly  map[string]bool // the tools that change nothing, by name
	ledger    *ledger
	journal   *journal
	breakers  *turn.Breakers  // of the providers, for all conversations
	counter   *tokens.Counter // nil when Headless
	index     *search.Index
	updater   *search.Updater // of the index; nil when headless
	boxes     *boxes
	terminals *terminals
	fileLists *fileLists
	headless  bool // no person is there to be asked

	cancel context.CancelFunc // ends the background work
	work   sync.WaitGroup

	rev    atomic.Uint64
	bus    bus
	herald *herald
	told   rows // belongs to the goroutine that hears of outside changes

	mu       sync.Mutex // guards what follows
	sessions map[string]*opening
	desk     map[string]*deskState
	window   Window
	saved    []string                // exports, the newest last
	audience func(topic string) bool // nil: no host joins topics
	logins   map[string]*coderLogin  // at Coder, that wait for the browser
	closed   bool

	closeOnce sync.Once
	closeDone chan struct{} // closed when everything has ended
	closeErr  error         // to be read after closeDone
}

// New starts the application on a data root.
func New(o Options) (*App, error) {
	sealed := runtime.Seal() // before the first command: keys may be in our environment
	ctx, cancel := context.WithCancel(context.Background())
	a := &App{root: o.Root, logger: o.Logger, environ: o.Environ, cancel: cancel, readOnly: map[string]bool{},
		sessions: map[string]*opening{}, desk: map[string]*deskState{}, closeDone: make(chan struct{})}
	if a.logger == nil {
		a.logger = slog.New(slog.DiscardHandler)
	}
	if sealed != nil {
		a.logger.Warn("hide from commands what they need not see", "err", sealed)
	}
	db, err := o.Root.DB(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	// Without git everything that needs none still works: settings, the doctor, what was said before.
	if a.git, err = git.New(git.Options{Env: o.Environ}); err != nil {
		a.logger.Error("find git", "err", err)
	}
	for _, t := range tool.Builtin() {
		a.readOnly[t.Spec().Name] = t.Spec().ReadOnly
	}
	a.registry = workspaces.NewRegistry(db)
	a.reaper = runtime.NewReaper(o.ReaperArgv)
	a.catalog = catalog.New(o.Root, lookup(o.Environ))
	a.boxes, a.headless, a.terminals = newBoxes(a), o.Headless, newTerminals(a)
	a.desks = workspaces.New(workspaces.Options{Boxes: a.boxes.box, Root: o.Root, Git: a.git, Registry: a.registry,
		Reaper: a.reaper, Env: o.Environ, Events: a.deskEvent, Stop: a.quit})
	o.Root.OnProblem(func(p store.Problem) { a.publish(ProblemAppeared{Problem: Problem(p)}) })
	a.herald = newHerald(a.proclaim)
	a.ledger = newLedger(a, costs.New(db))
	a.breakers = turn.NewBreakers(nil)
	a.fileLists = newFileLists()
	index := search.Options{Root: o.Root, Sessions: a.talks}
	if !o.Headless {
		index.Pause = search.Rest
	}
	a.index = search.New(index)
	if !o.Headless {
		a.watcher = git.NewWatcher(a.git, a.gitChanged)
		a.counter = a.newCounter(ctx, db)
		a.updater = a.index.Update(a.logger)
		a.background(ctx)
	}
	a.journal = newJournal(a, o.Journal)
	a.work.Go(func() { a.journal.tell(ctx) })
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
	a.work.Go(func() { a.recheck(ctx) })
	a.work.Go(func() { a.retire(ctx) })
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
		a.sweepUploads(time.Now())
	})
}

// Recover puts right what a process left behind that died while it made or changed workspaces. It
// is for a headless App that no core runs beside; others do it by themselves.
func (a *App) Recover(ctx context.Context) error { return a.desks.Recover(ctx) }

// API gives the services.
func (a *App) API() API {
	return API{Projects: projects{a}, Workspaces: desks{a}, Conversations: conversations{a}, Permissions: permissions{a}, Sandbox: boxed{a},
		Settings: settings{a}, System: system{a}, Costs: money{a}, Search: finder{a}, Terminals: terminalService{a}, Output: a.journal}
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

// Busy reports whether a turn, an init hook or a command in a terminal runs.
func (a *App) Busy() bool {
	if slices.ContainsFunc(a.open(), (*session).busy) || a.terminals.busy() {
		return true
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

// Close interrupts what runs, saves it and ends everything that the App owns. It takes at most as
// long as ctx allows; what has not ended by then goes on ending, or ends with the process. Closing
// twice is harmless.
func (a *App) Close(ctx context.Context) error {
	a.closeOnce.Do(func() {
		go func() {
			defer close(a.closeDone)
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
			defer cancel()
			a.closeErr = a.shutDown(ctx)
		}()
	})
	select {
	case <-a.closeDone:
		return a.closeErr
	case <-ctx.Done():
		return fmt.Errorf("close: %w", ctx.Err())
	}
}

func (a *App) shutDown(ctx context.Context) error {
	a.mu.Lock()
	a.closed = true
	ids := slices.Collect(maps.Keys(a.sessions))
	a.mu.Unlock()
	a.cancel()
	a.fileLists.stop()
	a.dropLogins()
	errs := make([]error, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() { errs[i] = a.closeSession(ctx, id, (*session).close) })
	}
	all.Wait()
	if a.watcher != nil {
		a.watcher.Close()
	}
	errs = append(errs, a.terminals.close(ctx), a.desks.Close(), a.boxes.close(), a.reaper.Close())
	a.work.Wait()
	a.herald.close()
	a.ledger.close()
	if a.updater != nil {
		a.updater.Stop()
	}
	return errors.Join(append(errs, a.index.Close())...)
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
		if k, v, ok := strings.Cut(kv, "="); ok {
			vars[k] = v
		}
	}
	return func(k string) string { return vars[k] }
}
