package app_test

import (
	"errors"
	"log/slog"
	"testing"

	"carrel/app"
	"carrel/store"
	"carrel/store/output"
)

func TestTheLogIsReadFollowedAndCleared(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	root, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	book, emptied := output.New(), 0
	log := slog.New(book.Handler(slog.DiscardHandler))
	a, err := app.New(app.Options{Root: root, Headless: true, Logger: log,
		Journal: app.Journal{Book: book, File: "/somewhere/core.log", Empty: func() error { emptied++; return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close(t.Context()) }()
	told := make(chan app.Event, 16)
	a.Subscribe(func(e app.Event) { told <- e })
	a.SetAudience(func(topic string) bool { return topic == "output" })
	out := a.API().Output

	log.Debug("small", "workspace", "w1")
	grew, ok := (<-told).(app.OutputGrew)
	if last := grew.Lines[len(grew.Lines)-1]; !ok || last.Text != "small" || last.Level != "debug" || last.Attrs != "workspace=w1" {
		t.Errorf("told %+v", grew)
	}
	if got, err := out.Read(t.Context()); err != nil || got.Level != "info" || got.File != "/somewhere/core.log" || got.Lines[len(got.Lines)-1].Text != "small" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := out.SetLevel(t.Context(), app.SetOutputLevel{Level: "loud"}); said(t, err) != "bad_request" {
		t.Errorf("a level that is none: %v", err)
	}
	if err := out.SetLevel(t.Context(), app.SetOutputLevel{Level: "warn"}); err != nil {
		t.Error(err)
	}
	if err := out.Clear(t.Context()); err != nil || emptied != 1 {
		t.Errorf("emptied %d times, %v", emptied, err)
	}
	if got, err := out.Read(t.Context()); err != nil || got.Level != "warn" || len(got.Lines) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	var known *app.Error
	if err := out.OpenFile(t.Context()); !errors.As(err, &known) || known.Code != "no_window" || known.Message != "No desktop window is open. The log file is /somewhere/core.log." {
		t.Errorf("%v", err)
	}
	window := &showing{}
	a.SetWindow(window)
	if err := out.OpenFile(t.Context()); err != nil || window.shown[0] != "in its program: /somewhere/core.log" {
		t.Errorf("%v, %v", window.shown, err)
	}
}
