//go:build desktop && !linux

package desktop

import (
	"context"

	wails "github.com/wailsapp/wails/v2/pkg/runtime"
)

// On macOS the web view has a process of its own and Go's signal handlers are left alone; the
// system remembers nothing of the window, so its place is asked for when it closes.

func prefersDark() bool { return true }

func fixSignals() {}

func closeOnExec() {}

func watchView(w *window) {
	if p := w.memory.Place; p.Width > 0 && !p.Maximised {
		w.screen.with(func(ctx context.Context) { wails.WindowSetPosition(ctx, p.X, p.Y) })
	}
}
