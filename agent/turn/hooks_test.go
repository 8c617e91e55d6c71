package turn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/tokens"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// with starts the desk again with another configuration.
func (d *desk) with(change func(*turn.Config)) *desk {
	d.t.Helper()
	d.stop()
	change(&d.cfg)
	d.start()
	return d
}

// chained gives the endpoint a chain of fallbacks; broken ones can't be asked.
func chained(broken string, chain ...string) func(*turn.Config) {
	return func(cfg *turn.Config) {
		resolve := cfg.Resolve
		cfg.Resolve = func(ctx context.Context, c turn.Choice) (turn.Endpoint, error) {
			if c.Model == broken {
				return turn.Endpoint{}, errors.New("there is no key for it")
			}
			e, err := resolve(ctx, c)
			if c.Model == "fake:one" {
				e.Fallbacks = chain
			}
			return e, err
		}
	}
}

func refuses(text string) reply {
	return answer(model.StopFilter, model.Part{Kind: model.Text, Text: text})
}

func TestARefusalAsksTheNextModelOfTheChain(t *testing.T) {
	d := newDesk(t, echo("write")).with(chained("fake:broken", "fake:broken", "fake:one", "fake:two"))
	d.model.then(calls(use("a", "write", "{}")), refuses("I can"), says("sure"), says("again"))
	d.ask("go", turn.Idle)
	var models []string
	for _, r := range d.model.seen() {
		models = append(models, r.Model)
	}
	if diff := cmp.Diff([]string{"one", "one", "two"}, models); diff != "" {
		t.Error(diff)
	}
	if got := said(d.last()); got != "user go, tool_call a, tool_result a" {
		t.Errorf("the refusal was sent: %s", got)
	}
	want := "user go, turn_start, step_start, assistant, tool_start a, tool_end a, edit, note, step_start, assistant sure, turn_end done"
	if diff := cmp.Diff(want, strings.Join(d.story(), ", ")); diff != "" {
		t.Error(diff)
	}
	note := ""
	for _, r := range d.records() {
		note += r.Note
	}
	for _, want := range []string{"fake:one refused", "fake:two is asked", "fake:broken can't be asked: there is no key"} {
		if !strings.Contains(note, want) {
			t.Errorf("%q lacks %q", note, want)
		}
	}
	d.ask("more", turn.Idle)
	if got := d.last().Model; got != "one" {
		t.Errorf("the next turn asks %s", got)
	}
}

func TestAChainThatRefusesSaysSo(t *testing.T) {
	d := newDesk(t).with(chained("", "fake:two"))
	d.model.then(refuses(""), refuses(""))
	d.ask("go", turn.Failed)
	if s := d.now(); s.Code != turn.CodeFilter || !strings.Contains(s.Error, "fake:one, fake:two") || len(d.model.seen()) != 2 {
		t.Errorf("%d requests, %+v", len(d.model.seen()), s)
	}
}

func TestNoOtherFailureAsksTheNextModel(t *testing.T) {
	for _, kind := range []model.ErrorKind{model.ErrQuota, model.ErrAuth, model.ErrNetwork, model.ErrOverflow} {
		d := newDesk(t).with(chained("", "fake:two"))
		d.model.then(fails(&model.Error{Kind: kind, Message: "no"}))
		d.ask("go", turn.Failed)
		if len(d.model.seen()) != 1 {
			t.Errorf("%s: %d requests", kind, len(d.model.seen()))
		}
	}
}

func TestARequestThatIsRefusedIsTriedWithoutOldReasoningAndPictures(t *testing.T) { // O-LLM-02, O-LLM-03
	bad := fails(&model.Error{Kind: model.ErrBadRequest, Message: "invalid signature in thinking block"})
	think := model.Part{Kind: model.Reasoning, Text: "hm", Signature: "s"}
	text := model.Part{Kind: model.Text, Text: "hello"}
	d := newDesk(t)
	d.model.then(answer(model.StopEnd, think, text), bad, bad, says("works"))
	d.send(turn.Message{Text: "look", Files: []model.Part{{Kind: model.File, Mime: "image/png", Data: onePixel(t)}}})
	d.wait("the answer", idle)
	d.ask("more", turn.Idle)
	var got []string
	for _, r := range d.model.seen()[1:] {
		got = append(got, said(r))
	}
	const left = "user [a picture that was here is left out: the model can't take it]"
	want := []string{
		"user look, file, reasoning, assistant hello, user more",
		"user look, file, assistant hello, user more",
		"user look, " + left + ", assistant hello, user more",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	d.restart() // what works is kept
	d.model.then(answer(model.StopEnd, think, text))
	d.ask("new", turn.Idle)
	d.ask("end", turn.Idle)
	if got := said(d.last()); got != want[2]+", assistant works, user new, reasoning, assistant hello, user end" {
		t.Error(got)
	}
	d.checkReplay()
	d.model.then(bad, bad, bad)
	d.ask("hopeless", turn.Failed)
	if n := len(d.model.seen()); n != 8 {
		t.Errorf("%d requests: it goes in circles", n)
	}
}

// checkReplay fails unless the log tells every request as it was sent.
func (d *desk) checkReplay() {
	d.t.Helper()
	n, sent := 0, d.model.seen()
	d.must(turn.Replay(d.log, func(_ uint64, r *model.Request) error {
		if n < len(sent) {
			if diff := cmp.Diff(sent[n], r); diff != "" {
				d.t.Errorf("request %d: %s", n, diff)
			}
		}
		n++
		return nil
	}))
	if n != len(sent) {
		d.t.Errorf("%d requests were sent and %d are in the log", len(sent), n)
	}
}

func TestAModelWithoutEyesGetsNoPictures(t *testing.T) {
	d := newDesk(t).with(func(cfg *turn.Config) {
		resolve := cfg.Resolve
		cfg.Resolve = func(ctx context.Context, c turn.Choice) (turn.Endpoint, error) {
			e, err := resolve(ctx, c)
			e.Images = c.Model == "fake:one"
			return e, err
		}
	})
	picture := []model.Part{{Kind: model.File, Mime: "image/png", Data: onePixel(t)}}
	d.send(turn.Message{Text: "look", Files: picture, Choice: &turn.Choice{Model: "fake:blind"}})
	d.wait("the answer", idle)
	if got := said(d.last()); !strings.HasPrefix(got, "user look, user [a picture") {
		t.Error(got)
	}
	d.ask("and now", turn.Idle)
	if got := said(d.last()); !strings.HasPrefix(got, "user look, file, assistant") {
		t.Error(got)
	}
	d.checkReplay()
}

func TestHooksOfAStep(t *testing.T) {
	var steps []string
	d := newDesk(t, echo("write"), echo("report")).with(func(cfg *turn.Config) {
		cfg.OneTool = true
		cfg.Force = func(s turn.StepInfo) string {
			if s.Step == 1 {
				return "report"
			}
			return ""
		}
		cfg.Stop = func(s turn.StepInfo) (string, bool) {
			steps = append(steps, fmt.Sprint(s.Step, " ", s.Results[0].CallID, " of ", len(s.Results)))
			return "The report is there.", s.Message.Parts[0].Name == "report"
		}
	})
	d.model.then(calls(use("a", "write", "{}"), use("b", "write", "{}")), calls(use("c", "report", "{}")))
	d.ask("go", turn.Idle)
	if diff := cmp.Diff([]string{"1 a of 2", "2 c of 1"}, steps); diff != "" {
		t.Error(diff)
	}
	reqs := d.model.seen()
	if len(reqs) != 2 || reqs[0].Force != "" || reqs[1].Force != "report" || !reqs[1].OneTool {
		t.Errorf("%d requests, %+v", len(reqs), reqs)
	}
	if got := d.results()["b"]; !strings.Contains(got, "one call at a time") {
		t.Error(got)
	}
	if got := strings.Join(d.story(), ", "); !strings.HasSuffix(got, "tool_end c, note, turn_end done") {
		t.Error(got)
	}
	d.checkReplay()
}

func TestABudgetStopsBeforeTheRequestThatExceedsIt(t *testing.T) {
	left, limited := int64(30), true
	d := newDesk(t, echo("write")).with(func(cfg *turn.Config) {
		cfg.Budget = func() (int64, bool) { return left, limited }
		resolve := cfg.Resolve
		cfg.Resolve = func(ctx context.Context, c turn.Choice) (turn.Endpoint, error) {
			e, err := resolve(ctx, c)
			e.Price = func(u model.Usage, _ string) (int64, bool) { return u.Input + u.Output, true }
			return e, err
		}
	})
	spend := func(r reply) reply {
		return func(ctx context.Context, emit func(model.Event)) (*model.Message, error) {
			left -= 11
			return r(ctx, emit)
		}
	}
	for range 9 {
		d.model.then(spend(calls(use("a", "write", "{}"))))
	}
	d.ask("go", turn.Failed)
	s := d.now()
	if n := len(d.model.seen()); n != 2 || s.Code != turn.CodeBudget || s.Spent != 22 || *s.Budget != 8 || !strings.Contains(s.Error, "$0.0000") {
		t.Errorf("%d requests, %+v", n, s)
	}
	left = 0
	d.ask("go on", turn.Failed)
	if s := d.now(); len(d.model.seen()) != 2 || !strings.Contains(s.Error, "used up") {
		t.Errorf("%+v", s)
	}
	limited = false
	d.model.then()
	d.forget()
	d.must(d.Retry(context.Background()))
	d.wait("the end", is(turn.Idle))
	if s := d.now(); s.Budget != nil {
		t.Errorf("%+v", s)
	}
}

func TestStepsHaveTheLimitOfTheConfig(t *testing.T) {
	d := newDesk(t, echo("write")).with(func(cfg *turn.Config) { cfg.MaxSteps = 2 })
	for range 3 {
		d.model.then(calls(use("a", "write", "{}")))
	}
	d.ask("go", turn.Failed)
	if s := d.now(); s.Code != turn.CodeSteps || len(d.model.seen()) != 2 {
		t.Errorf("%+v", s)
	}
}

func TestTheSizeOfTheContextIsToldWhileItGrows(t *testing.T) {
	inTime(t, func(t *testing.T) {
		d := clockDesk(t).with(func(cfg *turn.Config) { cfg.Tokens = tokens.New(nil, nil) })
		end := make(chan struct{})
		d.model.then(func(ctx context.Context, emit func(model.Event)) (*model.Message, error) {
			m := &model.Message{Role: model.Assistant, Parts: []model.Part{{Kind: model.Text}}}
			for range 10 {
				m.Parts[0].Text += strings.Repeat("word ", 100)
				emit(model.Event{Type: model.PartDelta, Kind: model.Text, Delta: strings.Repeat("word ", 100), Message: m})
				time.Sleep(time.Second)
			}
			<-end
			m.Stop, m.Usage = model.StopEnd, model.Usage{Input: 70, CacheRead: 30, Output: 1000}
			return m, nil
		})
		d.post("", "go")
		time.Sleep(time.Minute)
		s := d.settle()
		if s.Tokens < 900 || s.Tokens > 1600 {
			t.Errorf("%d tokens", s.Tokens)
		}
		told := map[int64]bool{}
		for _, e := range d.events {
			if e.State != nil {
				told[e.State.Tokens] = true
			}
		}
		if len(told) < 8 || len(told) > 20 {
			t.Errorf("told %d sizes", len(told))
		}
		close(end)
		if s := d.until(turn.Idle); s.Tokens != 1100 {
			t.Errorf("%d tokens, and the provider counted 1100", s.Tokens)
		}
	})
}

func TestWhatANewerVersionLeftOpenIsClosed(t *testing.T) {
	d := newDesk(t)
	d.stop()
	log, err := transcript.Open(d.dir + "/session")
	d.must(err)
	for _, r := range []transcript.Record{{Kind: transcript.TurnStart, Turn: "t"}, {Kind: transcript.StepStart, Turn: "t", Step: 1},
		{Kind: transcript.Retry, Turn: "t", Step: 1, StepSeq: 2, Attempt: 1, Code: "server", At: time.Now()}} {
		_, err := log.Append(r)
		d.must(err)
	}
	d.must(log.Close())
	d.start() // nothing is tried again here
	if s := d.now(); s.State != turn.Interrupted {
		t.Errorf("%+v", s)
	}
}
