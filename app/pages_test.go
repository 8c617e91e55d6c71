package app

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// script writes conversations that no model would think of, but that a log can hold.
type script struct {
	t    *testing.T
	log  *transcript.Log
	rand *rand.Rand
	long int // how long texts become now and then
}

func (s *script) add(r transcript.Record) transcript.Record {
	s.t.Helper()
	out, err := s.log.Append(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *script) text() string {
	if s.rand.IntN(20) == 0 {
		return strings.Repeat("é😀x", s.rand.IntN(s.long)/7+1)
	}
	return strings.Repeat("word ", s.rand.IntN(4)) // sometimes none
}

func (s *script) turn(n int) {
	id := "turn" + strconv.Itoa(n)
	s.add(transcript.Record{Kind: transcript.User, Turn: id, MessageID: id, Message: &model.Message{Role: model.User,
		Parts: []model.Part{{Kind: model.Text, Text: fmt.Sprintf("message %d", n)}}}})
	s.add(transcript.Record{Kind: transcript.TurnStart, Turn: id, Model: "demo:demo"})
	for step := 1; step <= s.rand.IntN(4); step++ {
		s.step(id, step)
	}
	end := transcript.Record{Kind: transcript.TurnEnd, Turn: id, End: transcript.Done}
	if s.rand.IntN(4) == 0 {
		end.End, end.Error = transcript.Failed, "It failed."
	}
	s.add(end)
	if s.rand.IntN(5) == 0 {
		s.add(transcript.Record{Kind: transcript.Note, Note: "between turns"})
	}
}

func (s *script) step(id string, n int) {
	r := transcript.Record{Turn: id, Step: n}
	r.Kind = transcript.StepStart
	r.StepSeq = s.add(r).Seq
	msg := &model.Message{Role: model.Assistant, Model: "demo"}
	for range s.rand.IntN(5) {
		kind := []model.Kind{model.Text, model.Reasoning, model.ToolCall}[s.rand.IntN(3)]
		p := model.Part{Kind: kind}
		if kind == model.ToolCall {
			p.CallID, p.Name, p.Input = fmt.Sprintf("call%d.%d", r.StepSeq, len(msg.Parts)), "bash", `{"script":"`+s.text()+`"}`
		} else {
			p.Text = s.text()
		}
		msg.Parts = append(msg.Parts, p)
	}
	r.Message = msg
	if s.rand.IntN(3) == 0 {
		r.Kind = transcript.Partial
		s.add(r)
	}
	if s.rand.IntN(12) == 0 {
		return // cut off: the checkpoint is all there is
	}
	r.Kind = transcript.Assistant
	s.add(r)
	r.Message = nil
	for _, p := range msg.Parts {
		if p.Kind == model.ToolCall {
			s.call(r, p)
		}
	}
}

func (s *script) call(r transcript.Record, p model.Part) {
	r.CallID, r.Tool = p.CallID, p.Name
	r.Kind = transcript.ToolStart
	s.add(r)
	if s.rand.IntN(6) == 0 {
		s.add(transcript.Record{Kind: transcript.Note, Turn: r.Turn, Step: r.Step, StepSeq: r.StepSeq, Note: "while it ran"})
	}
	if s.rand.IntN(10) == 0 {
		return // no result
	}
	r.Kind = transcript.ToolEnd
	r.Result = &model.Part{Kind: model.ToolResult, CallID: p.CallID, Parts: []model.Part{{Kind: model.Text, Text: s.text()}}}
	r.Detail = &tool.Detail{DurationMS: 1}
	s.add(r)
}

// written is a session on a log that a script wrote.
func written(t *testing.T, seed uint64, turns, long int) *session {
	t.Helper()
	log, err := transcript.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	s := &script{t: t, log: log, rand: rand.New(rand.NewPCG(seed, 1)), long: long}
	for n := range turns {
		s.turn(n)
	}
	a := &App{logger: slog.New(slog.DiscardHandler), desk: map[string]*deskState{}}
	return &session{app: a, id: "w", log: log, live: newLive("w", func(Event) {}), state: turn.StateChange{State: turn.Idle}}
}

func TestPagesTogetherAreTheWholeConversation(t *testing.T) {
	for seed := range uint64(16) {
		s := written(t, seed, 20, 3*maxShown)
		records, err := s.log.Since(0)
		if err != nil {
			t.Fatal(err)
		}
		want := fold(records, maxShown, "")
		n := 1 + int(seed)%17
		c, err := s.snapshot(n)
		if err != nil {
			t.Fatal(err)
		}
		got := c.Entries
		for more := c.More; more; {
			page, err := s.page(got[0].Order, n)
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Entries) == 0 && page.More {
				t.Fatalf("seed %d: an empty page that is not the last", seed)
			}
			got, more = append(page.Entries, got...), page.More
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, pages of %d: %s", seed, n, diff)
		}
		if !slices.IsSortedFunc(got, func(a, b Entry) int { return int(a.Order) - int(b.Order) }) {
			t.Fatalf("seed %d: entries out of order", seed)
		}
	}
}

func TestAnEntryComesUncut(t *testing.T) {
	s := written(t, 7, 40, 3*maxShown)
	records, err := s.log.Since(0)
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for _, want := range fold(records, maxShownFull, "") {
		got, err := s.entry(want.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("entry %s: %s", want.ID, diff)
		}
		if len(want.Text) > maxShown {
			cut++
		}
	}
	if cut == 0 {
		t.Error("the script wrote no long text")
	}
	for _, id := range []string{"", "x", "0.0", "1.7", "999999.0", "18446744073709551615.0"} {
		if e, err := s.entry(id); err == nil {
			t.Errorf("entry %q is %+v", id, e)
		}
	}
}

func TestAPageOfLongTextsStaysSmall(t *testing.T) {
	log, err := transcript.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	long := strings.Repeat("x", maxShown)
	for range 200 {
		if _, err := log.Append(transcript.Record{Kind: transcript.User, Message: &model.Message{Parts: []model.Part{{Kind: model.Text, Text: long}}}}); err != nil {
			t.Fatal(err)
		}
	}
	s := &session{app: &App{desk: map[string]*deskState{}}, log: log, live: newLive("w", func(Event) {})}
	c, err := s.snapshot(firstPage)
	if err != nil || !c.More {
		t.Fatalf("more %v, %v", c.More, err)
	}
	if n := len(c.Entries); n < 10 || n > 2*pageBytes/maxShown {
		t.Errorf("%d entries of 64 KiB", n)
	}
}

func TestAPageAroundAnEntryAndThoseAfterItAreTheConversation(t *testing.T) {
	for seed := range uint64(8) {
		s := written(t, seed, 30, 3*maxShown)
		records, err := s.log.Since(0)
		if err != nil {
			t.Fatal(err)
		}
		all := fold(records, maxShown, "")
		for at := 0; at < len(all); at += 7 {
			n := 2 + at%19
			page, err := s.around(all[at].Order, n)
			if err != nil {
				t.Fatal(err)
			}
			start := slices.IndexFunc(all, func(e Entry) bool { return e.ID == page.Entries[0].ID })
			if !slices.ContainsFunc(page.Entries, func(e Entry) bool { return e.ID == all[at].ID }) || page.More != (start > 0) {
				t.Fatalf("seed %d, entry %d: %d entries from %d, more %v", seed, at, len(page.Entries), start, page.More)
			}
			got := page.Entries
			for newer := page.Newer; newer; {
				next, err := s.after(got[len(got)-1].Order, n)
				if err != nil {
					t.Fatal(err)
				}
				if len(next.Entries) == 0 && next.Newer {
					t.Fatalf("seed %d, entry %d: an empty page that is not the last", seed, at)
				}
				got, newer = append(got, next.Entries...), next.Newer
			}
			if diff := cmp.Diff(all[start:], got); diff != "" {
				t.Fatalf("seed %d, entry %d, pages of %d: %s", seed, at, n, diff)
			}
		}
	}
}
