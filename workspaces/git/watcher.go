package git

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watcher keeps the states of many checkouts current.
//
// It watches what git itself changes (HEAD, index, refs) and the top folder of each checkout, never
// the whole tree. Deeper changes are found when someone who knows of them calls Poke, and by a slow
// round of reading every checkout anew, which is bounded to a small share of one core. One status runs
// at a time per repository. A change of a branch makes only those checkouts be read again that stand
// on it or compare with it.
type Watcher struct {
	g        *Git
	onChange func(key string, s State, err error)
	pace     pace
	commands chan func()
	ended    chan struct{} // closed when the loop has ended
	cancel   context.CancelFunc
	running  sync.WaitGroup

	// The rest belongs to the loop's goroutine.
	fs      *fsnotify.Watcher // nil when the system gave none
	addPath func(path string) error
	folders map[string]*folder // by path
	keys    map[string]*watched
	repos   map[string]*watchedRepo // by common folder; "" collects folders that are no checkouts
	visible map[string]bool
	noticed bool
	reads   int       // states read so far
	poll    time.Time // when the next checkout may be read without a cause
}

// pace says how eagerly the watcher works.
type pace struct {
	settle  time.Duration // after a change, until the state is read
	arrive  time.Duration // after a poke: what the system tells of the same change comes a moment later
	longest time.Duration // a state is read at the latest this long after the first change
	// A checkout's state is not read again, unless poked, before rest times what the last one took.
	rest int
	// Reading without a cause: the least gap between two, and the gap as a multiple of the processor time
	// that the last cost; folders that are not watched have a smaller one.
	gap             time.Duration
	idle, unwatched int
	age             time.Duration // a checkout read since then is not read without a cause
}

func usualPace() pace {
	return pace{
		settle: 100 * time.Millisecond, arrive: 5 * time.Millisecond, longest: time.Second, rest: 3,
		gap: 2 * time.Second, idle: 150, unwatched: 20, age: 15 * time.Second,
	}
}

// watched is one checkout.
type watched struct {
	key, dir, base string
	gone           atomic.Bool
	top            string // dir, without symbolic links
	gitDir, common string // "" while they can't be found
	unwatched      bool
	due            time.Time // zero: nothing to do
	first          time.Time // the first change that due stands for
	poked          bool
	read           time.Time     // when it was read last
	took, cost     time.Duration // by the clock, and of processor
	known          bool
	state          State
	err            string
	baseTip        string // where the base was when we looked last; "" before
}

// watchedRepo is what checkouts of one repository share.
type watchedRepo struct {
	common string
	busy   bool
	refs   time.Time // when to look at the refs; zero: not
}

// result is what a worker found.
type result struct {
	repo *watchedRepo
	done func() // applies it, on the loop's goroutine
}

// NewWatcher starts a watcher. onChange gets the first state of each checkout and then each different
// one, or the error that reading it gave; calls for one key never overlap, and it may call the
// watcher's methods except Close.
func NewWatcher(g *Git, onChange func(key string, s State, err error)) *Watcher {
	return startWatcher(g, onChange, usualPace(), nil)
}

func startWatcher(g *Git, onChange func(string, State, error), p pace, addPath func(*fsnotify.Watcher, string) error) *Watcher {
	ctx, cancel := context.WithCancel(context.Background())
	w := &Watcher{
		g: g, onChange: onChange, pace: p, cancel: cancel,
		commands: make(chan func()), ended: make(chan struct{}),
		folders: map[string]*folder{}, keys: map[string]*watched{}, repos: map[string]*watchedRepo{},
		visible: map[string]bool{},
	}
	var err error
	if w.fs, err = fsnotify.NewWatcher(); err != nil {
		w.fs = nil
		w.notice(err)
	} else if w.addPath = w.fs.Add; addPath != nil {
		w.addPath = func(path string) error { return addPath(w.fs, path) }
	}
	w.running.Add(1)
	go w.loop(ctx)
	return w
}

// Add watches the checkout at dir under a key, with a base as for State. An existing key is replaced.
func (w *Watcher) Add(key, dir, base string) {
	w.command(func() {
		w.remove(key)
		k := &watched{key: key, dir: dir, base: base}
		w.keys[key] = k
		w.install(k)
		k.touch(time.Now(), pace{})
	})
}

// Remove stops watching. A report that has begun may still come to its end.
func (w *Watcher) Remove(key string) { w.command(func() { w.remove(key) }) }

// Poke says that something in the checkout may have changed: its state is read soon.
func (w *Watcher) Poke(key string) {
	w.command(func() {
		if k := w.keys[key]; k != nil {
			k.poke(time.Now(), w.pace)
		}
	})
}

// SetVisible says which checkouts the user looks at: the slow round comes to them first.
func (w *Watcher) SetVisible(keys ...string) {
	w.command(func() {
		clear(w.visible)
		for _, key := range keys {
			w.visible[key] = true
		}
	})
}

// Close ends the watcher and waits for its goroutines and processes. Nothing is reported after it.
func (w *Watcher) Close() {
	w.cancel()
	w.running.Wait()
}

// command runs f on the loop's goroutine, and returns when it ran or the watcher has ended.
func (w *Watcher) command(f func()) {
	done := make(chan struct{})
	select {
	case w.commands <- func() { defer close(done); f() }:
		<-done
	case <-w.ended:
	}
}

func (w *Watcher) loop(ctx context.Context) {
	defer w.running.Done()
	results := make(chan result)
	var events chan fsnotify.Event
	var failures chan error
	if w.fs != nil {
		events, failures = w.fs.Events, w.fs.Errors
		defer func() { _ = w.fs.Close() }()
	}
	defer close(w.ended)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(w.work(ctx, results, time.Now()))
		select {
		case <-ctx.Done():
			return
		case f := <-w.commands:
			f()
		case e := <-events:
			w.event(e, time.Now())
		case err := <-failures:
			w.failure(err)
		case r := <-results:
			r.repo.busy = false
			r.done()
		case <-timer.C:
		}
	}
}
