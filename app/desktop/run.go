package desktop

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"carrel/app"
	"carrel/store"
)

// ensureWait is how long the window waits for the core before it opens with a page of its own. A core
// takes 0.15 s.
const ensureWait = 1500 * time.Millisecond

// Run opens the window on the data root and returns the process's exit code. The arguments are
// folders to open. If there is a window already, it is given the folders and comes to the front.
func Run(args []string) int {
	runtime.LockOSThread() // GTK and AppKit belong to one thread
	if err := run(args); err != nil {
		fmt.Fprintf(os.Stderr, "carrel-desktop: %s\n", sentence(err))
		return 1
	}
	return 0
}

func run(args []string) error {
	root, err := store.Open("")
	if err != nil {
		return err
	}
	given, complaints := folders(args)
	for _, c := range complaints {
		fmt.Fprintf(os.Stderr, "carrel-desktop: %s\n", c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	lock, err := claim(ctx, root, given)
	if lock == nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	log, closeLog, err := openLog(root)
	if err != nil {
		return err
	}
	defer closeLog()
	w, err := prepare(ctx, root, given, log)
	if err != nil {
		return err
	}
	return w.show(ctx)
}

// openLog logs to logs/window.log, which begins anew when it has become long, and to stderr.
func openLog(root *store.Root) (*slog.Logger, func(), error) {
	path := root.Path("logs", "window.log")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, err
	}
	flags := os.O_CREATE | os.O_APPEND | os.O_WRONLY
	if info, err := os.Stat(path); err == nil && info.Size() > 1<<20 {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, nil, err
	}
	log := slog.New(slog.NewTextHandler(io.MultiWriter(f, os.Stderr), &slog.HandlerOptions{Level: slog.LevelInfo}))
	return log, func() { _ = f.Close() }, nil
}

// window is the desktop window.
type window struct {
	root   *store.Root
	log    *slog.Logger
	given  []string // folders to open
	draw   choice
	keeper *keeper
	screen screen
	secret *secret

	mu      sync.Mutex
	memory  memory
	painted chan struct{} // closed when something has been drawn
	once    sync.Once
	saving  *time.Timer // the next writing of the memory, nil when there is nothing new
}

// prepare does what comes before GTK and WebKit exist: the environment, and the core.
func prepare(ctx context.Context, root *store.Root, given []string, log *slog.Logger) (*window, error) {
	settings, err := root.Settings()
	if err != nil {
		log.Warn("read the settings", "error", err)
	}
	m, err := recall(root)
	if err != nil {
		log.Warn("recall the window's place", "error", err)
	}
	w := &window{root: root, log: log, given: given, secret: &secret{}, painted: make(chan struct{})}
	w.draw = chooseRendering(os.Getenv("CARREL_GPU"), settings.GPU, m, hasGPU())
	if w.draw.hint != "" {
		log.Warn(w.draw.hint)
	}
	w.memory = w.draw.wants(m).began()
	if err := remember(root, w.memory); err != nil {
		return nil, err
	}
	if err := prepareEnvironment(ctx, w.draw, log); err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	w.screen = newScreen()
	w.keeper = newKeeper(root, filepath.Join(filepath.Dir(exe), "carrel"), app.Version(), settings.Theme, w.screen, log)
	go w.keeper.run(ctx)
	select { // the core's process starts before WebKit has descriptors that it could inherit
	case <-w.keeper.settled:
	case <-time.After(ensureWait):
	}
	return w, nil
}

// prepareEnvironment changes what WebKit, GTK and the core inherit.
func prepareEnvironment(ctx context.Context, draw choice, log *slog.Logger) error {
	set := withoutProxy(os.Getenv)
	if _, chosen := os.LookupEnv(safeMemory); draw.how == drawSafe && !chosen {
		set[safeMemory] = "1"
	}
	if fromLauncher(os.Getenv) {
		path, note := shellPath(ctx, os.Getenv, pathWait)
		if set["PATH"] = path; note != "" {
			set["CARREL_PATH_NOTE"] = note
			log.Warn(note)
		}
	}
	for name, value := range set {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}
