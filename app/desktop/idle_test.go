//go:build linux && desktop && window

package desktop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"carrel/agent/model"
	"carrel/agent/transcript"
	"carrel/app"
)

// idleVar is how long the test of the idle window leaves it alone, such as 10m.
const idleVar = "CARREL_TEST_IDLE"

// longTalk makes a workspace with a conversation of so many messages that nobody has opened yet.
func (s *stage) longTalk(title string, messages int) app.Workspace {
	s.t.Helper()
	p := call1[app.Project](s, "projects.add", app.AddProject{Path: repository(s.t, "long")})
	w := call1[app.Workspace](s, "workspaces.create", app.NewWorkspace{ProjectID: p.ID, Title: title})
	dir, err := s.root.SessionDir(w.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	log, err := transcript.Open(dir)
	if err != nil {
		s.t.Fatal(err)
	}
	add := func(r transcript.Record) uint64 {
		r, err := log.Append(r)
		if err != nil {
			s.t.Fatal(err)
		}
		return r.Seq
	}
	say := func(role model.Role, n int) *model.Message {
		text := fmt.Sprintf("Message %d. %s", n, strings.Repeat("Some words of a long talk. ", 20))
		return &model.Message{Role: role, Parts: []model.Part{{Kind: model.Text, Text: text}}}
	}
	for n := 0; n < messages; n += 2 {
		turn := fmt.Sprint("turn-", n)
		add(transcript.Record{Kind: transcript.User, Turn: turn, Message: say(model.User, n)})
		add(transcript.Record{Kind: transcript.TurnStart, Turn: turn})
		step := add(transcript.Record{Kind: transcript.StepStart, Turn: turn, Step: 1})
		add(transcript.Record{Kind: transcript.Assistant, Turn: turn, Step: 1, StepSeq: step, Message: say(model.Assistant, n+1)})
		add(transcript.Record{Kind: transcript.TurnEnd, Turn: turn, End: transcript.Done})
	}
	if err := log.Close(); err != nil {
		s.t.Fatal(err)
	}
	return w
}

// signals tells what a process does with signals: those it blocks, ignores and catches.
func signals(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "SigIgn:") || strings.HasPrefix(line, "SigCgt:") {
			out = append(out, line)
		}
	}
	return strings.Join(out, " ")
}

// answers waits until the page answers, and logs how long that took.
func (s *stage) answers(after string) {
	s.t.Helper()
	began := time.Now()
	eventually(s.t, "the page answers after "+after, func() bool { return s.ask("6 * 7") == "42" })
	s.t.Logf("%4d ms until the page answered after %s", time.Since(began).Milliseconds(), after)
}

// O-DESK-10
func TestIdleWindowAnswersWhateverHappensToIt(t *testing.T) {
	s := newStage(t)
	s.open()
	s.longTalk("A long talk", 2000)
	s.show("A long talk")
	s.click("A long talk")
	s.show("Message 1999.")
	before := signals(t, s.window.Process.Pid)
	idle, _ := time.ParseDuration(os.Getenv(idleVar))
	rest := func() {
		select { // there is nothing to wait for but the time
		case <-time.After(idle):
		case <-s.ended:
			t.Fatalf("the window ended: %s", s.stderr)
		}
	}
	rest()
	s.answers("idling")
	id := s.id()
	s.xdotool("windowminimize", "--sync", id)
	s.answers("hiding")
	s.xdotool("windowactivate", "--sync", id)
	s.answers("showing")
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		_, err := inspect(ctx, s.inspector, "Heap.gc", nil)
		cancel()
		if err != nil {
			t.Fatalf("collect the garbage: %v", err)
		}
		s.answers("collecting garbage")
	}
	rest()
	s.answers("idling again")
	if after := signals(t, s.window.Process.Pid); after != before {
		t.Errorf("the window's signals were %s, and are %s", before, after)
	}
}
