package turn_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"carrel/agent/model"
	"carrel/agent/model/fakewire"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// stormTurns is how many turns a storm has, unless CARREL_STORM_TURNS says.
const stormTurns = 30

// weather is a server that fails at random.
type weather struct {
	mu   sync.Mutex
	rand *rand.Rand
	hung chan struct{} // gets a value when a reply falls silent
}

func (w *weather) reply(r fakewire.Request) fakewire.Reply {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := fakewire.Reply{Reasoning: "hm", Text: "This is what I think of it."}
	if r.Rounds() < 3 && w.rand.IntN(2) == 0 {
		for range 1 + w.rand.IntN(3) {
			out.Calls = append(out.Calls, fakewire.Call{Name: []string{"read", "write", "none"}[w.rand.IntN(3)],
				Input: []string{`{}`, `{"a":1}`, `{oops`, ``}[w.rand.IntN(4)]})
		}
	}
	switch w.rand.IntN(18) {
	case 0:
		return fakewire.Reply{Status: 429, ErrorType: "rate_limit_error", ErrorMessage: "slow down", RetryAfter: "30"}
	case 1:
		return fakewire.Reply{Status: 529, ErrorType: "overloaded_error", ErrorMessage: "overloaded"}
	case 2:
		out.ErrorType, out.ErrorMessage = "overloaded_error", "overloaded in the middle"
	case 3, 4:
		out.CutAfterEvents = 1 + w.rand.IntN(20)
	case 5, 6:
		out.CutAfterBytes = 1 + w.rand.IntN(3000)
	case 7:
		out.Raw = []byte("data: {\"type\": oops\n\n<html>")
	case 8:
		out.Stop = model.StopLength
	case 9:
		out.Stop = model.StopFilter
	case 10, 11:
		out.Hang = []fakewire.Hang{fakewire.HangHeaders, fakewire.HangStart, fakewire.HangLine, fakewire.HangEnd}[w.rand.IntN(4)]
		select {
		case w.hung <- struct{}{}:
		default:
		}
	}
	return out
}

// sailor drives a conversation through the storm.
type sailor struct {
	*desk
	rand *rand.Rand
	hung chan struct{}
	sent []string
}

func TestAStormLosesAndDoublesNothing(t *testing.T) { // O-LLM-01, 06, 07, 08, O-DESK-04, O-DATA-01
	turns, err := strconv.Atoi(os.Getenv("CARREL_STORM_TURNS"))
	if err != nil {
		turns = stormTurns
	}
	for name, codec := range codecs {
		for seed := range uint64(2) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				w := &weather{rand: rand.New(rand.NewPCG(seed, 1)), hung: make(chan struct{}, 1)}
				server := fakewire.New(t, w.reply)
				client, err := codec(server.URL)
				if err != nil {
					t.Fatal(err)
				}
				d := &desk{t: t, dir: t.TempDir(), model: &script{}, grew: make(chan struct{})}
				d.cfg = turn.Config{Workspace: "w", Queue: &memory{}, Choice: turn.Choice{Model: "fake:one"},
					Tools: []tool.Tool{echo("write"), fakeTool{name: "read", readOnly: true, run: echo("").run}},
					Env:   func(context.Context) (tool.Env, error) { return tool.Env{}, nil },
					Resolve: func(_ context.Context, c turn.Choice) (turn.Endpoint, error) {
						return turn.Endpoint{ID: c.Model, Name: c.Model, Streamer: client, Images: true, Fallbacks: []string{"fake:two"}}, nil
					},
					System: func(context.Context) string { return "be good" }, Events: d.record}
				d.start()
				s := &sailor{desk: d, rand: rand.New(rand.NewPCG(seed, 2)), hung: w.hung}
				for n := range turns {
					s.turn(n)
				}
				s.calm()
				s.check(server, codec)
				s.stop()
			})
		}
	}
}

// turn sends a message and lets something happen to it.
func (s *sailor) turn(n int) {
	s.t.Helper()
	s.forget()
	s.say(fmt.Sprint("m", n), "")
	if s.rand.IntN(3) == 0 {
		s.say(fmt.Sprint("step", n), turn.AfterStep)
		s.say(fmt.Sprint("turn", n), turn.AfterTurn)
	}
	if s.rand.IntN(4) == 0 {
		s.some(s.rand.IntN(30))
		s.sink()
	}
	s.calm()
	switch s.rand.IntN(8) {
	case 0:
		s.restart()
	case 1:
		if err := s.Retry(context.Background()); err != nil && !errors.Is(err, turn.ErrNothing) {
			s.t.Error(err)
		}
	case 2:
		users := []transcript.Record{}
		for _, r := range s.records() {
			if r.Kind == transcript.User {
				users = append(users, r)
			}
		}
		if len(users) > 0 {
			id := fmt.Sprint("edit", n)
			s.sent = append(s.sent, id)
			s.must(s.Edit(context.Background(), users[s.rand.IntN(len(users))].Seq, turn.Message{ID: id, Text: id}))
		}
	case 3:
		s.must(s.Clear(context.Background(), s.rand.IntN(4) > 0))
	}
}

func (s *sailor) say(id string, d turn.Dispatch) {
	s.t.Helper()
	s.sent = append(s.sent, id)
	s.must(s.Send(context.Background(), turn.Message{ID: id, Text: id, Dispatch: d}))
}

// some waits for n events, or for the end of the turn.
func (s *sailor) some(n int) {
	for range n {
		s.mu.Lock()
		grew, got := s.grew, len(s.events)
		s.mu.Unlock()
		if now := s.now(); got >= n || now.Retry != nil || !now.State.Working() {
			return
		}
		select {
		case <-grew:
		case <-s.hung:
			return
		}
	}
}

// sink is a kill: the conversation goes on with what is on disk at this moment.
func (s *sailor) sink() {
	s.t.Helper()
	rows, err := s.cfg.Queue.List(context.Background())
	s.must(err)
	dir := s.t.TempDir()
	copyTree(s.t, s.dir, dir)
	s.stop()
	s.dir, s.cfg.Queue = dir, &memory{rows: rows}
	s.start()
	s.must(s.Release(context.Background()))
}

// calm waits until nothing is open, without patience for countdowns and silence.
func (s *sailor) calm() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		s.mu.Lock()
		grew := s.grew
		s.mu.Unlock()
		now := s.now()
		switch {
		case now.State == turn.Retrying, now.State == turn.Recovering:
			s.must(s.Retry(ctx))
		case now.State.Working():
		case len(now.Queue) > 0:
			s.must(s.Release(ctx))
		default:
			return
		}
		select {
		case <-grew:
		case <-s.hung:
			s.must(s.Interrupt(ctx))
		case <-ctx.Done():
			s.t.Fatalf("it does not end: %+v", now)
		}
	}
}

// check fails unless each message is in the log once, every request was legal, and the log tells all.
func (s *sailor) check(server *fakewire.Server, codec func(string) (model.Streamer, error)) {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.dir, "session", "transcript.jsonl"))
	s.must(err)
	times := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r transcript.Record
		s.must(json.Unmarshal(lines.Bytes(), &r))
		if r.MessageID != "" {
			times[r.MessageID]++
		}
	}
	for _, id := range s.sent {
		if times[id] != 1 {
			s.t.Errorf("message %s is in the log %d times", id, times[id])
		}
	}
	if st := s.log.State(); st.Damaged != 0 || st.Turn != "" {
		s.t.Errorf("%+v", st)
	}
	sent := map[string]bool{}
	for i, r := range server.Requests() {
		if err := fakewire.Validate(r); err != nil {
			s.t.Errorf("request %d: %v", i, err)
		}
		sent[string(r.Raw)] = true
	}
	again := fakewire.New(s.t, fakewire.Steps(fakewire.Reply{Text: "ok"}))
	client, err := codec(again.URL)
	s.must(err)
	n, unknown := 0, 0
	s.must(turn.Replay(s.log, func(_ uint64, r *model.Request) error {
		_, err := client.Stream(s.t.Context(), r, nil)
		n++
		if !sent[string(again.Last().Raw)] {
			unknown++ // its step was opened, and then the process was killed before it was sent
		}
		return err
	}))
	if n == 0 || unknown > n/10 {
		s.t.Errorf("the log has %d requests of which %d were not sent", n, unknown)
	}
}
