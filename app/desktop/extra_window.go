//go:build desktop && window

package desktop

/*
#include <signal.h>

static int on_stack(int sig) {
	struct sigaction now;
	return sigaction(sig, NULL, &now) == 0 && (now.sa_flags & SA_ONSTACK) != 0;
}
*/
import "C"

import (
	"context"
	"fmt"
	"os"
	"time"

	wails "github.com/wailsapp/wails/v2/pkg/runtime"
)

// The window tests build the window with the tag window, which adds faults that they can ask for in
// CARREL_WINDOW_FAULT:
//
//	panic=FILE  the window's own page dereferences nil in a bound call a hundred times, and FILE then
//	            says how many of the calls failed with an error
//	blank       no page ever says that it has been drawn

func fault() (name, value string) {
	for i, r := range os.Getenv("CARREL_WINDOW_FAULT") {
		if r == '=' {
			return os.Getenv("CARREL_WINDOW_FAULT")[:i], os.Getenv("CARREL_WINDOW_FAULT")[i+1:]
		}
	}
	return os.Getenv("CARREL_WINDOW_FAULT"), ""
}

// Faulty is bound for the window tests.
type Faulty struct {
	guard  *guard
	secret string
}

// Dereference dereferences nil.
func (f *Faulty) Dereference() (Done, error) {
	return guarded(f.guard, f.guard.secret.current(), func(context.Context) (Done, error) {
		var none *Faulty
		return Done{}, fmt.Errorf("never: %s", none.secret)
	})
}

// Count writes how many calls failed, and how the handlers of signals are.
func (f *Faulty) Count(failed int) (Done, error) {
	_, file := fault()
	on := func(s C.int) bool { return C.on_stack(s) != 0 }
	report := fmt.Sprintf("failed %d, on the alternate stack: SIGSEGV %v SIGBUS %v SIGFPE %v SIGILL %v SIGUSR1 %v",
		failed, on(C.SIGSEGV), on(C.SIGBUS), on(C.SIGFPE), on(C.SIGILL), on(C.SIGUSR1))
	return Done{}, os.WriteFile(file, []byte(report), 0o600)
}

func (s *secret) current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value
}

func extraServices(g *guard) []any {
	if name, _ := fault(); name != "panic" {
		return nil
	}
	return []any{&Faulty{guard: g}}
}

func extraLoaded(ctx context.Context) {
	if name, _ := fault(); name != "panic" {
		return
	}
	wails.WindowExecJS(ctx, `(async () => {
		if (!window.go) return;
		let failed = 0;
		for (let i = 0; i < 100; i++) try { await window.go.desktop.Faulty.Dereference(); } catch { failed++; }
		window.go.desktop.Faulty.Count(failed);
	})()`)
}

func suppressPaint() bool {
	name, _ := fault()
	return name == "blank"
}

func paintWait() time.Duration {
	if suppressPaint() {
		return 2 * time.Second
	}
	return firstPaint
}
