package turn_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/permission"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// childAsks makes the test binary a core whose call waits for a person; it says so and waits to be killed.
const childAsks = "TURN_TEST_ASKS"

// careful judges the tool "write" as one to ask about, with more to say in reason.
func careful(reason string) func(context.Context, permission.Request) permission.Verdict {
	return func(_ context.Context, r permission.Request) permission.Verdict {
		if r.Tool != "write" {
			return permission.Verdict{Decision: permission.Allow}
		}
		return permission.Verdict{Decision: permission.Ask, Reason: reason,
			Rights: []permission.Right{{Kind: permission.RightCommand, What: "make", Rule: "Bash(make)"}}}
	}
}

func writers(dir string) []tool.Tool {
	return []tool.Tool{effect(dir, false, "free"), effect(dir, false, "write"), effect(dir, true, "read")}
}

// askAndWait is the child: one call ran, one reads for ever, one waits for a person, one comes after it.
func askAndWait(dir string) {
	d := deskIn(died{}, dir)
	d.stop()
	reads := fakeTool{name: "endless", readOnly: true, run: func(context.Context, tool.Call) tool.Result { select {} }}
	d.cfg.Tools, d.cfg.Judge = append(writers(dir), reads), careful("It is new.")
	d.start()
	d.model.then(calls(use("f", "free", "{}"), use("r", "endless", "{}"), use("w", "write", "{}"), use("l", "read", "{}")))
	d.post("1", "go")
	d.asked("w")
	_, _ = os.Stdout.WriteString("asked\n")
	select {}
}

// killedAsking is a conversation whose core was killed while a call waited.
func killedAsking(t *testing.T, unattended bool) (d *desk, dir string) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childAsks+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	asked := lines.Scan() && lines.Text() == "asked"
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !asked {
		t.Fatal("the child did not ask")
	}
	return reopened(t, dir, careful("It is new."), unattended), dir
}

// reopened starts a conversation once, with a judge.
func reopened(t *testing.T, dir string, judge func(context.Context, permission.Request) permission.Verdict, unattended bool) *desk {
	t.Helper()
	d := &desk{t: t, dir: dir, model: &script{}, grew: make(chan struct{})}
	root, db := openRegistry(t, dir)
	d.cfg = turn.Config{
		Workspace: "w", Queue: turn.NewQueue(db, "w"), Tools: writers(dir), Choice: turn.Choice{Model: "fake:one"},
		Env:     func(context.Context) (tool.Env, error) { return tool.Env{}, nil },
		Resolve: func(_ context.Context, c turn.Choice) (turn.Endpoint, error) { return d.endpoint(c), nil },
		Events:  d.record, Judge: judge, Unattended: unattended, AutoRetry: func() bool { return false },
	}
	d.start()
	t.Cleanup(func() {
		d.stop()
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func ran(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "effects"))
	if err != nil {
		t.Error(err)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

func TestAKilledCoresQuestionWaitsOnAndItsAnswerRunsTheCall(t *testing.T) { // O-LLM-01
	d, dir := killedAsking(t, false)
	s := d.now()
	if s.State != turn.WaitingForUser || s.Question == nil || s.Question.CallID != "w" || s.Question.Part != 2 || s.Question.Reason != "It is new." || s.Turn == "" && d.log.State().Turn == "" {
		t.Fatalf("%+v", s)
	}
	if got := ran(t, dir); got != "f" {
		t.Errorf("ran before the answer: %s", got)
	}
	d.reply("w", transcript.Reply{Choice: transcript.Once})
	d.wait("the end", idle)
	if got := ran(t, dir); got != "f w l" {
		t.Errorf("ran: %s", got)
	}
	got := d.results()
	if got["f"] != "ran f" || got["w"] != "ran w" || got["l"] != "ran l" || !strings.Contains(got["r"], transcript.UnknownEffects) {
		t.Errorf("%v", got)
	}
	story := strings.Join(d.story(), ", ")
	if !strings.HasSuffix(story, "question, tool_end r, answer, tool_start w, tool_end w, tool_start l, tool_end l, step_start, assistant done, turn_end done") {
		t.Error(story)
	}
	reqs := d.model.seen()
	if len(reqs) != 1 {
		t.Fatalf("%d requests", len(reqs))
	}
	checkPaired(t, reqs[0], "f", "r", "w", "l")
}

func TestAKilledCoresQuestionCanBeRefused(t *testing.T) {
	d, dir := killedAsking(t, false)
	d.reply("w", transcript.Reply{Choice: transcript.No, Text: "leave it"})
	d.wait("the end", idle)
	if got := d.results()["w"]; !strings.Contains(got, "leave it") || ran(t, dir) != "f l" {
		t.Errorf("%q, ran %s", got, ran(t, dir))
	}
}

func TestAQuestionOutlivesManyRestarts(t *testing.T) {
	leaks(t)
	d, dir := killedAsking(t, false)
	for range 3 { // closed in an orderly way
		d.restart()
		if s := d.now(); s.State != turn.WaitingForUser || s.Question == nil {
			t.Fatalf("%+v", s.StateChange)
		}
		d.post("", "meanwhile")
	}
	if st := d.log.State(); st.Question == nil || st.Turn == "" {
		t.Errorf("%+v", st)
	}
	d.reply("w", transcript.Reply{Choice: transcript.Once})
	d.wait("the end", func(e turn.Event) bool { return idle(e) && len(e.State.Queue) == 0 })
	if got := ran(t, dir); got != "f w l" {
		t.Errorf("ran: %s", got)
	}
	if n := strings.Count(strings.Join(d.story(), ", "), "question"); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestAnInterruptEndsAQuestionFromBeforeARestart(t *testing.T) {
	d, dir := killedAsking(t, false)
	for d.now().Turn == "" { // the turn goes on as soon as the conversation has started
	}
	d.interrupt()
	if got := d.results(); !strings.Contains(got["w"], transcript.NotAnswered) || !strings.Contains(got["l"], transcript.NotStarted) || ran(t, dir) != "f" {
		t.Errorf("%v", got)
	}
	if err := d.Answer(context.Background(), "w", transcript.Reply{Choice: transcript.Once}); !errors.Is(err, turn.ErrNoQuestion) {
		t.Error(err)
	}
	d.ask("go on", turn.Idle)
}

func TestWhereNobodyIsThereAQuestionFromBeforeIsClosedAsNotRun(t *testing.T) {
	d, dir := killedAsking(t, true)
	if s := d.now(); s.State != turn.Interrupted || s.Question != nil {
		t.Errorf("%+v", s.StateChange)
	}
	if got := d.results(); !strings.Contains(got["w"], transcript.NotAnswered) || !strings.Contains(got["r"], transcript.UnknownEffects) || ran(t, dir) != "f" {
		t.Errorf("%v", got)
	}
	d.ask("go on", turn.Idle)
}

// What is allowed or denied may have changed while no core ran.
func TestAQuestionFromBeforeARestartIsJudgedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		now  permission.Verdict
		want string
	}{
		"denied by now":    {permission.Verdict{Decision: permission.Deny, Reason: "A rule says so."}, "f l"},
		"asked for more":   {careful("It is worse.")(context.Background(), permission.Request{Tool: "write"}), "f w l"},
		"allowed by now":   {permission.Verdict{Decision: permission.Allow}, "f w l"},
		"the same as then": {careful("It is new.")(context.Background(), permission.Request{Tool: "write"}), "f w l"},
	} {
		t.Run(name, func(t *testing.T) {
			d, dir := killedAsking(t, false)
			d.stop()
			d.forget()
			d.cfg.Judge = func(_ context.Context, r permission.Request) permission.Verdict {
				if r.Tool == "write" {
					return c.now
				}
				return permission.Verdict{Decision: permission.Allow}
			}
			d.start()
			switch name {
			case "denied by now":
				d.wait("the end", idle)
			case "asked for more":
				d.wait("the new question", func(e turn.Event) bool {
					return e.State != nil && e.State.Question != nil && e.State.Question.Reason == "It is worse."
				})
				d.reply("w", transcript.Reply{Choice: transcript.Once})
			default:
				if s := d.now(); s.State != turn.WaitingForUser {
					t.Errorf("%s", s.State)
				}
				d.reply("w", transcript.Reply{Choice: transcript.Once})
			}
			d.wait("the end", idle)
			if got := ran(t, dir); got != c.want {
				t.Errorf("ran: %s", got)
			}
		})
	}
}

// Whatever record of the answered call a kill comes after, nothing runs twice and nothing runs that was
// not allowed.
func TestKillsAroundTheAnswerRunNothingTwice(t *testing.T) {
	for _, kind := range []transcript.Kind{transcript.Question, transcript.Answer, transcript.ToolStart} {
		d := judging(t, echo("ask"))
		killed := d.killedAt(kind)
		d.model.then(calls(use("a", "ask", "{}")))
		d.post("1", "go")
		d.asked("a")
		d.reply("a", transcript.Reply{Choice: transcript.Once})
		d.wait("the end", idle)
		killed.cfg = d.cfg
		killed.cfg.Events, killed.cfg.Queue = killed.record, &memory{}
		killed.start()
		t.Cleanup(killed.stop)
		want := map[transcript.Kind]turn.State{transcript.Question: turn.WaitingForUser, transcript.Answer: turn.Interrupted, transcript.ToolStart: turn.Interrupted}[kind]
		if s := killed.now(); s.State != want {
			t.Errorf("killed at %s: %s", kind, s.State)
		}
		if kind == transcript.Question {
			killed.reply("a", transcript.Reply{Choice: transcript.Once})
			killed.wait("the end", idle)
			if diff := cmp.Diff(map[string]string{"a": "{}"}, killed.results()); diff != "" {
				t.Error(diff)
			}
		} else if slices.Contains(killed.story(), "tool_start a") != (kind == transcript.ToolStart) {
			t.Errorf("killed at %s: %v", kind, killed.story())
		}
	}
}
