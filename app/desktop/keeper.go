package desktop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/wire"
	"carrel/store"
)

// The times of keeping a core.
const (
	slowAfter    = 3 * time.Second // a start that takes longer lets the person see why
	stateWait    = 5 * time.Second // one wait of the page for a new state
	upgradeEvery = 5 * time.Second // between looks whether an outdated core is idle
	crashWindow  = time.Minute     // within which a core may start
	crashLimit   = 4               // times before the person is asked
)

// codeHung is the code of the error that a core runs and does not answer.
const codeHung = "hung"

// Kind is how far the way to the core is.
type Kind string

// The kinds of a State.
const (
	Starting Kind = "starting"
	Ready    Kind = "ready"
	Failed   Kind = "failed"
)

// State is how the core is, as the window's own page shows it.
type State struct {
	Rev     uint64 `json:"rev"` // grows with each change
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
	Slow    bool   `json:"slow"`   // starting takes unusually long
	Hung    bool   `json:"hung"`   // when failed: a core runs, and does not answer
	Link    string `json:"link"`   // when ready: the core's page with the token in its fragment
	Window  string `json:"window"` // version
	Core    string `json:"core"`   // version, "" when unknown
	Theme   string `json:"theme"`  // light, dark or system
}

// screen is the window as the keeper needs it. Its methods may be called at any time, from any
// goroutine; before there is a window they do nothing.
type screen interface {
	pickFolder(ctx context.Context) (string, error)
	raise()
	openURL(address string)
	showFile(path string) error // in the person's file manager
	openFile(path string) error // in the program for its kind
	home()                      // shows the window's own page, which leads to the core's
	quit()
}

// keeper keeps the window attached to a core: it finds or starts one, answers what the core asks of
// a window, and leads the page to the next core when one has ended.
type keeper struct {
	root    *store.Root
	exe     string // of the core
	version string
	theme   string
	screen  screen
	log     *slog.Logger
	settled chan struct{} // closed once the first attempt has ended, well or not
	retry   chan struct{}
	beside  string // version of the core that exe was when it took another one's place; only find's goroutine uses it

	mu      sync.Mutex
	state   State
	changed chan struct{} // closed at the next change of state
	core    attach.Core
	client  *wire.Client // nil until the first connection
	led     string       // the link that the page was led to, "" while it is the window's own
	older   bool         // the core should be replaced when idle
	starts  []time.Time  // of the cores lately
	views   []time.Time  // of the page process's crashes
	once    sync.Once
}

func newKeeper(root *store.Root, exe, version, theme string, s screen, log *slog.Logger) *keeper {
	k := &keeper{
		root: root, exe: exe, version: version, theme: theme, screen: s, log: log,
		settled: make(chan struct{}), retry: make(chan struct{}, 1), changed: make(chan struct{}),
	}
	k.state = State{Rev: 1, Kind: Starting, Window: version, Theme: theme}
	return k
}

// run keeps the window attached until ctx ends or a newer window takes over, which ends this one.
func (k *keeper) run(ctx context.Context) {
	for {
		client, err := wire.Dial(ctx, wire.ClientOptions{
			Find: k.find, Role: wire.Desktop, Version: k.version, State: k.attached, Asks: k.asks(), Log: k.log,
		})
		if ctx.Err() != nil {
			if err == nil {
				_ = client.Close()
			}
			return
		}
		if err != nil {
			k.fail(err)
			if !k.waitRetry(ctx) {
				return
			}
			continue
		}
		if k.serve(ctx, client) {
			return
		}
	}
}

// serve lives as long as the client; it reports whether that was the end.
func (k *keeper) serve(ctx context.Context, client *wire.Client) bool {
	k.mu.Lock()
	k.client = client
	k.mu.Unlock()
	upgrading, cancel := context.WithCancel(ctx)
	defer cancel()
	go k.upgrade(upgrading)
	stop := context.AfterFunc(ctx, func() { _ = client.Close() })
	defer stop()
	err := client.Wait()
	if errors.Is(err, wire.ErrReplaced) {
		k.log.Info("another window took over")
		k.screen.quit()
		return true
	}
	return ctx.Err() != nil
}

// find returns the address of a core, which it starts if there is none. When that fails it waits for
// the person.
func (k *keeper) find(ctx context.Context) (wire.Address, error) {
	for {
		core, err := k.ensure(ctx)
		if err == nil {
			k.found(core)
			return wire.Address{URL: core.URL, Token: core.Token}, nil
		}
		if ctx.Err() != nil {
			return wire.Address{}, ctx.Err()
		}
		k.fail(err)
		if !k.waitRetry(ctx) {
			return wire.Address{}, ctx.Err()
		}
	}
}

func (k *keeper) ensure(ctx context.Context) (attach.Core, error) {
	slow := time.AfterFunc(slowAfter, func() {
		k.update(func(s *State) {
			if s.Kind == Starting {
				s.Slow, s.Message = true, "It takes longer than usual until the core answers."
			}
		})
	})
	defer slow.Stop()
	if _, err := attach.Find(ctx, k.root); errors.Is(err, attach.ErrNoCore) && k.crashes() {
		return attach.Core{}, &app.Error{Code: "crashing", Message: "Carrel's core has ended several times within a minute. Its log says why; what agents had done until then is saved."}
	}
	core, err := attach.Ensure(ctx, k.root, k.exe)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return core, &app.Error{Code: codeHung, Cause: err, Message: "Carrel's core does not answer. Wait and try again, or restart it; what agents have done so far is saved."}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return core, &app.Error{Code: "no_core", Cause: err, Message: fmt.Sprintf("There is no program %s, which is Carrel's core and belongs beside its window. Install or build Carrel again.", k.exe)}
	}
	if err != nil || !replaces(k.version, core.Version) || core.Version == k.beside {
		k.setOlder(false)
		return core, err
	}
	k.log.Info("the core is of another version", "window", k.version, "core", core.Version)
	newer, err := core.Replace(ctx, k.exe)
	if err == nil {
		// It may be of another version all the same, after half an update, or one under a window that went
		// on: what lies beside the window is what there is.
		k.beside = newer.Version
		k.setOlder(false)
		return newer, nil
	}
	k.setOlder(true)
	return core, nil // it works on; it is replaced when it is idle
}

// crashes counts the start of a core, and reports whether there were too many.
func (k *keeper) crashes() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	recent := k.starts[:0]
	for _, t := range k.starts {
		if now.Sub(t) < crashWindow {
			recent = append(recent, t)
		}
	}
	k.starts = append(recent, now)
	return len(k.starts) > crashLimit
}

// found leads the page to a core. A page that shows another core goes by way of the window's own.
func (k *keeper) found(core attach.Core) {
	link := core.Link() + "&host=desktop"
	if k.outdated() {
		link += "&older=1" // the page says so as long as it goes on
	}
	k.update(func(s *State) {
		s.Kind, s.Message, s.Slow, s.Hung, s.Link, s.Core = Ready, "", false, false, link, core.Version
	})
	k.log.Info("the core is there", "pid", core.PID, "version", core.Version, "address", core.URL)
	k.mu.Lock()
	k.core = core
	elsewhere := k.led != "" && k.led != link
	k.mu.Unlock()
	k.once.Do(func() { close(k.settled) })
	if elsewhere {
		k.goHome()
	}
}

func (k *keeper) fail(err error) {
	k.log.Error("no core", "error", err)
	var known *app.Error
	hung := errors.As(err, &known) && known.Code == codeHung
	k.update(func(s *State) { s.Kind, s.Message, s.Slow, s.Hung, s.Link = Failed, sentence(err), false, hung, "" })
	k.once.Do(func() { close(k.settled) })
	k.mu.Lock()
	elsewhere := k.led != ""
	k.mu.Unlock()
	if elsewhere {
		k.goHome()
	}
}

func (k *keeper) goHome() {
	k.log.Info("the window goes back to its own page")
	k.mu.Lock()
	k.led = ""
	k.mu.Unlock()
	k.screen.home()
}

// attached hears of each change of the connection.
func (k *keeper) attached(now bool) {
	if !now {
		k.update(func(s *State) { s.Kind, s.Message, s.Link = Starting, "The core has ended; it starts again.", "" })
	}
}

// upgrade ends an outdated core once it is idle; the client then starts the new one.
func (k *keeper) upgrade(ctx context.Context) {
	tick := time.NewTicker(upgradeEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if !k.outdated() {
			continue
		}
		if core, err := attach.Find(ctx, k.root); err == nil && !core.Busy {
			_ = core.Stop(ctx) // a refusal means that it works again
		}
	}
}

// asks is what the core can ask of the window.
func (k *keeper) asks() map[string]func(context.Context, json.RawMessage) (any, error) {
	return map[string]func(context.Context, json.RawMessage) (any, error){
		wire.AskPickFolder: func(ctx context.Context, _ json.RawMessage) (any, error) { return k.screen.pickFolder(ctx) },
		wire.AskClose:      func(context.Context, json.RawMessage) (any, error) { go k.leave(); return nil, nil },
		wire.AskRaise:      func(context.Context, json.RawMessage) (any, error) { k.screen.raise(); return nil, nil },
		wire.AskOpenURL: func(_ context.Context, args json.RawMessage) (any, error) {
			var in wire.URLArgs
			if err := json.Unmarshal(args, &in); err != nil || !opens(in.URL) {
				return nil, &app.Error{Code: "bad_request", Message: "Only http, https and mailto addresses can be opened."}
			}
			k.screen.openURL(in.URL)
			return nil, nil
		},
		wire.AskShowFile: onFile(k.screen.showFile, "No file manager could be started."),
		wire.AskOpenFile: onFile(k.screen.openFile, "No program could be started for it."),
	}
}

// onFile answers a wish of the core that is about a file.
func onFile(do func(path string) error, failed string) func(context.Context, json.RawMessage) (any, error) {
	return func(_ context.Context, args json.RawMessage) (any, error) {
		var in wire.FileArgs
		if err := json.Unmarshal(args, &in); err != nil || !filepath.IsAbs(in.Path) {
			return nil, &app.Error{Code: "bad_request", Message: "Only a file with its whole path can be shown."}
		}
		if _, err := os.Stat(in.Path); err != nil {
			return nil, &app.Error{Code: "not_found", Message: "The file is not there any more.", Cause: err}
		}
		if err := do(in.Path); err != nil {
			return nil, &app.Error{Code: "no_program", Message: failed + " The file is at " + in.Path + ".", Cause: err}
		}
		return nil, nil
	}
}

// leaveAfter lets the answer to AskClose go out before the window is gone.
const leaveAfter = 100 * time.Millisecond

// leave closes the window.
func (k *keeper) leave() {
	time.Sleep(leaveAfter)
	k.screen.quit()
}
