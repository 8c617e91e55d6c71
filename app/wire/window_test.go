package wire

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"carrel/app"
)

func TestTheWindowAnswersWhatTheCoreAsks(t *testing.T) {
	c := startCore(t)
	asks := map[string]func(context.Context, json.RawMessage) (any, error){
		AskPickFolder: func(context.Context, json.RawMessage) (any, error) { return "/picked", nil },
		AskOpenURL: func(_ context.Context, args json.RawMessage) (any, error) {
			return nil, &app.Error{Code: "no_browser", Message: string(args)}
		},
		AskShowFile: func(_ context.Context, args json.RawMessage) (any, error) {
			return nil, &app.Error{Code: "no_file_manager", Message: string(args)}
		},
		AskClose: func(context.Context, json.RawMessage) (any, error) {
			return nil, &app.Error{Code: "stays", Message: "It stays."}
		},
		AskRaise: func(ctx context.Context, _ json.RawMessage) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
	}
	first := c.dial(t, ClientOptions{Role: Desktop, Asks: asks})
	w := receive(t, c.window)
	if path, err := w.PickFolder(t.Context()); err != nil || path != "/picked" {
		t.Errorf("picked %q, %v", path, err)
	}
	if err := w.OpenURL(t.Context(), "https://a.test/"); codeOf(err) != "no_browser" || !strings.Contains(err.Error(), "a.test") {
		t.Errorf("open: %v", err)
	}
	if err := w.OpenURL(t.Context(), "mailto:a@b.test"); codeOf(err) != "no_browser" || !strings.Contains(err.Error(), "a@b.test") {
		t.Errorf("open: %v", err)
	}
	if err := w.OpenURL(t.Context(), "file:///etc/passwd"); codeOf(err) != "bad_request" {
		t.Errorf("a file was opened: %v", err)
	}
	if err := w.ShowFile(t.Context(), "/a/b.md"); codeOf(err) != "no_file_manager" || !strings.Contains(err.Error(), "/a/b.md") {
		t.Errorf("show: %v", err)
	}
	if err := w.Close(t.Context()); codeOf(err) != "stays" {
		t.Errorf("close: %v", err)
	}
	c.waits.answer = 50 * time.Millisecond
	if err := w.Raise(t.Context()); codeOf(err) != "no_answer" {
		t.Errorf("a window that does not answer: %v", err)
	}

	second := c.dial(t, ClientOptions{Role: Desktop, Asks: asks})
	w2 := receive(t, c.window)
	if err := first.Wait(); !errors.Is(err, ErrReplaced) {
		t.Errorf("the older window ended with %v", err)
	}
	if _, err := w.PickFolder(t.Context()); codeOf(err) != "no_window" {
		t.Errorf("the older window was asked: %v", err)
	}
	if path, err := w2.PickFolder(t.Context()); err != nil || path != "/picked" {
		t.Errorf("picked %q, %v", path, err)
	}
	_ = second.Close()
	if w := receive(t, c.window); w != nil {
		t.Error("the window is gone, yet there is one")
	}
}
