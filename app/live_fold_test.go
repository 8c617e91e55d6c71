package app

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// screen is what a host makes of events that reach it as JSON.
type screen struct {
	t       *testing.T
	entries map[string]Entry
	rev     uint64
}

func (s *screen) take(e Event) {
	text, err := json.Marshal(e)
	if err != nil {
		s.t.Error(err)
	}
	switch e := e.(type) {
	case EntryChanged:
		s.check(json.Unmarshal(text, &e), e.Rev)
		s.entries[e.Entry.ID] = e.Entry
	case EntryGrew:
		var got EntryGrew
		s.check(json.Unmarshal(text, &got), e.Rev)
		entry := s.entries[got.Entry]
		field := &entry.Text
		if got.Field == "input" {
			field = &entry.Tool.Input
		} else if got.Field == "output" {
			field = &entry.Tool.Output
		}
		if have := len(utf16.Encode([]rune(*field))); have != got.At {
			s.t.Errorf("entry %s has %d units of %s and grew at %d", got.Entry, have, got.Field, got.At)
		}
		*field += got.Text
		s.entries[got.Entry] = entry
	case EntriesRemoved:
		s.check(nil, e.Rev)
		for _, id := range e.IDs {
			delete(s.entries, id)
		}
	}
}

func (s *screen) check(err error, rev uint64) {
	if err != nil || rev != s.rev+1 {
		s.t.Errorf("revision %d after %d, %v", rev, s.rev, err)
	}
	s.rev = rev
}

func (s *screen) shows(want []Entry) {
	s.t.Helper()
	var got []Entry
	for _, e := range s.entries {
		got = append(got, e)
	}
	slices.SortFunc(got, func(a, b Entry) int { return int(a.Order) - int(b.Order) })
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("the host shows something else: %s", diff)
	}
}

func newScreen(t *testing.T) (*screen, *live) {
	s := &screen{t: t, entries: map[string]Entry{}}
	l := newLive("w", func(e Event) { s.take(e) })
	t.Cleanup(l.close)
	return s, l
}

// streamed plays a response as a streamer does, in pieces of bytes that do not care for characters.
func streamed(l *live, seq uint64, parts []model.Part, r *rand.Rand) {
	tell := func(e model.Event) {
		l.stream(&turn.Stream{Turn: "t", Step: 1, StepSeq: seq, Event: e, Part: parts[e.Index]})
	}
	for i, p := range parts {
		tell(model.Event{Type: model.PartStart, Index: i, Kind: p.Kind})
		for rest := p.Text + p.Input; rest != ""; {
			n := min(len(rest), 1+r.IntN(5000))
			tell(model.Event{Type: model.PartDelta, Index: i, Kind: p.Kind, Delta: rest[:n]})
			rest = rest[n:]
		}
		tell(model.Event{Type: model.PartEnd, Index: i, Kind: p.Kind})
	}
}

func TestWhatWasStreamedIsWhatIsReadBack(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		s, l := newScreen(t)
		parts := []model.Part{
			{Kind: model.Reasoning}, // kept secret by its provider
			{Kind: model.Text, Text: strings.Repeat("é😀 ", r.IntN(20_000))},
			{Kind: model.Text},
			{Kind: model.ToolCall, CallID: "c", Name: "bash", Input: `{"script":"` + strings.Repeat("日本", r.IntN(20_000)) + `"}`},
		}
		step := transcript.Record{Seq: 5, Kind: transcript.StepStart, Turn: "t", Step: 1}
		l.record(&step)
		streamed(l, 5, parts, r)
		whole := transcript.Record{Seq: 9, Kind: transcript.Assistant, Turn: "t", Step: 1, StepSeq: 5, Message: &model.Message{Parts: parts}}
		l.record(&whole)
		s.shows(fold([]transcript.Record{step, whole}, maxShown, "t"))
	}
}

func TestALongTextIsCutTheSameWhileItStreams(t *testing.T) {
	for _, length := range []int{maxShown - 1, maxShown, maxShown + 1, maxShown + 3, 2 * maxShown} {
		s, l := newScreen(t)
		l.record(&transcript.Record{Seq: 5, Kind: transcript.StepStart, Turn: "t"})
		text := strings.Repeat("😀", length/4+1)[:length] // its last character may be cut
		text = strings.ToValidUTF8(text, "?")
		for rest := text; rest != ""; {
			n := runeStart(rest+"|", min(len(rest), 4096))
			l.stream(&turn.Stream{Turn: "t", StepSeq: 5, Event: model.Event{Type: model.PartDelta, Kind: model.Text, Delta: rest[:n]}})
			rest = rest[n:]
		}
		l.mu.Lock()
		l.flush()
		l.mu.Unlock()
		if got := s.entries["5.0"].Text; got != cutText(text, maxShown) {
			t.Errorf("length %d: the host shows %d bytes, want %d", length, len(got), len(cutText(text, maxShown)))
		}
	}
}

func TestAResponseThatIsDroppedGoesBackToWhatTheLogKeeps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	parts := []model.Part{{Kind: model.Text, Text: "Hello"}, {Kind: model.ToolCall, CallID: "c", Name: "bash", Input: "{"}}
	step := transcript.Record{Seq: 5, Kind: transcript.StepStart, Turn: "t"}
	kept := transcript.Record{Seq: 6, Kind: transcript.Partial, Turn: "t", StepSeq: 5,
		Message: &model.Message{Parts: []model.Part{{Kind: model.Text, Text: "Hel"}}}}
	s, l := newScreen(t)
	l.record(&step)
	streamed(l, 5, parts, r)
	l.dropped(&kept)
	s.shows(fold([]transcript.Record{step, kept}, maxShown, "t"))

	s, l = newScreen(t)
	l.record(&step)
	streamed(l, 5, parts, r)
	l.dropped(nil)
	s.shows(nil)
}

func TestOutputThatNeverEndsIsToldInFewEvents(t *testing.T) {
	s, l := newScreen(t)
	l.record(&transcript.Record{Seq: 5, Kind: transcript.StepStart, Turn: "t"})
	l.record(&transcript.Record{Seq: 6, Kind: transcript.Assistant, Turn: "t", StepSeq: 5,
		Message: &model.Message{Parts: []model.Part{{Kind: model.ToolCall, CallID: "c", Name: "bash", Input: "{}"}}}})
	l.record(&transcript.Record{Seq: 7, Kind: transcript.ToolStart, Turn: "t", StepSeq: 5, CallID: "c"})
	before := s.rev
	const chunks = 20_000
	for i := range chunks {
		l.progress(&turn.Progress{CallID: "c", StepSeq: 5, Chunk: fmt.Sprintf("%06d %s\n", i, strings.Repeat("😀", 40))})
	}
	l.mu.Lock()
	l.flush()
	l.mu.Unlock()
	out := s.entries["5.0"].Tool.Output
	if !strings.HasSuffix(out, "\n") || !strings.Contains(out, fmt.Sprintf("%06d ", chunks-1)) || len(out) > maxLiveOutput {
		t.Errorf("the host shows %d bytes that end with %q", len(out), tail(out, 40))
	}
	if n := s.rev - before; n > chunks/20 {
		t.Errorf("%d chunks made %d events", chunks, n)
	}
}

func TestCutTextKeepsCharactersWhole(t *testing.T) {
	text := "aé😀b"
	for n := range len(text) {
		got, ok := strings.CutSuffix(cutText(text, n), CutNote)
		if !ok || len(got) > n || !strings.HasPrefix(text, got) || got != strings.ToValidUTF8(got, "") {
			t.Errorf("cut to %d: %q", n, got)
		}
	}
	if got := cutText(text, len(text)); got != text {
		t.Errorf("what fits became %q", got)
	}
}

func TestACallWhoseResponseBrokeOffEndsWithItsTurn(t *testing.T) {
	s := &screen{t: t, entries: map[string]Entry{}}
	l := newLive("desk", s.take)
	l.record(&transcript.Record{Seq: 3, Kind: transcript.StepStart, Turn: "t", StepSeq: 3})
	l.stream(&turn.Stream{Turn: "t", Step: 1, StepSeq: 3, Event: model.Event{Type: model.PartStart, Kind: model.ToolCall},
		Part: model.Part{Kind: model.ToolCall, CallID: "c", Name: "bash", Open: true}})
	l.record(&transcript.Record{Seq: 4, Kind: transcript.TurnEnd, Turn: "t", End: transcript.Failed, Error: "It broke off."})
	if got := s.entries[entryID(3, 0)]; got.Live || got.Tool == nil || got.Tool.Status != ToolInterrupted {
		t.Errorf("the call is %+v, want an interrupted one", got)
	}
}
