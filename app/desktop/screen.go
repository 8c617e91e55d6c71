//go:build desktop

package desktop

import (
	"context"
	"os/exec"
	"sync"

	wails "github.com/wailsapp/wails/v2/pkg/runtime"

	"carrel/app"
)

// wailsScreen is the window that Wails made.
type wailsScreen struct {
	mu     sync.Mutex
	call   func(f func(context.Context)) // calls f with what Wails wants; nil before the start
	dialog sync.Mutex                    // one folder dialog at a time
}

func newScreen() screen { return &wailsScreen{} }

func (s *wailsScreen) start(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.call = func(f func(context.Context)) { f(ctx) }
}

func (s *wailsScreen) with(f func(ctx context.Context)) {
	s.mu.Lock()
	call := s.call
	s.mu.Unlock()
	if call != nil {
		call(f)
	}
}

func (s *wailsScreen) pickFolder(context.Context) (path string, err error) {
	if !s.dialog.TryLock() {
		return "", &app.Error{Code: "busy", Message: "The folder dialog is open already."}
	}
	defer s.dialog.Unlock()
	err = &app.Error{Code: "no_window", Message: "The window is still opening; try again."}
	s.with(func(ctx context.Context) {
		path, err = wails.OpenDirectoryDialog(ctx, wails.OpenDialogOptions{Title: "Choose a folder", CanCreateDirectories: true})
	})
	return path, err
}

func (s *wailsScreen) raise() {
	s.with(func(ctx context.Context) {
		wails.WindowUnminimise(ctx)
		wails.WindowShow(ctx)
	})
}

func (s *wailsScreen) openURL(address string) {
	s.with(func(ctx context.Context) { wails.BrowserOpenURL(ctx, address) })
}

func (s *wailsScreen) showFile(path string) error { return started(fileManager(path)) }

func (s *wailsScreen) openFile(path string) error { return started(viewer(path)) }

// started starts a program that opens a window of its own or of another process.
func started(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	return nil
}

func (s *wailsScreen) home() { s.with(wails.WindowReloadApp) }

func (s *wailsScreen) quit() { s.with(wails.Quit) }
