package turn_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/permission"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// judging makes a conversation whose calls are judged by their tool's name: ask, no, or any other.
func judging(t *testing.T, tools ...tool.Tool) *desk {
	t.Helper()
	d := newDesk(t, tools...)
	d.stop()
	d.cfg.Judge = func(_ context.Context, r permission.Request) permission.Verdict {
		switch {
		case strings.HasPrefix(r.Tool, "ask"):
			return permission.Verdict{Decision: permission.Ask, Reason: "It is new.",
				Rights: []permission.Right{{Kind: permission.RightCommand, What: "make", Rule: "Bash(make)"}}}
		case strings.HasPrefix(r.Tool, "no"):
			return permission.Verdict{Decision: permission.Deny, Reason: "A rule says so.", Hint: "Leave it."}
		}
		return permission.Verdict{Decision: permission.Allow}
	}
	d.start()
	return d
}

// reply answers the question of a call.
func (d *desk) reply(id string, r transcript.Reply) {
	d.t.Helper()
	if err := d.Answer(context.Background(), id, r); err != nil {
		d.t.Fatal(err)
	}
}

// asked waits for the question of a call.
func (d *desk) asked(id string) {
	d.t.Helper()
	d.wait("the question of "+id, func(e turn.Event) bool {
		return e.State != nil && e.State.State == turn.WaitingForUser && e.State.Question != nil && e.State.Question.CallID == id
	})
}

func TestACallWaitsForAPersonAndRunsOnceAllowed(t *testing.T) {
	d := judging(t, echo("ask"), echo("free"))
	d.model.then(calls(use("a", "ask", `{"x":1}`), use("b", "free", `{}`)))
	d.post("", "go")
	d.asked("a")
	s := d.now()
	want := turn.Question{CallID: "a", Tool: "ask", StepSeq: s.StepSeq, Since: s.Question.Since, Asked: transcript.Asked{Reason: "It is new.",
		Rights: []transcript.Right{{Kind: "command", What: "make"}}, Always: []string{"Bash(make)"}}}
	if diff := cmp.Diff(want, *s.Question); diff != "" || !s.State.Working() {
		t.Error(diff, s.State)
	}
	if got := d.results(); len(got) != 0 {
		t.Errorf("it ran before: %v", got)
	}
	d.reply("a", transcript.Reply{Choice: transcript.Once})
	d.wait("the end", idle)
	if got := d.results(); !cmp.Equal(got, map[string]string{"a": `{"x":1}`, "b": "{}"}) {
		t.Error(got)
	}
	if story := strings.Join(d.story(), ", "); !strings.Contains(story, "assistant, question, answer, tool_start a, tool_end a, tool_start b") {
		t.Error(story)
	}
	if s := d.now(); s.Question != nil {
		t.Errorf("the question is still there: %+v", s.Question)
	}
	err := d.Answer(context.Background(), "a", transcript.Reply{Choice: transcript.Once})
	if !errors.Is(err, turn.ErrNoQuestion) {
		t.Errorf("answered twice: %v", err)
	}
}

func TestTheModelIsToldOfARefusal(t *testing.T) {
	d := judging(t, echo("ask"), echo("no"), echo("free"))
	d.model.then(calls(use("a", "ask", "{}"), use("b", "no", "{}"), use("c", "ask", "{}"), use("d", "free", "{}")))
	d.post("", "go")
	d.asked("a")
	d.reply("a", transcript.Reply{Choice: transcript.No, Text: " use ninja "})
	d.asked("c")
	d.reply("c", transcript.Reply{Choice: transcript.No})
	d.wait("the end", idle)
	got := d.results()
	for id, words := range map[string]string{"a": "not run: The person refused it and said: use ninja", "b": "not run: A rule says so. Leave it.", "c": "ask the person", "d": "{}"} {
		if !strings.Contains(got[id], words) || strings.HasSuffix(got[id], "(error)") != (id != "d") {
			t.Errorf("%s: %q", id, got[id])
		}
	}
	if slices.ContainsFunc(d.story(), func(s string) bool { return s == "tool_start a" || s == "tool_start b" || s == "tool_start c" }) {
		t.Error(d.story())
	}
}

func TestReadsGoOnWhileALaterWriterWaits(t *testing.T) {
	end := make(chan struct{})
	read := fakeTool{name: "read", readOnly: true, run: func(context.Context, tool.Call) tool.Result {
		<-end
		return tool.Text("read")
	}}
	d := judging(t, read, echo("ask"))
	d.model.then(calls(use("r1", "read", "{}"), use("r2", "read", "{}"), use("w", "ask", "{}"), use("r3", "read", "{}")))
	d.post("", "go")
	d.asked("w") // though the reads still run
	if s := d.now(); len(s.Running) != 2 {
		t.Errorf("%d reads run", len(s.Running))
	}
	d.reply("w", transcript.Reply{Choice: transcript.Once})
	if got := d.results(); got["w"] != "" {
		t.Error("the writer did not wait for the reads before it")
	}
	close(end)
	d.wait("the end", idle)
	story := strings.Join(d.story(), ", ")
	if strings.Index(story, "tool_end w") > strings.Index(story, "tool_start r3") || strings.Index(story, "tool_start w") < strings.Index(story, "tool_end r2") {
		t.Error(story)
	}
}

func TestAnInterruptEndsTheWaitForAPerson(t *testing.T) {
	d := judging(t, echo("ask"))
	d.model.then(calls(use("a", "ask", "{}"), use("b", "ask", "{}")))
	d.post("", "go")
	d.asked("a")
	d.interrupt()
	if got := d.results(); !strings.Contains(got["a"], transcript.NotAnswered) || !strings.Contains(got["b"], transcript.NotStarted) {
		t.Error(got)
	}
	if err := d.Answer(context.Background(), "a", transcript.Reply{Choice: transcript.Once}); !errors.Is(err, turn.ErrNoQuestion) {
		t.Error(err)
	}
	d.ask("again", turn.Idle)
}

func TestMessagesAreQueuedWhileACallWaits(t *testing.T) {
	d := judging(t, echo("ask"))
	d.model.then(calls(use("a", "ask", "{}")))
	d.post("1", "go")
	d.asked("a")
	d.post("2", "steer")
	if err := d.Send(context.Background(), turn.Message{ID: "3", Text: "later", Dispatch: turn.AfterTurn}); err != nil {
		t.Fatal(err)
	}
	if err := d.RemoveQueued(context.Background(), "3"); err != nil {
		t.Fatal(err)
	}
	if s := d.now(); s.State != turn.WaitingForUser || len(s.Queue) != 1 {
		t.Errorf("%s %v", s.State, s.Queue)
	}
	d.reply("a", transcript.Reply{Choice: transcript.Once})
	d.wait("the end", idle)
	if got := d.users(); !slices.Equal(got, []string{"go", "steer"}) {
		t.Error(got)
	}
	if reqs := d.model.seen(); len(reqs) != 2 {
		t.Errorf("%d requests", len(reqs))
	}
}

// A core that judges nothing can't know what the question was about.
func TestWithoutAJudgeACallThatWaitedIsClosedAsNotRun(t *testing.T) {
	d := judging(t, echo("ask"))
	d.model.then(calls(use("a", "ask", "{}")))
	d.post("", "go")
	d.asked("a")
	copied := t.TempDir()
	if err := os.CopyFS(filepath.Join(copied, "session"), os.DirFS(filepath.Join(d.dir, "session"))); err != nil {
		t.Fatal(err)
	}
	after := deskIn(t, copied, echo("ask"))
	if got := after.results()["a"]; !strings.Contains(got, transcript.NotAnswered) {
		t.Error(got)
	}
	if s := after.now(); s.State != turn.Interrupted || s.Question != nil {
		t.Errorf("%s %v", s.State, s.Question)
	}
	after.ask("go on", turn.Idle)
	if reqs := after.model.seen(); len(reqs) != 1 || reqs[0].Messages[len(reqs[0].Messages)-1].Role != model.User {
		t.Error("the conversation does not go on")
	}
}

func TestAPanicOfTheJudgeRefusesTheCall(t *testing.T) {
	d := newDesk(t, echo("x"))
	d.stop()
	d.cfg.Judge = func(context.Context, permission.Request) permission.Verdict { panic("oops") }
	d.start()
	d.model.then(calls(use("a", "x", "{}")))
	d.ask("go", turn.Idle)
	if got := d.results()["a"]; !strings.Contains(got, "not run") {
		t.Error(got)
	}
}

func TestAToolLearnsHowItIsHeld(t *testing.T) {
	var got []tool.Confine
	bash := fakeTool{name: "bash", run: func(_ context.Context, c tool.Call) tool.Result {
		got = append(got, c.Confine)
		return tool.Text("")
	}}
	d := newDesk(t, bash)
	d.stop()
	d.cfg.Judge = func(_ context.Context, r permission.Request) permission.Verdict {
		return permission.Verdict{Decision: permission.Allow, ReadOnly: r.Command == "plan"}
	}
	d.start()
	d.model.then(calls(use("a", "bash", `{"script":"x"}`), use("b", "bash", `{"script":"plan"}`), use("c", "bash", `{"script":"x","dangerouslyDisableSandbox":true}`)))
	d.ask("go", turn.Idle)
	if !slices.Equal(got, []tool.Confine{tool.ConfinePolicy, tool.ConfineReadOnly, tool.ConfineNot}) {
		t.Error(got)
	}
}
