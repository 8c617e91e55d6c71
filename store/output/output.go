// Package output keeps what a process logged lately, for a person to read while it goes on.
//
// It promises: at most MaxLines lines of at most MaxLine bytes are kept, the newest; a log line costs the
// one who logs no more than its own formatting, whoever reads; lines are text that a view can show as it
// is, without control characters.
package output

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// The most that is kept.
const (
	MaxLines = 2000
	MaxLine  = 4 << 10 // bytes, of a line's message and attributes each
)

// Line is one entry of the log.
type Line struct {
	Seq   uint64 // grows with each line; the first is 1
	Time  time.Time
	Level slog.Level
	Text  string // the message
	Attrs string // the attributes, as key=value
}

// Book keeps the newest lines.
type Book struct {
	mu    sync.Mutex
	buf   bytes.Buffer // what the handler under way writes
	lines []Line       // the newest last
	seq   uint64
	told  func()
}

// New makes an empty book.
func New() *Book { return &Book{} }

// OnLine has f called after each line; f must not block, and not log.
func (b *Book) OnLine(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = f
}

// Handler keeps every line, from debug on, and passes on to next what next takes.
func (b *Book) Handler(next slog.Handler) slog.Handler {
	return handler{book: b, next: next, attrs: slog.NewTextHandler(&b.buf, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: onlyAttrs})}
}

// onlyAttrs leaves out what a Line has fields for.
func onlyAttrs(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
		return slog.Attr{}
	}
	return a
}

// Since gives the lines after seq that are still kept, the oldest first.
func (b *Book) Since(seq uint64) []Line {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.lines)
	for n > 0 && b.lines[n-1].Seq > seq {
		n--
	}
	return append([]Line(nil), b.lines[n:]...)
}

// Clear forgets the lines.
func (b *Book) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = nil
}

func (b *Book) add(ctx context.Context, attrs slog.Handler, r slog.Record) error {
	b.mu.Lock()
	b.buf.Reset()
	err := attrs.Handle(ctx, r)
	b.seq++
	b.lines = append(b.lines, Line{Seq: b.seq, Time: r.Time, Level: r.Level, Text: plain(r.Message), Attrs: plain(b.buf.String())})
	if b.buf.Cap() > 16*MaxLine {
		b.buf = bytes.Buffer{} // the handlers write to the field, not to what it held
	}
	if extra := len(b.lines) - MaxLines; extra > 0 {
		b.lines = append(b.lines[:0], b.lines[extra:]...)
	}
	told := b.told
	b.mu.Unlock()
	if told != nil {
		told()
	}
	return err
}

// plain is text in one line, cut at MaxLine bytes, with what would move a cursor or turn the order of
// letters around replaced.
func plain(s string) string {
	s = strings.TrimRight(s, "\n")
	cut := len(s) > MaxLine
	if cut {
		s = s[:MaxLine]
		for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
		if len(s) > 0 && s[len(s)-1] >= utf8.RuneSelf {
			s = s[:len(s)-1] // the first byte of a character that was cut
		}
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if cut {
		s += "…"
	}
	return s
}

// handler is one logger's way into the book.
type handler struct {
	book  *Book
	next  slog.Handler
	attrs slog.Handler // formats the attributes into the book's buffer
}

// Enabled implements slog.Handler: the book takes all from debug on.
func (h handler) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelDebug }

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	err := h.book.add(ctx, h.attrs, r)
	if h.next.Enabled(ctx, r.Level) {
		return h.next.Handle(ctx, r)
	}
	return err
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{book: h.book, next: h.next.WithAttrs(attrs), attrs: h.attrs.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{book: h.book, next: h.next.WithGroup(name), attrs: h.attrs.WithGroup(name)}
}
