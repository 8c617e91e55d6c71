//go:build desktop && !linux

package desktop

import (
	"context"

	wails "github.com/wailsapp/wails/v2/pkg/runtime"
)

// On macOS the web view's scripts run in another process, so Go's signal handlers are left alone. Its
// window does not tell us where it is: there the place is not kept.

func prefersDark() bool { return true }

func fixSignals() {}

func watchView(w *window) {
	if p := w.memory.Place; p.Width > 0 && !p.Maximised {
		if s, ok := w.screen.(*wailsScreen); ok {
			s.with(func(ctx context.Context) { wails.WindowSetPosition(ctx, p.X, p.Y) })
		}
	}
}
