package search_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"carrel/agent/search"
)

// raw opens the index's file.
func raw(t *testing.T, h *history) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: h.root.Path("search.db")}).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestAnIndexThatCannotBeUsedIsMadeAnew(t *testing.T) {
	spoil := map[string]func(t *testing.T, h *history, file string){
		"missing": func(t *testing.T, _ *history, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		},
		"garbage": func(t *testing.T, _ *history, file string) {
			if err := os.WriteFile(file, []byte(strings.Repeat("garbage ", 4000)), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"empty": func(t *testing.T, _ *history, file string) {
			if err := os.Truncate(file, 0); err != nil {
				t.Fatal(err)
			}
		},
		"zeros behind the first page": func(t *testing.T, _ *history, file string) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			clear(b[8192:])
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"another schema": func(t *testing.T, h *history, _ string) {
			if _, err := raw(t, h).Exec(`PRAGMA user_version = 0`); err != nil {
				t.Fatal(err)
			}
		},
		"a newer schema": func(t *testing.T, h *history, _ string) {
			if _, err := raw(t, h).Exec(`PRAGMA user_version = 99`); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, f := range spoil {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			h.say("a", "", user("word"))
			x := search.New(search.Options{Root: h.root, Sessions: h.list})
			syncAll(t, x)
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			f(t, h, h.root.Path("search.db"))
			y := h.index()
			if a := find(t, y, search.Query{Text: "word"}); len(a.Hits) > 1 {
				t.Errorf("got %+v", a)
			}
			syncAll(t, y)
			expect(t, y, search.Query{Text: "word"}, "a/1 user: [word]")
		})
	}
}

func TestALogThatWasReplacedIsReadAnew(t *testing.T) {
	h := newHistory(t)
	h.say("a", "", user("old word"), user("another old word"))
	x := h.index()
	syncAll(t, x)
	if err := os.RemoveAll(h.root.Path("sessions", "a")); err != nil {
		t.Fatal(err)
	}
	expect(t, x, search.Query{Text: "word"}) // the hits have no log behind them
	h.say("a", "", user("new word"))
	syncAll(t, x)
	expect(t, x, search.Query{Text: "word"}, "a/1 user: new [word]")
}

func TestTornAndDamagedLinesAreSkipped(t *testing.T) {
	h := newHistory(t)
	h.say("a", "", user("first word"))
	log := filepath.Join(h.root.Path("sessions", "a"), "transcript.jsonl")
	write := func(s string) {
		t.Helper()
		f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString(s)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	write("not a record\n" + `{"seq":9,"kind":"user","mess`)
	x := h.index()
	syncAll(t, x)
	h.say("a", "", user("second word")) // cuts what is torn
	syncAll(t, x)
	write("\n\x00\n")
	syncAll(t, x)
	expect(t, x, search.Query{Text: "word"}, "a/1 user: first [word]", "a/2 user: second [word]")
}

func TestProcessesIndexAtTheSameTime(t *testing.T) {
	h := newHistory(t)
	want := []string{}
	for i := range 30 {
		w := fmt.Sprintf("w%02d", i)
		h.say(w, "p", user("word"), assistant(said("answer")))
		want = append(want, w+"/1 user: [word]")
	}
	var all sync.WaitGroup
	for range 4 {
		x := h.index()
		all.Go(func() {
			if err := x.Sync(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	expect(t, h.index(), search.Query{Text: "word", Limit: 100}, want...)
}

func TestTheUpdaterIndexesWhatIsTouched(t *testing.T) {
	h := newHistory(t)
	h.say("a", "", user("first word"))
	indexed := make(chan struct{}, 10)
	x := search.New(search.Options{Root: h.root, Sessions: h.list, Pause: func(context.Context, time.Duration) { indexed <- struct{}{} }})
	u := x.Update(slog.New(slog.DiscardHandler))
	<-indexed
	expect(t, x, search.Query{Text: "word"}, "a/1 user: first [word]")
	h.say("a", "", user("second word"))
	u.Touch("a")
	<-indexed
	u.Stop()
	expect(t, x, search.Query{Text: "word"}, "a/1 user: first [word]", "a/2 user: second [word]")
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Find(context.Background(), search.Query{Text: "word"}); !errors.Is(err, search.ErrClosed) {
		t.Errorf("got %v", err)
	}
}
