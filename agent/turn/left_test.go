package turn_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// killedAt copies the conversation's files at the moment when a record of that kind is in the log: what a
// kill there leaves.
func (d *desk) killedAt(kind transcript.Kind) *desk {
	d.t.Helper()
	other := &desk{t: d.t, dir: d.t.TempDir(), model: d.model, grew: make(chan struct{})}
	d.stop()
	copied := false
	d.cfg.Events = func(e turn.Event) {
		if e.Record != nil && e.Record.Kind == kind && !copied {
			copied = true
			copyTree(d.t, d.dir, other.dir)
		}
		d.record(e)
	}
	d.start()
	return other
}

func TestAKillBetweenTwoAttemptsGoesOnWithTheNext(t *testing.T) {
	inTime(t, func(t *testing.T) {
		d := clockDesk(t)
		killed := d.killedAt(transcript.Edit)
		d.model.then(calls(use("a", "none", "{}")), breaks("half"))
		d.post("1", "go")
		d.until(turn.Idle)
		killed.cfg = d.cfg
		killed.cfg.Events, killed.cfg.Queue = killed.record, &memory{}
		killed.start()
		t.Cleanup(killed.stop)
		s := killed.settle()
		if s.State != turn.Recovering || s.Retry == nil || s.Retry.Attempt != 2 || s.Retry.Code != "network" || s.Retry.Reason != "connection lost" {
			t.Fatalf("%+v", s)
		}
		killed.until(turn.Idle)
		want := "user go, turn_start, step_start, assistant, tool_end a, edit, step_start, assistant done, turn_end done"
		if diff := cmp.Diff(want, strings.Join(killed.story(), ", ")); diff != "" {
			t.Error(diff)
		}
		killed.restart()
		if s := killed.settle(); s.State != turn.Idle || s.Retry != nil {
			t.Errorf("after another restart: %+v", s)
		}
	})
}

func TestEditingAMessageThatJoinedKeepsWhatTheTurnChose(t *testing.T) {
	slow, begun, end := pausing("slow", true)
	d := newDesk(t, slow)
	var asked []string
	d.stop()
	resolve := d.cfg.Resolve
	d.cfg.Resolve = func(ctx context.Context, c turn.Choice) (turn.Endpoint, error) {
		asked = append(asked, c.Model)
		return resolve(ctx, c)
	}
	d.start()
	d.model.then(calls(use("a", "slow", "{}")), says("wrong"), says("right"))
	d.must(d.Send(context.Background(), turn.Message{Text: "go", Choice: &turn.Choice{Model: "fake:two"}}))
	<-begun
	d.post("", "left")
	end <- struct{}{}
	d.wait("the end", idle)
	d.forget()
	d.must(d.Edit(context.Background(), d.seqOf("left"), turn.Message{Text: "right"}))
	d.wait("the answer", idle)
	if got := strings.Join(asked, " "); got != "fake:two fake:two" {
		t.Errorf("asked: %s", got)
	}
}

func TestALongWaitIsToldInWords(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		time.Millisecond: "for 1 second.", 90 * time.Second: "for 90 seconds.", 61 * time.Minute: "for 61 minutes.",
		25*time.Hour + 1: "for 26 hours.", 72 * time.Hour: "for 3 days.", 693282 * time.Hour: "a mistake",
	} {
		d := newDesk(t)
		d.model.then(fails(&model.Error{Kind: model.ErrRateLimit, Message: "slow down", RetryAfter: wait}))
		d.ask("go", turn.Failed)
		if text := d.now().Error; !strings.Contains(text, want) {
			t.Errorf("%v: %s", wait, text)
		}
	}
}
