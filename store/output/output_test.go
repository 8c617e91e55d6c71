package output_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/slogtest"
	"unicode/utf8"

	"carrel/store/output"
)

func TestTheNewestLinesAreKept(t *testing.T) {
	b := output.New()
	log := slog.New(b.Handler(slog.DiscardHandler))
	for i := range output.MaxLines + 5 {
		log.Info(fmt.Sprint(i))
	}
	lines := b.Since(0)
	if len(lines) != output.MaxLines || lines[0].Text != "5" || lines[len(lines)-1].Seq != output.MaxLines+5 {
		t.Errorf("%d lines, from %+v", len(lines), lines[0])
	}
	if got := b.Since(output.MaxLines + 4); len(got) != 1 {
		t.Errorf("after the last but one: %d lines", len(got))
	}
	b.Clear()
	log.Info("after")
	if got := b.Since(0); len(got) != 1 || got[0].Seq != output.MaxLines+6 {
		t.Errorf("after Clear: %+v", got)
	}
}

func TestALineIsOneLineOfBoundedText(t *testing.T) {
	b := output.New()
	log := slog.New(b.Handler(slog.DiscardHandler)).With("workspace", "w1").WithGroup("git")
	log.Warn("two\nlines \x1b[31m and \u202e turned", "err", strings.Repeat("é", output.MaxLine), "bad", "\xff")
	l := b.Since(0)[0]
	if l.Text != "two lines  [31m and   turned" || l.Level != slog.LevelWarn {
		t.Errorf("%+q at %v", l.Text, l.Level)
	}
	if !strings.HasPrefix(l.Attrs, "workspace=w1 git.err=é") || len(l.Attrs) > output.MaxLine+len("…") || !utf8.ValidString(l.Attrs) {
		t.Errorf("%d bytes: %.60q", len(l.Attrs), l.Attrs)
	}
}

func TestTheNextHandlerGetsWhatItTakes(t *testing.T) {
	var file strings.Builder
	b := output.New()
	told := 0
	b.OnLine(func() { told++ })
	log := slog.New(b.Handler(slog.NewTextHandler(&file, nil))).With("a", 1)
	log.Debug("small")
	log.Info("large")
	if got := file.String(); strings.Contains(got, "small") || !strings.Contains(got, "msg=large a=1") {
		t.Errorf("the file has %q", got)
	}
	if got := b.Since(0); len(got) != 2 || got[0].Text != "small" || told != 2 {
		t.Errorf("the book has %+v, told %d times", got, told)
	}
}

func TestManyMayLogAtOnce(t *testing.T) {
	b := output.New()
	log := slog.New(b.Handler(slog.DiscardHandler))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			mine := log.With("who", i)
			for range 100 {
				mine.Info("said", "again", i)
			}
		})
	}
	all.Wait()
	lines := b.Since(0)
	if len(lines) != 800 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, l := range lines {
		var who, again int
		if _, err := fmt.Sscanf(l.Attrs, "who=%d again=%d", &who, &again); err != nil || who != again || l.Seq != uint64(i+1) {
			t.Fatalf("line %d is mixed up: %+v", i, l)
		}
	}
}

func TestItIsAHandlerLikeAnyOther(t *testing.T) {
	var b *output.Book
	slogtest.Run(t, func(*testing.T) slog.Handler {
		b = output.New()
		return b.Handler(slog.DiscardHandler)
	}, func(t *testing.T) map[string]any {
		l := b.Since(0)[0]
		out := map[string]any{slog.LevelKey: l.Level, slog.MessageKey: l.Text}
		if !l.Time.IsZero() {
			out[slog.TimeKey] = l.Time
		}
		for pair := range strings.FieldsSeq(l.Attrs) {
			key, value, _ := strings.Cut(pair, "=")
			m := out
			path := strings.Split(key, ".")
			for _, group := range path[:len(path)-1] {
				next, ok := m[group].(map[string]any)
				if !ok {
					next = map[string]any{}
					m[group] = next
				}
				m = next
			}
			m[path[len(path)-1]] = value
		}
		return out
	})
}
