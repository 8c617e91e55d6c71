package turn_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

func TestATurnRunsStepsUntilTheModelEnds(t *testing.T) {
	leaks(t)
	d := newDesk(t, echo("write"))
	d.model.then(calls(use("a", "write", `{"x":1}`)), says("all done"))
	d.ask("go", turn.Idle)
	want := []string{"user go", "turn_start", "step_start", "assistant", "tool_start a", "tool_end a", "step_start", "assistant all done", "turn_end done"}
	if diff := cmp.Diff(want, d.story()); diff != "" {
		t.Error(diff)
	}
	d.wait("the stream", func(e turn.Event) bool { return e.Stream != nil && e.Stream.Event.Delta == "all done" })
	second := d.model.seen()[1]
	if second.Model != "one" || second.System != "be good" || second.CacheKey != "w" || len(second.Tools) != 1 {
		t.Errorf("%+v", second)
	}
	if n := len(second.Messages); n != 3 || second.Messages[2].Parts[0].Parts[0].Text != `{"x":1}` {
		t.Errorf("%d messages: %+v", n, second.Messages)
	}
	if st := d.log.State(); st.Usage.Input != 20 || st.Context != 10 || st.Model != "fake:one" {
		t.Errorf("%+v", st)
	}
}

func TestReadersOfAStepRunTogetherAndWritersInOrder(t *testing.T) {
	var mu sync.Mutex
	var order []string
	running, most := 0, 0
	all := make(chan struct{})
	read := fakeTool{name: "read", readOnly: true, run: func(ctx context.Context, c tool.Call) tool.Result {
		mu.Lock()
		if running++; running > most {
			if most = running; most == 4 {
				close(all)
			}
		}
		mu.Unlock()
		select {
		case <-all: // four at once, or this never returns
		case <-ctx.Done():
		}
		mu.Lock()
		running--
		order = append(order, "read")
		mu.Unlock()
		return tool.Text("")
	}}
	write := fakeTool{name: "write", run: func(_ context.Context, c tool.Call) tool.Result {
		mu.Lock()
		defer mu.Unlock()
		if running > 0 {
			t.Error("a writer ran beside a reader")
		}
		order = append(order, c.ID)
		return tool.Text("")
	}}
	d := newDesk(t, read, write)
	var parts []model.Part
	for i := range 6 {
		parts = append(parts, use(fmt.Sprint("r", i), "read", "{}"))
	}
	parts = append(parts, use("w1", "write", "{}"), use("w2", "write", "{}"), use("r9", "read", "{}"))
	d.model.then(calls(parts...))
	d.ask("go", turn.Idle)
	if got, want := strings.Join(order, " "), "read read read read read read w1 w2 read"; got != want || most != 4 {
		t.Errorf("order %s, %d at once", got, most)
	}
	for i, p := range d.model.seen()[1].Messages[2].Parts { // results in the order of the calls
		if p.CallID != parts[i].CallID {
			t.Errorf("result %d is of %s", i, p.CallID)
		}
	}
}

func TestFiveEditsOfOneFileInOneMessageAllHappenInOrder(t *testing.T) { // O-EDIT-09
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("1 2 3 4 5 "), 0o600); err != nil {
		t.Fatal(err)
	}
	edit := fakeTool{name: "edit", run: func(_ context.Context, c tool.Call) tool.Result {
		b, err := os.ReadFile(file)
		if err != nil {
			return tool.Fail(err.Error())
		}
		n := string(c.Input[len(`{"n":`)])
		s := strings.Replace(string(b), n+" ", n+n+" ", 1) + n
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			return tool.Fail(err.Error())
		}
		return tool.Text("edited")
	}}
	d := newDesk(t, edit)
	var parts []model.Part
	for n := 1; n <= 5; n++ {
		parts = append(parts, use(fmt.Sprint("e", n), "edit", fmt.Sprintf(`{"n":%d}`, n)))
	}
	d.model.then(calls(parts...))
	d.ask("go", turn.Idle)
	if b, err := os.ReadFile(file); err != nil || string(b) != "11 22 33 44 55 12345" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestACutCallIsNeverRun(t *testing.T) { // O-LLM-06
	cut := use("a", "write", `{"path":"a.txt","content":"line1\nli`)
	cut.Open = true
	rm := use("a", "write", `{"command":"rm -rf build`)
	rm.Open = true
	whole := use("a", "write", `{"command":"rm -rf build"}`)
	empty := use("a", "write", "")
	for name, c := range map[string]struct {
		first reply
		state turn.State
		said  string
	}{
		"length, open":   {answer(model.StopLength, cut), turn.Idle, "cut at the output limit"},
		"length, closed": {answer(model.StopLength, whole), turn.Idle, "cut at the output limit"},
		"length, empty":  {answer(model.StopLength, empty), turn.Idle, "cut at the output limit"},
		"end, open":      {answer(model.StopTools, rm), turn.Idle, "cut off"},
		"filter":         {answer(model.StopFilter, whole), turn.Failed, ""},
		"connection lost": {func(ctx context.Context, emit func(model.Event)) (*model.Message, error) {
			m, _ := answer("", rm)(ctx, emit)
			return m, &model.Error{Kind: model.ErrNetwork, Message: "connection closed", MidStream: true}
		}, turn.Failed, ""},
		"connection lost after the call": {func(ctx context.Context, emit func(model.Event)) (*model.Message, error) {
			m, _ := answer(model.StopTools, whole)(ctx, emit)
			return m, &model.Error{Kind: model.ErrNetwork, Message: "connection closed", MidStream: true}
		}, turn.Failed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, fakeTool{name: "write", run: func(context.Context, tool.Call) tool.Result {
				t.Error("the call was run")
				return tool.Text("")
			}})
			d.model.then(c.first)
			d.ask("go", c.state)
			if c.said != "" {
				req := d.model.seen()[1].Messages
				last := req[len(req)-1]
				if last.Role != model.ToolRole || !strings.Contains(last.Parts[0].Parts[0].Text, c.said) {
					t.Errorf("the model was told %+v", last)
				}
			}
			d.ask("continue", turn.Idle)
		})
	}
}

func TestCallsThatAreCutAgainAndAgainEndTheTurn(t *testing.T) { // O-LLM-06
	d := newDesk(t, echo("write"))
	for range 5 {
		d.model.then(answer(model.StopLength, use("a", "write", "{}")))
	}
	d.ask("go", turn.Failed)
	if s := d.now(); s.Code != turn.CodeCut || len(d.model.seen()) != 3 {
		t.Errorf("code %q after %d requests", s.Code, len(d.model.seen()))
	}
}

func TestWhatGoesWrongInACallIsItsResult(t *testing.T) {
	bad := fakeTool{name: "bad", run: func(context.Context, tool.Call) tool.Result { panic("boom") }}
	d := newDesk(t, bad, echo("ok"))
	d.model.then(calls(use("a", "none", "{}"), use("b", "ok", "{oops"), use("c", "bad", "{}"), use("d", "ok", ""), use("e", "ok", "[1]"), use("d", "ok", "{}")))
	d.ask("go", turn.Idle)
	got := d.results()
	for id, want := range map[string]string{"a": "no tool \"none\"", "b": "not a valid JSON object", "c": "boom", "d": "{}", "e": "not a valid JSON object"} {
		if !strings.Contains(got[id], want) {
			t.Errorf("%s: %q", id, got[id])
		}
	}
	if len(got) != 6 {
		t.Errorf("two calls of one id gave %d results", len(got))
	}
}

func TestAWorkspaceThatCannotBeUsedFailsTheCalls(t *testing.T) {
	d := newDesk(t, echo("write"))
	d.stop()
	d.cfg.Env = func(context.Context) (tool.Env, error) { return tool.Env{}, os.ErrNotExist }
	d.start()
	d.model.then(calls(use("a", "write", "{}")))
	d.ask("go", turn.Idle)
	if got := d.results()["a"]; !strings.Contains(got, os.ErrNotExist.Error()) {
		t.Error(got)
	}
}

func TestATurnHasALimitOfSteps(t *testing.T) {
	d := newDesk(t, echo("write"))
	for range 250 {
		d.model.then(calls(use("a", "write", "{}")))
	}
	d.ask("go", turn.Failed)
	if s := d.now(); s.Code != turn.CodeSteps || len(d.model.seen()) != 200 {
		t.Errorf("code %q after %d requests", s.Code, len(d.model.seen()))
	}
}

func TestAFailedRequestSaysWhatToDo(t *testing.T) {
	for kind, want := range map[model.ErrorKind]string{
		model.ErrAuth: "settings", model.ErrNetwork: "network", model.ErrRateLimit: "30 seconds", model.ErrQuota: "billing",
		model.ErrOverloaded: "Wait", model.ErrServer: "Wait", model.ErrOverflow: "larger context", model.ErrNotFound: "another model", model.ErrBadRequest: "another model",
	} {
		d := newDesk(t)
		d.model.then(fails(&model.Error{Kind: kind, Message: "because", RetryAfter: 30 * time.Second}))
		d.ask("go", turn.Failed)
		s := d.now()
		if s.Code != string(kind) || !strings.Contains(s.Error, want) || !strings.Contains(s.Error, "because") {
			t.Errorf("%s: code %q: %s", kind, s.Code, s.Error)
		}
		end := d.log.State().LastEnd
		if end == nil || end.End != transcript.Failed || end.Code != string(kind) || end.Error != s.Error {
			t.Errorf("%s: %+v", kind, end)
		}
		d.restart()
		if s := d.now(); s.State != turn.Failed || s.Code != string(kind) {
			t.Errorf("after a restart: %+v", s)
		}
		d.stop()
	}
}

func TestAModelThatCannotBeUsedSaysWhy(t *testing.T) {
	d := newDesk(t)
	d.stop()
	d.cfg.Resolve = func(context.Context, turn.Choice) (turn.Endpoint, error) {
		return turn.Endpoint{}, fmt.Errorf("add a key for x in settings")
	}
	d.start()
	d.ask("go", turn.Failed)
	if s := d.now(); s.Code != turn.CodeModel || s.Error != "add a key for x in settings" {
		t.Errorf("%+v", s)
	}
}

func TestOurOwnPanicFailsTheTurnAndNotTheProcess(t *testing.T) {
	d := newDesk(t)
	d.stop()
	events := d.cfg.Events
	var once sync.Once
	d.cfg.Events = func(e turn.Event) {
		events(e)
		if e.Stream != nil {
			once.Do(func() { panic("in the owner") })
		}
	}
	d.start()
	d.ask("go", turn.Failed)
	if s := d.now(); s.Code != turn.CodeInternal {
		t.Errorf("%+v", s)
	}
	d.ask("again", turn.Idle)
}

func TestTodosAreRecordedBeforeTheToolGoesOn(t *testing.T) {
	todos := []tool.Todo{{Content: "x", Status: "pending"}}
	var d *desk
	plan := fakeTool{name: "todo", readOnly: true, run: func(_ context.Context, c tool.Call) tool.Result {
		c.Env.SaveTodos(todos)
		if diff := cmp.Diff(todos, d.log.State().Todos); diff != "" {
			t.Error(diff)
		}
		return tool.Result{Detail: tool.Detail{Todos: todos}}
	}}
	d = newDesk(t, plan)
	d.model.then(calls(use("a", "todo", "{}")))
	d.ask("go", turn.Idle)
	d.restart()
	if diff := cmp.Diff(todos, d.log.State().Todos); diff != "" {
		t.Error(diff)
	}
}

func TestImagesOfAResultGoToTheBlobsAndBackIntoRequests(t *testing.T) {
	png := onePixel(t)
	shot := fakeTool{name: "shot", readOnly: true, run: func(context.Context, tool.Call) tool.Result {
		return tool.Result{Parts: []model.Part{{Kind: model.File, Mime: "image/png", Data: png}}}
	}}
	d := newDesk(t, shot)
	d.model.then(calls(use("a", "shot", "{}")))
	d.ask("go", turn.Idle)
	d.restart()
	d.ask("more", turn.Idle)
	for i, req := range d.model.seen()[1:] {
		if got := req.Messages[2].Parts[0].Parts[0]; string(got.Data) != string(png) || got.Blob == "" {
			t.Errorf("request %d: %+v", i+1, got)
		}
	}
}
