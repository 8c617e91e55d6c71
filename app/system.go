package app

import (
	"context"
	"net/url"
	"os"
	"runtime"
)

// maxURL bounds an address, in bytes.
const maxURL = 8 << 10

// system implements SystemAPI.
type system struct{ app *App }

func (s system) About(context.Context) (About, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	problems := []Problem{}
	for _, p := range s.app.root.Problems() {
		problems = append(problems, Problem(p))
	}
	return About{Version: Version(), Commit: Commit(), OS: runtime.GOOS + "/" + runtime.GOARCH,
		Root: s.app.root.Dir(), Sandbox: "none", Desktop: s.app.attached() != nil, Problems: problems, Home: home}, nil
}

func (s system) Doctor(ctx context.Context) ([]Check, error) { return s.app.doctor(ctx), nil }

func (s system) PickFolder(ctx context.Context) (PickedFolder, error) {
	w, err := s.window()
	if err != nil {
		return PickedFolder{}, err
	}
	path, err := w.PickFolder(ctx)
	if err != nil {
		return PickedFolder{}, err
	}
	return PickedFolder{Path: path, Cancelled: path == ""}, nil
}

func (s system) Raise(ctx context.Context) error {
	w, err := s.window()
	if err != nil {
		return err
	}
	return w.Raise(ctx)
}

func (s system) OpenURL(ctx context.Context, args OpenURL) error {
	u, err := url.Parse(args.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || len(args.URL) > maxURL {
		return &Error{Code: "bad_request", Message: "Only http and https addresses can be opened."}
	}
	w, err := s.window()
	if err != nil {
		return err
	}
	return w.OpenURL(ctx, u.String())
}

func (s system) window() (Window, error) {
	if w := s.app.attached(); w != nil {
		return w, nil
	}
	return nil, &Error{Code: "no_window", Message: "No desktop window is open. Type the folder's path instead."}
}

func (a *App) attached() Window {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.window
}
