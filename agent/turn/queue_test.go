package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

func TestQueuedMessagesAreDeliveredOnceEachInOrderAfterTheTurn(t *testing.T) { // O-DESK-04
	d := newDesk(t)
	begun, end := make(chan struct{}), make(chan struct{})
	d.model.then(func(ctx context.Context, emit func(model.Event)) (*model.Message, error) {
		close(begun)
		<-end
		return says("first")(ctx, emit)
	})
	d.post("1", "go")
	<-begun
	for _, m := range []string{"A", "B", "X", "C"} {
		d.post("id-"+m, m)
		d.post("id-"+m, m) // sent again after a lost answer
	}
	d.post("1", "go")
	if err := d.RemoveQueued(context.Background(), "id-X"); err != nil {
		t.Error(err)
	}
	if s := d.now(); len(s.Queue) != 3 || s.Held {
		t.Errorf("%+v", s)
	}
	close(end)
	d.wait("the last answer", idle)
	d.post("id-B", "B")
	if diff := cmp.Diff([]string{"go", "A", "B", "C"}, d.users()); diff != "" {
		t.Error(diff)
	}
	d.restart()
	d.post("id-B", "B")
	if diff := cmp.Diff([]string{"go", "A", "B", "C"}, d.users()); diff != "" || len(d.now().Queue) != 0 {
		t.Error(diff)
	}
}

func TestAnIDIsKnownForTheLast256MessagesOfItsWorkspace(t *testing.T) { // O-DESK-04
	d := newDesk(t)
	for n := range 257 {
		if _, err := d.log.Append(transcript.Record{Kind: transcript.User, Turn: "t", MessageID: fmt.Sprint("id-", n),
			Message: &model.Message{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "old"}}}}); err != nil {
			t.Fatal(err)
		}
	}
	d.restart() // what is known is the log's, not this process's
	before := len(d.users())
	d.post("id-1", "again")
	d.post("id-256", "again")
	if n := len(d.users()); n != before {
		t.Errorf("%d messages became %d", before, n)
	}
	d.post("id-0", "again")
	if n := len(d.users()); n != before+1 {
		t.Errorf("%d messages became %d", before, n)
	}
}

func TestWorkspacesMayQueueMessagesOfOneID(t *testing.T) {
	root, db := openRegistry(t, t.TempDir())
	defer func() { _ = root.Close() }()
	ctx := context.Background()
	for _, w := range []string{"one", "two"} {
		if err := turn.NewQueue(db, w).Add(ctx, turn.Queued{ID: "same", Text: "for " + w}); err != nil {
			t.Fatal(err)
		}
	}
	if err := turn.NewQueue(db, "one").Remove(ctx, "same"); err != nil {
		t.Fatal(err)
	}
	left, err := turn.NewQueue(db, "two").List(ctx)
	if err != nil || len(left) != 1 || left[0].Text != "for two" {
		t.Errorf("%+v, %v", left, err)
	}
}

func TestAQueueIsKeptOverARestartAndWaitsForThePerson(t *testing.T) { // O-DESK-04
	d := newDesk(t)
	begun := make(chan struct{})
	d.model.then(hangs("x", begun))
	d.post("1", "go")
	<-begun
	for _, m := range []string{"A", "B", "C"} {
		d.post("id-"+m, m)
	}
	d.restart()
	if s := d.now(); !s.Held || len(s.Queue) != 3 || s.Queue[2].Text != "C" || len(d.users()) != 1 {
		t.Errorf("%+v", s)
	}
	d.forget()
	if err := d.Release(context.Background()); err != nil {
		t.Fatal(err)
	}
	d.wait("the last answer", idle)
	if diff := cmp.Diff([]string{"go", "A", "B", "C"}, d.users()); diff != "" {
		t.Error(diff)
	}
}

func TestAFailureHoldsTheQueue(t *testing.T) {
	d := newDesk(t)
	begun, end := make(chan struct{}), make(chan struct{})
	d.model.then(func(context.Context, func(model.Event)) (*model.Message, error) {
		close(begun)
		<-end
		return nil, &model.Error{Kind: model.ErrAuth, Message: "no"}
	})
	d.post("1", "go")
	<-begun
	d.post("2", "A")
	close(end)
	d.wait("the failure", is(turn.Failed))
	if s := d.now(); !s.Held || len(s.Queue) != 1 {
		t.Errorf("%+v", s)
	}
}

// stuck is a queue whose rows do not go away, as after a crash between record and removal.
type stuck struct{ turn.Queue }

func (stuck) Remove(context.Context, string) error { return errors.New("crashed") }

func TestAMessageRecordedJustBeforeACrashIsNotDeliveredAgain(t *testing.T) { // O-DESK-04
	d := newDesk(t)
	d.stop()
	whole := d.cfg.Queue
	d.cfg.Queue = stuck{whole}
	d.start()
	begun, end := make(chan struct{}), make(chan struct{})
	d.model.then(func(ctx context.Context, emit func(model.Event)) (*model.Message, error) {
		close(begun)
		<-end
		return says("x")(ctx, emit)
	})
	d.post("1", "go")
	<-begun
	d.post("2", "A")
	close(end)
	d.wait("the answer", idle)
	if q, err := whole.List(context.Background()); err != nil || len(q) != 1 {
		t.Fatalf("%v, %v", q, err)
	}
	d.cfg.Queue = whole
	d.restart()
	if s := d.now(); len(s.Queue) != 0 || s.Held {
		t.Errorf("%+v", s)
	}
	if q, err := whole.List(context.Background()); err != nil || len(q) != 0 {
		t.Errorf("%v, %v", q, err)
	}
	if diff := cmp.Diff([]string{"go", "A"}, d.users()); diff != "" {
		t.Error(diff)
	}
}

func TestTheModelCanBeChangedForTheTurnsToCome(t *testing.T) {
	d := newDesk(t)
	d.ask("one", turn.Idle)
	if err := d.SetChoice(context.Background(), turn.Choice{Model: "fake:two"}); err != nil {
		t.Fatal(err)
	}
	d.ask("two", turn.Idle)
	reqs := d.model.seen()
	if reqs[0].Model != "one" || reqs[1].Model != "two" || d.now().Model != "fake:two" {
		t.Errorf("%q then %q", reqs[0].Model, reqs[1].Model)
	}
}

func TestEachRequestBeginsWithTheBytesOfTheOneBefore(t *testing.T) { // O-LLM-08
	d := newDesk(t, echo("write"), echo("zeta"), echo("alpha"))
	var wire []string
	for n := range 10 {
		if n == 5 {
			d.cfg.Tools[0], d.cfg.Tools[2] = d.cfg.Tools[2], d.cfg.Tools[0]
			d.restart()
		}
		think := model.Part{Kind: model.Reasoning, Text: "hm <b>\xff", Origin: "x", Opaque: json.RawMessage("{ \"a\" :  \"<&>\" }")}
		d.model.then(answer(model.StopTools, think, use(fmt.Sprint("b", n), "zeta", `{ "k" : "<é>" }`), use(fmt.Sprint("a", n), "alpha", "{oops")))
		if n%3 == 1 {
			begun := make(chan struct{})
			d.model.then(hangs("interrupted", begun))
			d.forget()
			d.post("", fmt.Sprint("turn ", n))
			<-begun
			d.wait("the text", func(e turn.Event) bool { return e.Stream != nil && e.Stream.Event.Delta == "interrupted" })
			d.interrupt()
			continue
		}
		d.ask(fmt.Sprint("turn ", n), turn.Idle)
	}
	for _, r := range d.model.seen() {
		if got := r.Tools; got[0].Name != "alpha" || got[2].Name != "zeta" {
			t.Fatal("tools are not sorted")
		}
		tools, err := json.Marshal(r.Tools)
		if err != nil {
			t.Fatal(err)
		}
		msgs := make([]string, len(r.Messages))
		for i, m := range r.Messages {
			b, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			msgs[i] = string(b)
		}
		wire = append(wire, r.System+string(tools)+strings.Join(msgs, "\n"))
	}
	if len(wire) != 20 {
		t.Fatalf("%d requests", len(wire))
	}
	for i := 1; i < len(wire); i++ {
		if !strings.HasPrefix(wire[i], wire[i-1]) {
			t.Errorf("request %d does not begin with request %d:\n%s\n%s", i, i-1, wire[i-1], wire[i])
		}
	}
}

func TestSnapshotFitsTheEventsTold(t *testing.T) {
	d := newDesk(t)
	d.ask("go", turn.Idle)
	s := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	last := uint64(0)
	for _, e := range d.events {
		if e.Record == nil {
			continue
		}
		if e.Record.Seq != last+1 || e.Record.Kind == transcript.Partial {
			t.Errorf("after %d came %+v", last, e.Record)
		}
		last = e.Record.Seq
	}
	if s.LastSeq != last {
		t.Errorf("snapshot at %d, events to %d", s.LastSeq, last)
	}
}
