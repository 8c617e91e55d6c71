package app

import (
	"context"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
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
		Root: s.app.root.Dir(), Sandbox: s.app.boxes.known(), Desktop: s.app.attached() != nil, Problems: problems, Home: home}, nil
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
	address, err := Openable(args.URL)
	if err != nil {
		return err
	}
	w, err := s.window()
	if err != nil {
		return err
	}
	return w.OpenURL(ctx, address)
}

func (s system) ShowFile(ctx context.Context, args ShowFile) error {
	s.app.mu.Lock()
	saved := slices.Contains(s.app.saved, args.Path)
	s.app.mu.Unlock()
	if !saved && args.Path != s.app.root.Path("settings.jsonc") {
		return &Error{Code: "bad_request", Message: "Only files that were exported since Carrel was started, and the settings, can be shown."}
	}
	w, err := s.window()
	if err != nil {
		return err
	}
	return w.ShowFile(ctx, args.Path)
}

// mailHeaders are what an address of mail may fill in. Others, such as attach, do more than write.
var mailHeaders = map[string]bool{"to": true, "cc": true, "bcc": true, "subject": true, "body": true}

// Openable returns an address, of at most 8 KiB, as it may leave Carrel for the person's browser or mail
// program: http and https without a name and password, and mailto. Any other is refused with an *Error.
func Openable(address string) (string, error) {
	u, err := url.Parse(address)
	ok := err == nil && len(address) <= maxURL
	if ok {
		switch u.Scheme {
		case "http", "https":
			ok = u.Host != "" && u.User == nil
		case "mailto":
			ok = u.Opaque != ""
			for header := range u.Query() {
				ok = ok && mailHeaders[strings.ToLower(header)]
			}
		default:
			ok = false
		}
	}
	if !ok {
		return "", &Error{Code: "bad_request", Message: "Only http, https and mailto addresses can be opened."}
	}
	return u.String(), nil
}

func (s system) window() (Window, error) {
	return s.app.windowFor("Type the folder's path instead.")
}

// windowFor is the attached window, or the error that says what to do without one.
func (a *App) windowFor(otherwise string) (Window, error) {
	if w := a.attached(); w != nil {
		return w, nil
	}
	return nil, &Error{Code: "no_window", Message: "No desktop window is open. " + otherwise}
}

func (a *App) attached() Window {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.window
}
