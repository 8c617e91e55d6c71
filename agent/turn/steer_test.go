package turn_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// pausing is a tool that says when it runs and waits until it may end.
func pausing(name string, readOnly bool) (fakeTool, chan string, chan struct{}) {
	begun, end := make(chan string, 8), make(chan struct{}, 8)
	return fakeTool{name: name, readOnly: readOnly, run: func(ctx context.Context, c tool.Call) tool.Result {
		begun <- c.ID
		select {
		case <-end:
		case <-ctx.Done():
		}
		return tool.Text("ok")
	}}, begun, end
}

func (d *desk) send(m turn.Message) {
	d.t.Helper()
	d.must(d.Send(context.Background(), m))
}

func TestMessagesJoinTheTurnBetweenTwoSteps(t *testing.T) { // O-DESK-04
	slow, begun, end := pausing("slow", false)
	d := newDesk(t, slow)
	d.model.then(calls(use("a", "slow", "{}"), use("b", "slow", "{}")), says("first"), says("second"))
	d.post("1", "go")
	<-begun
	d.send(turn.Message{ID: "2", Text: "A"})
	d.send(turn.Message{ID: "3", Text: "after all", Dispatch: turn.AfterTurn})
	d.send(turn.Message{ID: "4", Text: "B", Choice: &turn.Choice{Model: "fake:two", Level: "high"}})
	d.send(turn.Message{ID: "2", Text: "A"})
	if q := d.now().Queue; len(q) != 3 || q[0].Dispatch != turn.AfterStep || q[1].Dispatch != turn.AfterTurn || q[2].Choice.Level != "high" {
		t.Errorf("%+v", q)
	}
	end <- struct{}{}
	<-begun // the second call is not overtaken
	end <- struct{}{}
	d.wait("the end", idle)
	reqs := d.model.seen()
	if len(reqs) != 3 {
		t.Fatalf("%d requests", len(reqs))
	}
	if got := said(reqs[1]); got != "user go, tool_call a, tool_call b, tool_result a, tool_result b, user A, user B" {
		t.Error(got)
	}
	if got := said(reqs[2]); !strings.HasSuffix(got, "user B, assistant first, user after all") {
		t.Error(got)
	}
	if reqs[0].Model != "one" || reqs[1].Model != "two" || reqs[2].Model != "one" {
		t.Errorf("models %s, %s, %s", reqs[0].Model, reqs[1].Model, reqs[2].Model)
	}
	if end := d.log.State(); end.Turn != "" || end.Unanswered != "" {
		t.Errorf("%+v", end)
	}
}

func TestTheQueueCanBeEditedAndReordered(t *testing.T) { // O-DESK-04
	d := newDesk(t)
	begun := make(chan struct{})
	d.model.then(hangs("x", begun))
	d.post("1", "go")
	<-begun
	for _, m := range []string{"A", "B", "C"} {
		d.send(turn.Message{ID: m, Text: m, Dispatch: turn.AfterTurn})
	}
	ctx, text, step := context.Background(), "B, and be brief", turn.AfterStep
	d.must(d.EditQueued(ctx, "B", &text, nil))
	d.must(d.EditQueued(ctx, "C", nil, &step))
	d.must(d.MoveQueued(ctx, "C", "A"))
	d.must(d.MoveQueued(ctx, "A", ""))
	for _, err := range []error{d.EditQueued(ctx, "X", &text, nil), d.MoveQueued(ctx, "X", ""), d.MoveQueued(ctx, "A", "X")} {
		if !errors.Is(err, turn.ErrNotQueued) {
			t.Error(err)
		}
	}
	check := func(when string) {
		var got []string
		for _, q := range d.now().Queue {
			got = append(got, q.Text+" "+string(q.Dispatch))
		}
		if diff := cmp.Diff([]string{"C step", "B, and be brief turn", "A turn"}, got); diff != "" {
			t.Error(when, diff)
		}
	}
	check("at once")
	d.restart()
	check("after a restart")
	d.must(d.Release(ctx))
	d.wait("the end", idle)
	if diff := cmp.Diff([]string{"go", "C", text, "A"}, d.users()); diff != "" {
		t.Error(diff)
	}
}

func TestMessagesThatWaitedForAStepGoTogether(t *testing.T) { // O-DESK-04
	d := newDesk(t)
	begun, end := make(chan struct{}), make(chan struct{})
	d.model.then(func(ctx context.Context, emit func(model.Event)) (*model.Message, error) {
		close(begun)
		<-end
		return says("x")(ctx, emit)
	})
	d.post("1", "go")
	<-begun
	d.post("A", "A")
	d.post("B", "B")
	close(end)
	d.wait("the end", idle)
	if reqs := d.model.seen(); len(reqs) != 2 || said(reqs[1]) != "user go, assistant x, user A, user B" {
		t.Errorf("%d requests, %s", len(reqs), said(d.last()))
	}
}

func TestAPictureOfAMessageWaitsWithIt(t *testing.T) {
	d := newDesk(t)
	begun := make(chan struct{})
	d.model.then(hangs("x", begun))
	d.post("1", "go")
	<-begun
	d.send(turn.Message{ID: "2", Files: []model.Part{{Kind: model.File, Name: "shot.png", Mime: "image/png", Data: onePixel(t)}}})
	err := d.Send(context.Background(), turn.Message{ID: "3", Files: []model.Part{{Kind: model.File, Name: "x.png", Mime: "image/png", Data: []byte("<html>")}}})
	if err == nil || !strings.Contains(err.Error(), "x.png") {
		t.Errorf("%v", err)
	}
	d.restart()
	if q := d.now().Queue; len(q) != 1 || q[0].Files != 1 {
		t.Errorf("%+v", q)
	}
	d.must(d.Release(context.Background()))
	d.wait("the end", idle)
	msgs := d.last().Messages
	if got := msgs[len(msgs)-1].Parts; len(got) != 1 || string(got[0].Data) != string(onePixel(t)) || got[0].Name != "shot.png" {
		t.Errorf("%+v", got)
	}
}

func TestAMessageCanChooseItsModel(t *testing.T) {
	d := newDesk(t)
	d.must(d.SetChoice(context.Background(), turn.Choice{Model: "fake:one", Level: "low", Pro: true}))
	var seen []turn.Choice
	d.stop()
	d.cfg.Choice = turn.Choice{Model: "fake:one", Level: "low", Pro: true}
	resolve := d.cfg.Resolve
	d.cfg.Resolve = func(ctx context.Context, c turn.Choice) (turn.Endpoint, error) {
		seen = append(seen, c)
		return resolve(ctx, c)
	}
	d.start()
	for _, c := range []*turn.Choice{{Model: "fake:two"}, {Level: "high"}, nil} {
		d.forget()
		d.send(turn.Message{Text: "go", Choice: c})
		d.wait("the answer", idle)
	}
	want := []turn.Choice{{Model: "fake:two", Level: "low"}, {Model: "fake:one", Level: "high", Pro: true}, {Model: "fake:one", Level: "low", Pro: true}}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
	if s := d.now(); s.Choice != want[2] {
		t.Errorf("%+v", s.Choice)
	}
}

func TestAPastMessageCanBeEdited(t *testing.T) {
	d := newDesk(t, echo("write"))
	d.model.then(says("one"), calls(use("a", "write", "{}")), says("two"), says("three"))
	for _, m := range []string{"A", "B", "C"} {
		d.ask(m, turn.Idle)
	}
	d.forget()
	seq := d.seqOf("B")
	d.must(d.Edit(context.Background(), seq, turn.Message{ID: "new", Text: "B again"}))
	d.wait("the answer", idle)
	if got := said(d.last()); got != "user A, assistant one, user B again" {
		t.Error(got)
	}
	if diff := cmp.Diff([]string{"A", "B again"}, d.users()); diff != "" {
		t.Error(diff)
	}
	for _, r := range d.records() {
		if r.From != 0 && !strings.Contains(r.Note, "stay as they are") {
			t.Errorf("it does not say that files stay: %q", r.Note)
		}
	}
	left, _, err := d.log.Left(d.seqOf("B again"), 0, 100)
	if err != nil || len(left) == 0 || left[0].Seq != seq {
		t.Errorf("what was left is gone: %d records, %v", len(left), err)
	}
	d.must(d.Edit(context.Background(), d.seqOf("A"), turn.Message{ID: "new", Text: "sent again after a lost answer"}))
	if got := len(d.users()); got != 2 {
		t.Errorf("%d messages", got)
	}
	if err := d.Edit(context.Background(), d.seqOf("A")+1, turn.Message{Text: "x"}); !errors.Is(err, turn.ErrNoMessage) {
		t.Error(err)
	}
	d.restart()
	d.ask("D", turn.Idle)
	if got := said(d.last()); got != "user A, assistant one, user B again, assistant done, user D" {
		t.Error(got)
	}
}

func TestAnEditedMessageKeepsItsFilesAndItsChoice(t *testing.T) {
	d := newDesk(t)
	d.send(turn.Message{ID: "old", Text: "look", Choice: &turn.Choice{Model: "fake:two"},
		Files: []model.Part{{Kind: model.File, Name: "shot.png", Mime: "image/png", Data: onePixel(t)}}})
	d.wait("the answer", idle)
	for _, x := range []struct {
		m    turn.Message
		want string
	}{
		{turn.Message{ID: "new", Text: "look again"}, "two"},
		{turn.Message{ID: "newer", Text: "and again", Choice: &turn.Choice{Model: "fake:one"}}, "one"},
	} {
		d.forget()
		d.must(d.Edit(context.Background(), d.seqOf(d.users()[0]), x.m))
		d.wait("the answer", idle)
		r := d.last()
		if r.Model != x.want || len(r.Messages) != 1 {
			t.Fatalf("%s got %s", r.Model, said(r))
		}
		p := r.Messages[0].Parts
		if len(p) != 2 || p[0].Text != x.m.Text || p[1].Name != "shot.png" || string(p[1].Data) != string(onePixel(t)) {
			t.Errorf("%+v", p)
		}
	}
}

func TestEditingInterruptsTheTurnFirst(t *testing.T) {
	d := newDesk(t)
	d.ask("A", turn.Idle)
	begun := make(chan struct{})
	d.model.then(hangs("half", begun), says("anew"))
	d.post("", "B")
	<-begun
	d.post("", "queued")
	d.forget()
	d.must(d.Edit(context.Background(), d.seqOf("B"), turn.Message{Text: "B again"}))
	d.wait("the end", idle)
	if got := said(d.model.seen()[2]); got != "user A, assistant done, user B again" {
		t.Error(got)
	}
	if diff := cmp.Diff([]string{"A", "B again", "queued"}, d.users()); diff != "" {
		t.Error(diff)
	}
}

func TestAMessageThatJoinedATurnCanBeEdited(t *testing.T) {
	slow, begun, end := pausing("slow", true)
	d := newDesk(t, slow)
	d.model.then(calls(use("a", "slow", "{}")), says("wrong"), says("right"))
	d.post("", "go")
	<-begun
	d.post("", "left")
	end <- struct{}{}
	d.wait("the end", idle)
	d.forget()
	d.must(d.Edit(context.Background(), d.seqOf("left"), turn.Message{Text: "right"}))
	d.wait("the answer", idle)
	want := "user go, turn_start, step_start, assistant, tool_start a, tool_end a, user right, step_start, assistant right, turn_end done"
	if diff := cmp.Diff(want, strings.Join(d.story(), ", ")); diff != "" {
		t.Error(diff)
	}
	for _, r := range d.records() {
		if r.Note != "" {
			t.Errorf("a reader changed nothing: %q", r.Note)
		}
	}
}

func TestClearing(t *testing.T) {
	d := newDesk(t)
	ctx := context.Background()
	d.must(d.Clear(ctx, false))
	d.must(d.Clear(ctx, true))
	if n := d.log.State().LastSeq; n != 0 {
		t.Errorf("clearing nothing wrote %d records", n)
	}
	d.ask("A", turn.Idle)
	d.must(d.Clear(ctx, true))
	d.must(d.Clear(ctx, true))
	if got := d.users(); len(got) != 1 {
		t.Errorf("a soft clear hides what people read: %q", got)
	}
	d.ask("B", turn.Idle)
	if got := said(d.last()); got != "user B" {
		t.Errorf("the model got %s", got)
	}
	begun := make(chan struct{})
	d.model.then(hangs("half", begun))
	d.post("", "C")
	<-begun
	d.must(d.Clear(ctx, false))
	d.must(d.Clear(ctx, false))
	if s := d.now(); s.State != turn.Idle || s.Tokens != 0 {
		t.Errorf("%+v", s)
	}
	if got := d.users(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	d.restart()
	d.ask("D", turn.Idle)
	if got := said(d.last()); got != "user D" {
		t.Errorf("the model got %s", got)
	}
	borders := 0
	raw, _, err := d.log.Before(0, 100)
	d.must(err)
	for _, r := range raw {
		if r.Kind == transcript.Boundary {
			borders++
		}
	}
	if borders > 1 {
		t.Errorf("%d borders are shown", borders)
	}
	if err := d.Retry(ctx); !errors.Is(err, turn.ErrNothing) {
		t.Error(err)
	}
}
