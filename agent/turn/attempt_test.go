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

func TestAFailureThatPassesIsTriedAgainWithACountdown(t *testing.T) { // O-LLM-07
	inTime(t, func(t *testing.T) {
		d := clockDesk(t)
		d.model.then(busy(), busy(), busy(), says("hello"))
		start := time.Now()
		d.post("1", "go")
		s := d.settle()
		for n := 2; n <= 4; n++ {
			w := s.Retry
			if s.State != turn.Retrying || w == nil || w.Attempt != n || w.Of < 4 || w.Code != "overloaded" || w.Reason != "overloaded" {
				t.Fatalf("%+v, %+v", s, w)
			}
			if most := time.Second << (n - 2); w.At.Before(time.Now().Add(-time.Millisecond)) || w.At.After(time.Now().Add(most)) {
				t.Errorf("attempt %d in %v", n, time.Until(w.At))
			}
			time.Sleep(time.Until(w.At) + time.Millisecond)
			s = d.settle()
		}
		if s.State != turn.Idle || s.Retry != nil || time.Since(start) > 8*time.Second {
			t.Errorf("%+v", s)
		}
		want := "user go, turn_start, step_start, retry, step_start, retry, step_start, retry, step_start, assistant hello, turn_end done"
		if diff := cmp.Diff(want, strings.Join(d.story(), ", ")); diff != "" {
			t.Error(diff)
		}
		for _, r := range d.model.seen() {
			if got := said(r); got != "user go" {
				t.Error(got)
			}
		}
	})
}

func TestAProviderThatSaysWhenIsAskedThen(t *testing.T) {
	inTime(t, func(t *testing.T) {
		d := clockDesk(t)
		d.model.then(fails(&model.Error{Kind: model.ErrRateLimit, Message: "slow down", RetryAfter: 7 * time.Second}))
		start := time.Now()
		d.post("1", "go")
		if w := d.settle().Retry; w == nil || !w.At.Equal(start.Add(7*time.Second)) {
			t.Errorf("%+v", w)
		}
		time.Sleep(7*time.Second - time.Millisecond)
		if s := d.settle(); s.State != turn.Retrying {
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Millisecond)
		if s := d.settle(); s.State != turn.Idle {
			t.Errorf("%+v", s)
		}
	})
}

func TestAnAnswerThatBrokeOffStaysUntilItIsTriedAgain(t *testing.T) { // O-LLM-07
	inTime(t, func(t *testing.T) {
		d := clockDesk(t)
		d.stop()
		resolve := d.cfg.Resolve
		d.cfg.Resolve = func(ctx context.Context, c turn.Choice) (turn.Endpoint, error) {
			e, err := resolve(ctx, c)
			e.Price = func(u model.Usage, _ string) (int64, bool) { return u.Input + u.Output, true }
			return e, err
		}
		d.start()
		d.model.then(breaks("half an ans"), says("a whole answer"))
		d.post("1", "go")
		s := d.settle()
		if s.State != turn.Retrying || s.Spent != 11 {
			t.Errorf("%+v", s)
		}
		if got := strings.Join(d.story(), ", "); got != "user go, turn_start, step_start, assistant half an ans, retry" {
			t.Errorf("while it waits: %s", got)
		}
		d.until(turn.Idle)
		want := "user go, turn_start, edit, step_start, assistant a whole answer, turn_end done"
		if diff := cmp.Diff(want, strings.Join(d.story(), ", ")); diff != "" {
			t.Error(diff)
		}
		if got := said(d.last()); got != "user go" {
			t.Errorf("the failed attempt was sent: %s", got)
		}
		d.wait("the reset of the view", func(e turn.Event) bool { return e.Dropped != nil })
		if s := d.now(); s.Spent != 22 || d.log.State().Cost != 22 {
			t.Errorf("what failed was paid for too: %d", s.Spent)
		}
		d.post("2", "more")
		d.until(turn.Idle)
		if got := said(d.last()); got != "user go, assistant a whole answer, user more" {
			t.Error(got)
		}
	})
}

func TestAPersonCanGiveUpOrNotWait(t *testing.T) {
	inTime(t, func(t *testing.T) {
		d := clockDesk(t)
		ctx := context.Background()
		hour := fails(&model.Error{Kind: model.ErrRateLimit, Message: "slow down", RetryAfter: time.Hour})
		d.model.then(breaks("half"), hour, says("hello"))
		d.post("1", "go")
		d.settle()
		d.must(d.StopRetry(ctx))
		s := d.settle()
		if s.State != turn.Failed || s.Code != "network" || s.Retry != nil {
			t.Errorf("%+v", s)
		}
		if got := strings.Join(d.story(), ", "); !strings.HasSuffix(got, "assistant half, retry, turn_end failed") {
			t.Errorf("what had come is gone: %s", got)
		}
		d.must(d.Retry(ctx))
		if s := d.settle(); s.State != turn.Retrying || s.Retry.Attempt != 2 {
			t.Errorf("%+v", s)
		}
		start := time.Now()
		d.must(d.Retry(ctx))
		if s := d.settle(); s.State != turn.Idle || time.Since(start) != 0 {
			t.Errorf("%+v", s)
		}
		want := "user go, turn_start, edit, step_start, retry, step_start, assistant hello, turn_end done"
		if diff := cmp.Diff(want, strings.Join(d.story(), ", ")); diff != "" {
			t.Error(diff)
		}
		d.must(d.StopRetry(ctx)) // nothing waits
	})
}

func TestAttemptsEnd(t *testing.T) { // O-LLM-05
	inTime(t, func(t *testing.T) {
		d := clockDesk(t)
		for range 20 {
			d.model.then(busy())
		}
		d.post("1", "go")
		s := d.until(turn.Failed)
		if n := len(d.model.seen()); n != 10 || s.Code != "overloaded" {
			t.Errorf("%d requests, %+v", n, s)
		}
		time.Sleep(time.Hour)
		if n := len(d.model.seen()); n != 10 {
			t.Errorf("%d requests after an hour", n)
		}
	})
}

func TestWhatAPersonMustMendIsNotTriedAgain(t *testing.T) { // O-LLM-05
	for _, kind := range []model.ErrorKind{model.ErrAuth, model.ErrQuota, model.ErrNotFound, model.ErrOverflow, model.ErrBadRequest} {
		inTime(t, func(t *testing.T) {
			d := clockDesk(t)
			d.model.then(fails(&model.Error{Kind: kind, Message: "no", RetryAfter: time.Second}))
			d.post("1", "go")
			d.settle()
			time.Sleep(time.Hour)
			if s := d.settle(); s.State != turn.Failed || s.Code != string(kind) || len(d.model.seen()) != 1 {
				t.Errorf("%s: %d requests, %+v", kind, len(d.model.seen()), s)
			}
		})
	}
}

func TestNothingIsTriedAgainWhereItIsTurnedOff(t *testing.T) {
	inTime(t, func(t *testing.T) {
		d := clockDesk(t)
		d.stop()
		d.cfg.AutoRetry = func() bool { return false }
		d.start()
		d.model.then(busy())
		d.post("1", "go")
		if s := d.settle(); s.State != turn.Failed {
			t.Errorf("%+v", s)
		}
		d.must(d.Retry(context.Background()))
		if s := d.settle(); s.State != turn.Idle || len(d.users()) != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestAnInterruptEndsTheCountdown(t *testing.T) {
	inTime(t, func(t *testing.T) {
		d := clockDesk(t)
		d.model.then(busy())
		d.post("1", "go")
		d.settle()
		start := time.Now()
		d.must(d.Interrupt(context.Background()))
		if s := d.settle(); s.State != turn.Interrupted || s.Retry != nil || time.Since(start) > 200*time.Millisecond {
			t.Errorf("%+v", s)
		}
	})
}

func TestAMessageSentInTheCountdownGoesWithTheNextAttempt(t *testing.T) {
	inTime(t, func(t *testing.T) {
		d := clockDesk(t)
		d.model.then(breaks("half"))
		d.post("1", "go")
		d.settle()
		d.post("2", "be brief")
		d.until(turn.Idle)
		if got := said(d.last()); got != "user go, user be brief" {
			t.Error(got)
		}
	})
}

func TestARestartInTheCountdownGoesOnWithIt(t *testing.T) {
	inTime(t, func(t *testing.T) {
		d := clockDesk(t)
		d.model.then(calls(use("a", "none", "{}")), breaks("half"), says("hello"))
		d.post("1", "go")
		d.settle()
		crashed := d.crash()
		s := crashed.settle()
		if s.State != turn.Recovering || s.Retry == nil || s.Retry.Attempt != 2 || s.Retry.Code != "network" {
			t.Fatalf("%+v", s)
		}
		if left := time.Until(s.Retry.At); left < 2900*time.Millisecond {
			t.Errorf("%v are too short to be seen", left)
		}
		crashed.until(turn.Idle)
		want := "user go, turn_start, step_start, assistant, tool_end a, edit, step_start, assistant hello, turn_end done"
		if diff := cmp.Diff(want, strings.Join(crashed.story(), ", ")); diff != "" {
			t.Error(diff)
		}
		if got := said(d.last()); got != "user go, tool_call a, tool_result a" {
			t.Error(got)
		}
	})
}

func TestARestartInTheCountdownCanBeStopped(t *testing.T) {
	inTime(t, func(t *testing.T) {
		d := clockDesk(t)
		d.model.then(busy())
		d.post("1", "go")
		d.settle()
		d.post("2", "later")
		crashed := d.crash()
		if s := crashed.settle(); s.State != turn.Recovering || !s.Held || len(s.Queue) != 1 {
			t.Fatalf("%+v", s)
		}
		crashed.must(crashed.StopRetry(context.Background()))
		if s := crashed.settle(); s.State != turn.Failed || s.Code != "overloaded" || !s.Held {
			t.Errorf("%+v", s)
		}
		if n := len(d.model.seen()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// crash is the conversation in another process, after this one was killed: its log is copied as it
// is.
func (d *desk) crash() *desk {
	d.t.Helper()
	other := &desk{t: d.t, dir: d.t.TempDir(), model: d.model, grew: make(chan struct{}), cfg: d.cfg}
	other.cfg.Events = other.record
	copyTree(d.t, d.dir, other.dir)
	d.stop()
	other.start()
	d.t.Cleanup(other.stop)
	return other
}

func TestMendedSettingsClearAFailureAndSendNothing(t *testing.T) {
	for _, kind := range []model.ErrorKind{model.ErrAuth, model.ErrQuota, model.ErrNotFound} {
		inTime(t, func(t *testing.T) {
			d := clockDesk(t)
			ctx := context.Background()
			d.model.then(fails(&model.Error{Kind: kind, Message: "no"}))
			d.post("1", "go")
			d.settle()
			d.stop()
			works := d.cfg.Resolve
			d.cfg.Resolve = func(context.Context, turn.Choice) (turn.Endpoint, error) { return turn.Endpoint{}, context.Canceled }
			d.start()
			d.must(d.Mended(ctx))
			if s := d.settle(); s.State != turn.Failed || s.Code != string(kind) {
				t.Errorf("%+v", s)
			}
			d.stop()
			d.cfg.Resolve = works
			d.start()
			d.must(d.Mended(ctx))
			time.Sleep(time.Hour)
			if s := d.settle(); s.State != turn.Interrupted || s.Code != "" || s.Error != "" {
				t.Errorf("%+v", s)
			}
			d.restart()
			if s := d.settle(); s.State != turn.Interrupted || len(d.model.seen()) != 1 {
				t.Errorf("after a restart: %+v", s)
			}
			before := len(d.model.seen())
			d.must(d.Retry(ctx))
			if s := d.settle(); s.State != turn.Idle || len(d.model.seen()) != before+1 {
				t.Errorf("%d requests, %+v", len(d.model.seen()), s)
			}
		})
	}
}

func TestRetryWithNothingToRepeatSaysSo(t *testing.T) {
	inTime(t, func(t *testing.T) {
		d := clockDesk(t)
		if err := d.Retry(context.Background()); err == nil {
			t.Error("an empty conversation was repeated")
		}
		d.post("1", "go")
		d.until(turn.Idle)
		if err := d.Retry(context.Background()); err == nil || len(d.model.seen()) != 1 {
			t.Errorf("an answered message was repeated: %v", err)
		}
	})
}

func TestRetryKeepsTheStepsThatWereComplete(t *testing.T) {
	inTime(t, func(t *testing.T) {
		d := clockDesk(t, echo("write"))
		denied := fails(&model.Error{Kind: model.ErrAuth, Message: "no"})
		d.model.then(calls(use("a", "write", "{}")), denied, says("hello"))
		d.post("1", "go")
		d.settle()
		d.restart()
		d.must(d.Retry(context.Background()))
		d.until(turn.Idle)
		want := "user go, turn_start, step_start, assistant, tool_start a, tool_end a, edit, step_start, assistant hello, turn_end done"
		if diff := cmp.Diff(want, strings.Join(d.story(), ", ")); diff != "" {
			t.Error(diff)
		}
		steps := 0
		for _, r := range d.records() {
			if r.Kind == transcript.StepStart {
				steps = r.Step
			}
		}
		if steps != 2 {
			t.Errorf("the last step is %d", steps)
		}
	})
}
