package desktop

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"carrel/app"
	"carrel/app/attach"
	"carrel/store"
)

// logShown is how much of the core's log the page shows, in bytes.
const logShown = 16 << 10

// How long a core may take to answer, and to end after it was told to, before it is killed. Both must
// fit into callWait.
const (
	answerWait = 2 * time.Second
	endWait    = 3 * time.Second
)

func (k *keeper) update(f func(*State)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.state
	f(&k.state)
	if k.state == before {
		return
	}
	k.state.Rev++
	close(k.changed)
	k.changed = make(chan struct{})
}

func (k *keeper) setOlder(older bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.older = older
}

// outdated reports whether the core should be replaced when it is idle.
func (k *keeper) outdated() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.older
}

// wait returns the state once it is newer than the revision, or after a while. A page that gets a
// link goes there.
func (k *keeper) wait(ctx context.Context, after uint64) State {
	timer := time.NewTimer(stateWait)
	defer timer.Stop()
	for {
		k.mu.Lock()
		state, changed := k.state, k.changed
		if state.Rev > after {
			k.led = state.Link
		}
		k.mu.Unlock()
		if state.Rev > after {
			return state
		}
		select {
		case <-changed:
		case <-timer.C:
			return state
		case <-ctx.Done():
			return state
		}
	}
}

// address returns the address of the core's page, "" when there is none, for the web view to stay
// at.
func (k *keeper) address() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.core.URL
}

// Call implements wire.Caller. It fails at once while there is no core.
func (k *keeper) Call(ctx context.Context, name string, in, out any) error {
	k.mu.Lock()
	client, kind := k.client, k.state.Kind
	k.mu.Unlock()
	if client == nil || kind != Ready {
		return &app.Error{Code: "no_core", Message: "Carrel's core is not running."}
	}
	return client.Call(ctx, name, in, out)
}

// again lets a failed start be tried once more.
func (k *keeper) again() {
	select {
	case k.retry <- struct{}{}:
	default:
	}
}

func (k *keeper) waitRetry(ctx context.Context) bool {
	select {
	case <-k.retry:
	default:
	}
	select {
	case <-k.retry:
	case <-ctx.Done():
		return false
	}
	k.mu.Lock()
	k.starts = nil
	k.mu.Unlock()
	k.update(func(s *State) { s.Kind, s.Message, s.Hung = Starting, "", false })
	return true
}

// tail returns the end of the core's log.
func (k *keeper) tail() string {
	f, err := os.Open(k.root.Path("logs", "core.log"))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil {
		_, _ = f.Seek(max(0, info.Size()-logShown), io.SeekStart)
	}
	text, _ := io.ReadAll(io.LimitReader(f, logShown))
	return strings.ToValidUTF8(string(text), "�")
}

// restart interrupts what runs, ends the core and lets a new one start. A core that does not answer
// is told by signals; the reaper then ends what its commands left running.
func (k *keeper) restart(ctx context.Context) error {
	if err := k.stop(ctx); err != nil {
		if err := k.kill(ctx); err != nil {
			return err
		}
	}
	k.again()
	return nil
}

// stop asks the core to end.
func (k *keeper) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	core, err := attach.Find(ctx, k.root)
	if err != nil {
		return err
	}
	if err := interruptAll(ctx, k); err != nil {
		return err
	}
	return core.Stop(ctx)
}

// kill ends the process that holds the root's lock. One that takes the lock after it is a new core,
// which is left alone.
func (k *keeper) kill(ctx context.Context) error {
	sent := syscall.SIGTERM
	deadline := time.Now().Add(endWait)
	for first, told := 0, 0; ; {
		lock, err := k.root.Lock()
		var held *store.LockedError
		if !errors.As(err, &held) {
			return errors.Join(err, lock.Close())
		}
		if first == 0 && held.PID > 1 {
			first = held.PID
		}
		if held.PID > 1 && held.PID != first {
			return nil
		}
		if held.PID > 1 && held.PID != told {
			if err := syscall.Kill(held.PID, sent); err != nil && !errors.Is(err, syscall.ESRCH) {
				return &app.Error{Code: "failed", Message: "The core can't be ended.", Cause: err}
			}
			told = held.PID
		}
		if sent == syscall.SIGTERM && time.Now().After(deadline) {
			sent, told = syscall.SIGKILL, 0
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return &app.Error{Code: "failed", Message: "The core did not end in time."}
		}
	}
}

// sentence is what a person reads of an error.
func sentence(err error) string {
	var known *app.Error
	if errors.As(err, &known) {
		return known.Message
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	if text == "" {
		return "Something went wrong."
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// viewCrashed hears that the page's process has ended, and loads the page again. One that crashes
// again and again is left alone.
func (k *keeper) viewCrashed() {
	k.log.Error("the page's process has ended")
	k.mu.Lock()
	again := len(k.views) < crashLimit || time.Since(k.views[len(k.views)-crashLimit]) > crashWindow
	k.views = append(k.views, time.Now())
	k.mu.Unlock()
	if again {
		k.goHome()
	}
}
