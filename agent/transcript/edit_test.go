package transcript_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"carrel/agent/model"
	"carrel/agent/transcript"
)

// soup appends records of every kind in any order.
type soup struct {
	t    *testing.T
	l    *transcript.Log
	rnd  *rand.Rand
	step uint64
	said int
}

func (s *soup) add() transcript.Record {
	turn := fmt.Sprint("t", s.rnd.IntN(3))
	call := fmt.Sprint("c", s.rnd.IntN(3))
	r := transcript.Record{Turn: turn, StepSeq: s.step, Step: 1}
	s.said++
	text := fmt.Sprint("words ", s.said)
	kinds := []transcript.Kind{transcript.User, transcript.TurnStart, transcript.TurnEnd, transcript.StepStart, transcript.StepStart,
		transcript.Partial, transcript.Partial, transcript.Partial, transcript.Assistant, transcript.Assistant, transcript.ToolStart,
		transcript.ToolEnd, transcript.Note, transcript.Todos, transcript.Setup, transcript.Edit, transcript.Boundary, transcript.Retry,
		transcript.Question, transcript.Answer}
	switch r.Kind = kinds[s.rnd.IntN(len(kinds))]; r.Kind {
	case transcript.User:
		r.Message = say(model.User, text)
		if s.rnd.IntN(4) == 0 {
			r.From = s.shown()
		}
	case transcript.TurnStart:
		r.Model = "m:" + text
	case transcript.TurnEnd:
		r.End = transcript.Done
	case transcript.Partial:
		r.Message = say(model.Assistant, strings.Repeat("w", s.rnd.IntN(9)+1))
		r.Message.Parts = append(r.Message.Parts, model.Part{Kind: model.ToolCall, CallID: call, Input: "{}"})
	case transcript.Assistant:
		r.Message = say(model.Assistant, text)
		r.Message.Usage.Input = int64(s.said)
		r.Message.Parts = append(r.Message.Parts, model.Part{Kind: model.ToolCall, CallID: call, Input: "{}"})
		r.Cost, r.CostKnown = 5, true
	case transcript.ToolStart:
		r.CallID = call
	case transcript.Question:
		r.CallID, r.Asked = call, &transcript.Asked{Reason: text}
	case transcript.Answer:
		r.CallID, r.Reply = call, &transcript.Reply{Choice: transcript.Once}
	case transcript.ToolEnd:
		r.CallID, r.Result = call, &model.Part{Kind: model.ToolResult, CallID: call}
	case transcript.Setup:
		r.Frame = &transcript.Frame{Name: text}
	case transcript.Edit:
		if r.From = s.shown(); r.From == 0 {
			r.Kind = transcript.Note
		}
	case transcript.Boundary:
		r.Border = []transcript.Border{transcript.Clear, transcript.Reset, transcript.Fork, transcript.Compaction, "newer"}[s.rnd.IntN(5)]
	case transcript.StepStart, transcript.Note, transcript.Todos, transcript.Retry:
	}
	out := add(s.t, s.l, r)
	if slices.Contains([]transcript.Kind{transcript.User, transcript.TurnStart, transcript.TurnEnd, transcript.StepStart}, out.Kind) {
		s.step = out.Seq
	}
	return out
}

// shown gives the seq of a record that pages show, mostly a young one.
func (s *soup) shown() uint64 {
	recs, _, err := s.l.Before(0, 1+s.rnd.IntN(1+s.rnd.IntN(40)))
	if err != nil {
		s.t.Fatal(err)
	}
	if len(recs) == 0 {
		return 0
	}
	return recs[0].Seq
}

// withoutLeft gives the lines of a log that no Edit left, each as it is.
func withoutLeft(t *testing.T, log string) string {
	t.Helper()
	type line struct {
		text string
		rec  transcript.Record
		head uint64 // seq of the first of the checkpoints that it belongs to
	}
	var live []line
	for _, text := range strings.SplitAfter(log, "\n") {
		if text == "" {
			continue
		}
		var r transcript.Record
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		now := line{text: text, rec: r, head: r.Seq}
		if r.From > 0 {
			newest := map[uint64]uint64{} // checkpoints go with what they became
			for _, l := range live {
				newest[l.head] = l.rec.Seq
			}
			live = slices.DeleteFunc(live, func(l line) bool { return newest[l.head] >= r.From })
		}
		if r.Kind == transcript.Partial || r.Kind == transcript.Assistant {
			for n := len(live) - 1; n >= 0; n-- {
				k := live[n].rec.Kind
				if k == transcript.Partial {
					if live[n].rec.StepSeq == r.StepSeq {
						now.head = live[n].head
					}
					break
				}
				if k == transcript.User || k == transcript.TurnStart || k == transcript.TurnEnd || k == transcript.StepStart || k == transcript.Assistant {
					break
				}
			}
		}
		live = append(live, now)
	}
	var b strings.Builder
	for _, l := range live {
		b.WriteString(l.text)
	}
	return b.String()
}

// look is what a log shows.
type look struct {
	Pages   []transcript.Record
	History []model.Message
	State   transcript.State
}

func lookAt(t *testing.T, l *transcript.Log) look {
	t.Helper()
	recs, _, err := l.Before(0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	since, err := l.Since(0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(recs, since); diff != "" {
		t.Error(diff)
	}
	return look{recs, history(t, l), l.State()}
}

// notTakenBack are the fields of State that an Edit leaves as they are.
var notTakenBack = cmpopts.IgnoreFields(transcript.State{}, "Usage", "Cost", "MessageIDs")

func TestAnEditLeavesTheLogAsIfItsRecordsHadNeverBeen(t *testing.T) {
	for seed := range uint64(12) {
		dir := t.TempDir()
		s := &soup{t: t, l: open(t, dir), rnd: rand.New(rand.NewPCG(seed, 0))}
		cost := int64(0)
		for n := range 120 {
			if r := s.add(); r.Kind == transcript.Assistant {
				cost += r.Cost
			}
			if s.rnd.IntN(20) == 0 {
				s.l.Forget()
			}
			if s.rnd.IntN(10) == 0 { // with what was saved, or without
				if err := s.l.Close(); err != nil {
					t.Fatal(err)
				}
				if s.rnd.IntN(2) == 0 {
					_ = os.Remove(filepath.Join(dir, []string{"index", "fold"}[s.rnd.IntN(2)]))
				}
				s.l = open(t, dir)
			}
			if n%7 != 0 {
				continue
			}
			bare := t.TempDir()
			writeLog(t, bare, withoutLeft(t, readLog(t, dir)))
			want := lookAt(t, open(t, bare))
			if diff := cmp.Diff(want, lookAt(t, s.l), notTakenBack); diff != "" {
				t.Fatalf("seed %d, record %d: %s\n%s", seed, n, diff, readLog(t, dir))
			}
		}
		if got := s.l.State().Cost; got != cost {
			t.Errorf("cost %d, want %d", got, cost)
		}
	}
}
