package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"carrel/app"
)

// The names of what the core asks of the window.
const (
	AskPickFolder = "pickFolder" // no arguments -> the path, "" when cancelled
	AskRaise      = "raise"      // no arguments, no result
	AskOpenURL    = "openURL"    // {"url"} -> no result
	AskShowFile   = "showFile"   // {"path"} -> no result
	AskClose      = "close"      // no arguments, no result
	AskOpenFile   = "openFile"   // {"path"} -> no result
)

// URLArgs are the arguments of AskOpenURL.
type URLArgs struct {
	URL string `json:"url"` // http, https or mailto
}

// FileArgs are the arguments of AskShowFile and AskOpenFile.
type FileArgs struct {
	Path string `json:"path"` // absolute
}

// window is the attached window as the application sees it.
type window struct{ host *host }

var errNoWindow = &app.Error{Code: "no_window", Message: "The window has closed; open it again and retry."}

// PickFolder implements app.Window.
func (w window) PickFolder(ctx context.Context) (string, error) {
	var path string
	err := w.host.ask(ctx, AskPickFolder, nil, &path, w.host.srv.waits.dialog)
	return path, err
}

// Raise implements app.Window.
func (w window) Raise(ctx context.Context) error {
	return w.host.ask(ctx, AskRaise, nil, nil, w.host.srv.waits.answer)
}

// OpenURL implements app.Window. Only what app.Openable allows leaves.
func (w window) OpenURL(ctx context.Context, address string) error {
	address, err := app.Openable(address)
	if err != nil {
		return err
	}
	return w.host.ask(ctx, AskOpenURL, URLArgs{address}, nil, w.host.srv.waits.answer)
}

// ShowFile implements app.Window.
func (w window) ShowFile(ctx context.Context, path string) error {
	return w.host.ask(ctx, AskShowFile, FileArgs{path}, nil, w.host.srv.waits.answer)
}

// Close implements app.Window.
func (w window) Close(ctx context.Context) error {
	return w.host.ask(ctx, AskClose, nil, nil, w.host.srv.waits.answer)
}

// OpenFile implements app.Window.
func (w window) OpenFile(ctx context.Context, path string) error {
	return w.host.ask(ctx, AskOpenFile, FileArgs{path}, nil, w.host.srv.waits.answer)
}

// ask waits for the window's answer, for its end, for ctx or until the time is over.
func (h *host) ask(ctx context.Context, call string, args, out any, wait time.Duration) error {
	data, err := encode(args)
	if err != nil {
		return fmt.Errorf("ask the window %q: %w", call, err)
	}
	id, answer, ok := h.newAsk()
	if !ok {
		return errNoWindow
	}
	defer h.endAsk(id)
	h.control(outbound{Ask: id, Call: call, Args: data})
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case in, open := <-answer:
		switch {
		case !open:
			return errNoWindow
		case in.Error != nil:
			return in.Error.appError()
		case out == nil || len(in.OK) == 0:
			return nil
		}
		if err := json.Unmarshal(in.OK, out); err != nil {
			return fmt.Errorf("read the window's answer to %q: %w", call, err)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return &app.Error{Code: "no_answer", Message: "The window did not answer."}
	}
}

func (h *host) newAsk() (uint64, chan inbound, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone {
		return 0, nil, false
	}
	h.asked++
	ch := make(chan inbound, 1)
	h.asks[h.asked] = ch
	return h.asked, ch, true
}

func (h *host) endAsk(id uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.asks, id)
}

// answered hands an answer to whoever asked; a late or second one is ignored.
func (h *host) answered(in inbound) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ch := h.asks[in.Answer]; ch != nil {
		delete(h.asks, in.Answer)
		ch <- in
	}
}
