// Package core runs the core: the one process that owns the data root and serves every host.
//
// It promises: at most one core runs on a data root; what ends it, a signal or idleness, lets turns
// be interrupted and saved first; it ends by itself when no host is attached and nothing works; no
// host's crash reaches it.
package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/serve"
	"carrel/app/wire"
	"carrel/store"
	"carrel/store/output"
)

// App is the application as the core needs it; *app.App is one.
type App interface {
	API() app.API
	// Subscribe calls f for every event, in order; f does not block.
	Subscribe(f func(app.Event)) (cancel func())
	SetWindow(w app.Window)
	// SetAudience says how to find out whether any host has joined a topic.
	SetAudience(joined func(topic string) bool)
	// Busy reports whether a turn or an init hook runs.
	Busy() bool
	// FinishCoder takes what a browser brought back from a login at Coder, and reports whether one waits
	// for it.
	FinishCoder(state, code, refused string) bool
	// Upload keeps a picture for messages to come; Picture gives one that is in a conversation.
	Upload(ctx context.Context, name string, body io.Reader) (app.Uploaded, error)
	// Waiting gives one that was uploaded.
	Waiting(ctx context.Context, id string) (data []byte, mime string, err error)
	Picture(ctx context.Context, workspace, blob string) (data []byte, mime string, err error)
	// ShowTerminal serves the stream of a terminal.
	ShowTerminal(ctx context.Context, rw io.ReadWriter, args json.RawMessage) error
	// Close interrupts what runs and saves it.
	Close(ctx context.Context) error
}

// Options say what a core runs.
type Options struct {
	Root    *store.Root
	Version string
	// Open makes the application, once the root is this process's. What it logs goes to journal too.
	Open func(ctx context.Context, log *slog.Logger, journal app.Journal) (App, error)
	Page fs.FS
	// Streams are the byte streams that a host can open, by name.
	Streams map[string]wire.StreamFunc
	// Serve is a listener besides the core's own; with one, idleness does not end the core.
	Serve *serve.ListenOptions
	// Ready hears once that the core answers. Served is nil without Serve.
	Ready func(own, served *serve.Listener)
	// IdleAfter is how long nobody may be attached and nothing work; 0: 15 s, negative: for ever.
	IdleAfter time.Duration
	// Detached says that this process is the core's alone and was started by attach.Ensure: it
	// closes what it inherited, logs to logs/core.log and ends on SIGTERM and SIGINT.
	Detached bool
	Log      *slog.Logger // not used when Detached
}

// The times of a core's life.
const (
	idleAfter = 15 * time.Second
	lockWait  = 20 * time.Second // for a core that is ending, or a command that needs the root for a moment
	lockPoll  = 20 * time.Millisecond
	saveWait  = 10 * time.Second // for turns to be interrupted and saved
	closeWait = 3 * time.Second  // for hosts to take their leave
)

// ErrRunning says that another core runs on the root.
var ErrRunning = errors.New("another core is running")

// Run runs a core until ctx ends, a stop is asked for or it has been idle for long. It returns
// ErrRunning if there is another one, and nil after an orderly end.
func Run(ctx context.Context, o Options) error {
	journal := app.Journal{Book: output.New()}
	if o.Detached {
		file, err := detach(o.Root)
		if err != nil {
			return fmt.Errorf("detach the core: %w", err)
		}
		defer func() { _ = file.Close() }()
		o.Log = slog.New(slog.NewTextHandler(file, &slog.HandlerOptions{Level: slog.LevelInfo}))
		journal.File, journal.Empty = o.Root.Path("logs", "core.log"), file.Empty
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
		defer stop()
		context.AfterFunc(ctx, stop) // a second signal ends at once
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	lock, err := takeRoot(ctx, o.Root)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	o.Log = slog.New(journal.Book.Handler(o.Log.Handler()))
	return run(ctx, o, journal)
}

// takeRoot takes the root's lock, waiting for a core that is ending.
func takeRoot(ctx context.Context, root *store.Root) (*store.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		lock, err := root.Lock()
		var held *store.LockedError
		if !errors.As(err, &held) {
			return lock, err
		}
		if _, found := attach.Find(ctx, root); found == nil {
			return nil, ErrRunning
		}
		timer := time.NewTimer(lockPoll)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("%w: %w", ErrRunning, err)
		}
	}
}

// run has the root. It puts the parts together, waits for an end and takes them apart in turn.
func run(ctx context.Context, o Options, journal app.Journal) error {
	began := time.Now()
	a, err := o.Open(ctx, o.Log, journal)
	if err != nil {
		return fmt.Errorf("open the application: %w", err)
	}
	p := newPresence(o.IdleAfter, a.Busy)
	hosts := wire.New(wire.Options{
		API: a.API(), Version: o.Version, Verify: serve.Verify, SetWindow: a.SetWindow,
		Hosts: p.setHosts, Streams: streams(a, o.Streams), Log: o.Log,
	})
	unsubscribe := a.Subscribe(hosts.Publish)
	a.SetAudience(hosts.Joined)
	web := serve.New(serve.Options{Socket: hosts, Page: o.Page, Look: look(o.Root), Blob: a.Picture, Upload: a.Upload, Waiting: a.Waiting,
		Coder: a.FinishCoder, Version: o.Version, Log: o.Log})
	d := &door{app: a, web: web, presence: p, version: o.Version}
	door, err := d.open(ctx, o)
	if err == nil {
		o.Log.Info("the core is ready", "pid", os.Getpid(), "version", o.Version, "address", d.own.URL(), "after", time.Since(began))
		if o.Ready != nil {
			o.Ready(d.own, d.served)
		}
		why := p.wait(ctx)
		o.Log.Info("the core ends", "why", why)
		err = door.Close()
	}
	return errors.Join(err, end(o, a, hosts, web, unsubscribe))
}

// look is the theme and the density that the person chose, "" where the settings do not say.
func look(root *store.Root) func() (theme, density string) {
	return func() (theme, density string) {
		s, err := root.Settings()
		if err != nil {
			return "", ""
		}
		return s.Theme, s.Density
	}
}

// streams are those of the application, and more.
func streams(a App, more map[string]wire.StreamFunc) map[string]wire.StreamFunc {
	all := map[string]wire.StreamFunc{"terminal": func(ctx context.Context, s *wire.Stream, args json.RawMessage) error {
		return a.ShowTerminal(ctx, s, args)
	}}
	maps.Copy(all, more)
	return all
}

// end saves the work first: hosts still see it happen. Then they are let go.
func end(o Options, a App, hosts *wire.Server, web *serve.Server, unsubscribe func()) error {
	ctx, cancel := context.WithTimeout(context.Background(), saveWait)
	defer cancel()
	err := a.Close(ctx)
	unsubscribe()
	leave, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	if e := errors.Join(hosts.Close(leave), web.Close(leave)); e != nil {
		o.Log.Warn("hosts did not leave in time", "error", e)
	}
	if err != nil {
		return fmt.Errorf("save what runs: %w", err)
	}
	return nil
}

// detach makes this process a core of its own.
func detach(root *store.Root) (*logFile, error) {
	closeInherited()
	if err := os.Chdir("/"); err != nil {
		return nil, err
	}
	out, err := openLogFile(root)
	if err != nil {
		return nil, err
	}
	debug.SetTraceback("all") // a panic's goroutines go to the log, which is our stderr
	return out, nil
}
