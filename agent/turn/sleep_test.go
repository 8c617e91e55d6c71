package turn_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// noQueue is a queue that nobody uses.
type noQueue struct{ turn.Queue }

func (noQueue) List(context.Context) ([]turn.Queued, error) { return nil, nil }

// filesOf tells size and time of every file of a folder.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		out[path] = fmt.Sprint(info.ModTime(), info.Size())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAConversationDoesNothingWhileACommandSleepsForADay(t *testing.T) { // O-DATA-05
	dir := filepath.Join(t.TempDir(), "session")
	synctest.Test(t, func(t *testing.T) {
		log := longLog(t, dir, 20_000)
		const day = 24 * time.Hour
		asleep := make(chan struct{})
		sleep := fakeTool{name: "sleep", run: func(context.Context, tool.Call) tool.Result {
			close(asleep)
			time.Sleep(day)
			return tool.Text("slept")
		}}
		m := (&script{}).then(calls(use("a", "sleep", "{}")))
		d := &desk{t: t, log: log, model: m, grew: make(chan struct{})}
		c, err := turn.Start(turn.Config{
			Workspace: "w", Log: log, Queue: noQueue{}, Tools: []tool.Tool{sleep}, Choice: turn.Choice{Model: "fake:one"},
			Env:     func(context.Context) (tool.Env, error) { return tool.Env{}, nil },
			Resolve: func(_ context.Context, c turn.Choice) (turn.Endpoint, error) { return d.endpoint(c), nil },
			Events:  d.record,
		})
		if err != nil {
			t.Fatal(err)
		}
		d.Conversation = c
		d.post("id", "Wait")
		<-asleep
		synctest.Wait()
		d.forget()
		before := filesOf(t, dir)
		// Any timer of the conversation's own would go off in this time.
		time.Sleep(day - time.Second)
		synctest.Wait()
		if len(d.events) > 0 {
			t.Errorf("told %d events, the first %+v", len(d.events), d.events[0])
		}
		if diff := cmp.Diff(before, filesOf(t, dir)); diff != "" {
			t.Errorf("wrote: %s", diff)
		}
		d.wait("the end", is(turn.Idle))
		st := log.State()
		want := model.Usage{Input: 10*20_000/2 + 2*10, Output: 3*20_000/2 + 2}
		if st.Usage != want || st.Messages != 20_003 {
			t.Errorf("%d messages used %+v, not %+v", st.Messages, st.Usage, want)
		}
		d.stop()
	})
}

// longLog writes a log of so many messages, two to a turn, of 10 tokens in and 3 out.
func longLog(t *testing.T, dir string, messages int) *transcript.Log {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	log, err := transcript.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	say := func(role model.Role) *model.Message {
		return &model.Message{Role: role, Parts: []model.Part{{Kind: model.Text, Text: "some words"}}}
	}
	for range messages / 2 {
		answer := say(model.Assistant)
		answer.Usage = model.Usage{Input: 10, Output: 3}
		for _, r := range []transcript.Record{
			{Kind: transcript.User, Turn: "t", Message: say(model.User)}, {Kind: transcript.TurnStart, Turn: "t", Model: "fake:one"},
			{Kind: transcript.StepStart, Turn: "t", Step: 1}, {Kind: transcript.Assistant, Turn: "t", Step: 1, Message: answer},
		} {
			if _, err := log.Append(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := log.Append(transcript.Record{Kind: transcript.TurnEnd, Turn: "t", End: transcript.Done}); err != nil {
		t.Fatal(err)
	}
	return log
}
