package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"carrel/store"
)

// How long Ensure waits for a core that it started, and how often it looks.
const (
	startWait = 30 * time.Second // a core that ends lets its turns save first
	startPoll = 10 * time.Millisecond
)

// MaxLog is the size in bytes at which logs/core.log becomes logs/core.log.1.
const MaxLog = 8 << 20

// ExitLocked is the exit code of a core that found another core running.
const ExitLocked = 75

// Ensure returns the core that runs on the data root, and starts `exe core` if there is none. Two
// callers at once end up with the same core. A core of another version is returned as it is; see
// Replace.
func Ensure(ctx context.Context, root *store.Root, exe string) (Core, error) {
	core, err := Find(ctx, root)
	if !errors.Is(err, ErrNoCore) {
		return core, err
	}
	ended, err := start(root, exe)
	if err != nil {
		return Core{}, fmt.Errorf("start the core: %w", err)
	}
	return await(ctx, root, ended)
}

// Replace stops a core and starts exe's in its place, for a window that is newer than the core. It
// fails with the code "busy" while something works there.
func (c Core) Replace(ctx context.Context, exe string) (Core, error) {
	if err := c.Stop(ctx); err != nil {
		return Core{}, err
	}
	for {
		now, err := Find(ctx, c.root)
		if err != nil || now.PID != c.PID {
			return Ensure(ctx, c.root, exe)
		}
		if err := pause(ctx); err != nil {
			return Core{}, err
		}
	}
}

// await waits for the socket of a core that was started or of one that came first.
func await(ctx context.Context, root *store.Root, ended <-chan error) (Core, error) {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		core, err := Find(ctx, root)
		if !errors.Is(err, ErrNoCore) {
			return core, err
		}
		select {
		case err := <-ended:
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() == ExitLocked {
				ended = nil // another core came first: wait for its socket
				continue
			}
			return Core{}, fmt.Errorf("start the core: it ended at once (%v); its log ends with:\n%s", err, logTail(root))
		default:
		}
		if err := pause(ctx); err != nil {
			return Core{}, fmt.Errorf("start the core: it did not answer; its log ends with:\n%s", logTail(root))
		}
	}
}

func pause(ctx context.Context) error {
	timer := time.NewTimer(startPoll)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// start starts a core that outlives this process: in its own session, in /, with its output in the
// log. What this process has open without close-on-exec, as WebKit does, the core closes itself.
// The channel tells how it ended if it did so while we live.
func start(root *store.Root, exe string) (<-chan error, error) {
	log, err := OpenLog(root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(exe, "core")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "CARREL_ROOT="+root.Dir())
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = ownSession()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		if err == nil {
			err = errors.New("exit status 0")
		}
		ended <- err
	}()
	return ended, nil
}

// OpenLog opens logs/core.log for appending, after making it core.log.1 if it has grown too long.
func OpenLog(root *store.Root) (*os.File, error) {
	path := root.Path("logs", "core.log")
	if err := os.MkdirAll(root.Path("logs"), 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() >= MaxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// logTail returns the last lines of the core's log.
func logTail(root *store.Root) string {
	f, err := os.Open(root.Path("logs", "core.log"))
	if err != nil {
		return "(no log)"
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil {
		_, _ = f.Seek(max(0, info.Size()-2000), io.SeekStart)
	}
	text, _ := io.ReadAll(io.LimitReader(f, 2000))
	return strings.TrimSpace(string(text))
}
