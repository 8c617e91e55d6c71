package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"carrel/agent/model/fakewire"
	"carrel/app"
	"carrel/app/attach"
	"carrel/app/wire"
	"carrel/store"
)

// How long the core and the window are looked at while nothing goes on in them, and how long they are
// left alone before: opening a page and starting a turn have echoes.
const (
	shortWait, longWait = 20 * time.Second, 10 * time.Minute
	waitEcho            = 12 * time.Second
)

// waitCommand is what the agent waits for; it ends with the core.
const waitCommand = `{"script":"sleep 3000","timeout_secs":3600,"display_name":"Wait"}`

// measureWaiting looks at the CPU time of a core and its window that show a session of 20,000 messages:
// idle, and while an agent waits in it for a command that says nothing.
func measureWaiting(ctx context.Context, b *bench) (_ []line, err error) {
	if b.host != "window" {
		return nil, fmt.Errorf("%w: only the window is measured", errSkipped)
	}
	model, err := fakewire.Start("127.0.0.1:0", fakewire.Steps(fakewire.Reply{Text: "I wait.",
		Calls: []fakewire.Call{{Name: "bash", Input: waitCommand}}}))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	w := &waiting{bench: b, span: shortWait}
	if b.long {
		w.span = longWait
	}
	if w.id, err = b.waitingWorkspace(ctx, model.URL); err != nil {
		return nil, err
	}
	window, err := b.showApart(w.dir())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.endCore(), window.close()) }()
	if err := w.attach(ctx, window); err != nil {
		return nil, fmt.Errorf("%w; the window said: %s", err, window.said.String())
	}
	idle, err := w.look(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.begin(ctx); err != nil {
		return nil, err
	}
	asleep, err := w.look(ctx)
	if err != nil {
		return nil, err
	}
	return []line{
		idle.core.line("idle with a session of 20,000 messages open: the core", 1),
		idle.window.line("idle: the window", 1),
		idle.web.line("idle: the processes of its page", 1.5),
		asleep.core.beside(idle.core, "a command sleeps in it: the core; idle", 3),
		asleep.window.beside(idle.window, "a command sleeps: the window; idle", 3),
		asleep.web.beside(idle.web, "a command sleeps: the processes of its page; idle", 3),
	}, nil
}

// waiting is a window on a data root of its own, the core that it started, and the workspace shown.
type waiting struct {
	*bench
	span time.Duration
	id   string

	window, core int // processes
	root         *store.Root
}

func (w *waiting) dir() string { return w.path("waiting") }

// waitingTitle is what the workspace is found by.
const waitingTitle = "Long session"

// waitingWorkspace makes a project in a git repository, and in it a workspace with a long session.
func (b *bench) waitingWorkspace(ctx context.Context, model string) (id string, err error) {
	repo := b.path("waiting-repo")
	if err := b.repo(ctx, repo, size{400, 40}); err != nil {
		return "", err
	}
	p, err := b.open(ctx, "waiting", true)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	key := "bench"
	if err := p.api.Settings.SetProvider(ctx, app.SetProvider{ID: "anthropic", APIKey: &key, BaseURL: &model}); err != nil {
		return "", err
	}
	project, err := p.api.Projects.Add(ctx, app.AddProject{Path: repo})
	if err != nil {
		return "", err
	}
	w, err := p.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: project.ID, Title: waitingTitle, Model: runModel})
	if err != nil {
		return "", err
	}
	dir, err := p.root.SessionDir(w.ID)
	if err != nil {
		return "", err
	}
	return w.ID, writeTalk(dir, longTalk)
}

// attach waits for the window and its core, and opens the session in the page as a person does.
func (w *waiting) attach(ctx context.Context, window *shown) (err error) {
	if w.root, err = store.Open(w.dir()); err != nil {
		return err
	}
	err = until(ctx, "the page to attach", func() bool {
		core, err := attach.Find(ctx, w.root)
		w.core = core.PID
		return err == nil && core.Hosts >= 2
	})
	if err != nil {
		return err
	}
	for _, pid := range below(window.cmd.Process.Pid) {
		if commandOf(pid) == filepath.Base(w.bench.window) {
			w.window = pid
			break
		}
	}
	if w.window == 0 {
		return errors.New("find the window's process: it is not there")
	}
	return w.choose(ctx)
}

// choose goes to the workspace by the keyboard.
func (w *waiting) choose(ctx context.Context) error {
	display := displayOf(w.window)
	log := filepath.Join(w.dir(), "sessions", w.id, "transcript.jsonl")
	for _, args := range [][]string{
		{"search", "--sync", "--onlyvisible", "--class", "carrel-desktop", "windowactivate", "--sync"},
		{"key", "--delay", "200", "ctrl+shift+p"},
		{"type", "--delay", "20", waitingTitle},
		{"key", "--delay", "500", "Return"},
	} {
		cmd := exec.CommandContext(ctx, "xdotool", args...)
		cmd.Env = append(w.env(), display...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("xdotool %q: %w: %s", args, err, out)
		}
		if err := pause(ctx, 500*time.Millisecond); err != nil { // a dialog comes in slowly
			return err
		}
	}
	return until(ctx, "the page to open the session", func() bool { return holdsOpen(w.core, log) })
}

// begin sends a message and waits until its command runs.
func (w *waiting) begin(ctx context.Context) error {
	client, err := wire.Dial(ctx, wire.ClientOptions{Role: wire.CLI, Version: "bench",
		Find: func(ctx context.Context) (wire.Address, error) {
			core, err := attach.Find(ctx, w.root)
			return wire.Address{URL: core.URL, Token: core.Token}, err
		}})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	if err := client.Call(ctx, "conversations.send", app.SendMessage{Workspace: w.id, Text: "Wait."}, nil); err != nil {
		return err
	}
	return until(ctx, "the command to run", func() bool {
		for _, pid := range below(w.core) {
			if commandOf(pid) == "sleep" {
				return true
			}
		}
		return false
	})
}

// endCore ends the core, and with it the command.
func (w *waiting) endCore() error {
	if w.core == 0 {
		return nil
	}
	p, err := os.FindProcess(w.core)
	if err != nil {
		return err
	}
	_ = p.Signal(os.Interrupt) // it may have ended
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return until(ctx, "the core to end", func() bool { return commandOf(w.core) == "" })
}

// share is CPU time used in a time.
type share struct{ used, of time.Duration }

func (s share) percent() float64 { return 100 * float64(s.used) / float64(max(s.of, 1)) }

func (s share) String() string { return fmt.Sprintf("%.2f %%", s.percent()) }

func (s share) line(work string, limit float64) line {
	return line{work: work, ours: s.String(), value: s.percent(), unit: "%", limit: limit}
}

func (s share) beside(idle share, work string, limit float64) line {
	l := s.line(work, limit)
	l.baseline = idle.String()
	l.cpu = over(s.used, idle.used)
	return l
}

// looked is what core, window and WebKit's processes for its page used in the same time.
type looked struct{ core, window, web share }

// look measures for the time of the row. The command's own processes and the display do not count.
func (w *waiting) look(ctx context.Context) (looked, error) {
	if err := pause(ctx, waitEcho); err != nil {
		return looked{}, err
	}
	began, core, window, web := time.Now(), cpuOf(w.core), cpuOf(w.window), w.webCPU()
	if err := pause(ctx, w.span); err != nil {
		return looked{}, err
	}
	took := time.Since(began)
	return looked{share{cpuOf(w.core) - core, took}, share{cpuOf(w.window) - window, took}, share{w.webCPU() - web, took}}, nil
}

// webCPU is the CPU time of WebKit's processes; the core is one of the window's children too.
func (w *waiting) webCPU() time.Duration {
	var sum time.Duration
	for _, pid := range below(w.window) {
		if strings.HasPrefix(commandOf(pid), "WebKit") {
			sum += cpuOf(pid)
		}
	}
	return sum
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// until waits for something of another process that no event tells of.
func until(ctx context.Context, what string, holds func() bool) error {
	for deadline := time.Now().Add(eventWait); !holds(); {
		if time.Now().After(deadline) {
			return fmt.Errorf("wait for %s: it does not come", what)
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
