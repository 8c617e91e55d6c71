package turn_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carrel/agent/model"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
)

// With these set the test binary is a core that dies: at the record of that seq, or, at 0, while
// it streams.
const (
	childDir = "TURN_TEST_DIR"
	childEnd = "TURN_TEST_DIE_AT"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		at, err := strconv.ParseUint(os.Getenv(childEnd), 10, 64)
		if err != nil {
			panic(err)
		}
		dieAt(dir, at)
	}
	if dir := os.Getenv(childAsks); dir != "" {
		askAndWait(dir)
	}
	os.Exit(m.Run())
}

// effect is a tool whose runs are seen in a file, over crashes.
func effect(dir string, readOnly bool, name string) fakeTool {
	return fakeTool{name: name, readOnly: readOnly, run: func(_ context.Context, c tool.Call) tool.Result {
		f, err := os.OpenFile(filepath.Join(dir, "effects"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return tool.Fail(err.Error())
		}
		_, err = fmt.Fprintln(f, c.ID)
		if err := f.Close(); err != nil {
			return tool.Fail(err.Error())
		}
		if err != nil {
			return tool.Fail(err.Error())
		}
		return tool.Text("ran " + c.ID)
	}}
}

// died is a testing.TB for a process that is no test.
type died struct{ testing.TB }

func (died) Helper()           {}
func (died) Cleanup(func())    {}
func (died) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

func dieAt(dir string, seq uint64) {
	d := deskIn(died{}, dir)
	d.stop()
	events := d.cfg.Events
	d.cfg.Events = func(e turn.Event) {
		if e.Record != nil && e.Record.Seq == seq {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		events(e)
	}
	queued := make(chan struct{})
	first := effect(dir, false, "first")
	run := first.run
	first.run = func(ctx context.Context, c tool.Call) tool.Result {
		<-queued
		return run(ctx, c)
	}
	d.cfg.Tools = []tool.Tool{first, effect(dir, false, "write"), effect(dir, true, "read")}
	d.start()
	if seq == 0 {
		d.model.then(ticks)
	} else {
		d.model.then(calls(use("w1", "first", "{}"), use("r1", "read", "{}"), use("w2", "write", "{}")))
	}
	d.post("1", "go")
	d.post("2", "A")
	if err := d.Send(context.Background(), turn.Message{ID: "3", Text: "B", Dispatch: turn.AfterTurn}); err != nil {
		panic(err)
	}
	close(queued)
	select {}
}

// ticks streams the milliseconds since its start for ever, and prints them.
func ticks(_ context.Context, emit func(model.Event)) (*model.Message, error) {
	m := &model.Message{Role: model.Assistant, Parts: []model.Part{{Kind: model.Text}}}
	start := time.Now()
	for tick := range time.NewTicker(10 * time.Millisecond).C {
		word := fmt.Sprintf("%d ", tick.Sub(start).Milliseconds())
		m.Parts[0].Text += word
		emit(model.Event{Type: model.PartDelta, Kind: model.Text, Delta: word, Message: m})
		fmt.Println(word)
	}
	return m, nil
}

func child(t *testing.T, dir string, at uint64) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childEnd+"="+strconv.FormatUint(at, 10))
	cmd.Stderr = os.Stderr
	return cmd
}

func TestKillAtEachRecordRunsNothingTwiceAndLosesNoMessage(t *testing.T) { // O-LLM-01, O-DATA-01, O-DESK-04
	for at := uint64(1); at <= 20; at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			dir := t.TempDir()
			if err := child(t, dir, at).Run(); err == nil || !strings.Contains(err.Error(), "killed") {
				t.Fatal(err)
			}
			d := deskIn(t, dir, effect(dir, false, "first"), effect(dir, false, "write"), effect(dir, true, "read"))
			if st := d.log.State(); st.Turn != "" || len(st.Calls) != 0 || st.Damaged != 0 || st.Torn != "" {
				t.Errorf("%+v", st)
			}
			s := d.now()
			answered := at == 14 || at == 19 // but for the end of the turn
			if open := at != 15 && at != 20 && !answered; open != (s.State == turn.Interrupted) {
				t.Errorf("state %q", s.State)
			}
			if answered {
				if err := d.Retry(context.Background()); !errors.Is(err, turn.ErrNothing) {
					t.Errorf("an answered turn is repeated: %v", err)
				}
			}
			if s.Held != (len(s.Queue) > 0) {
				t.Errorf("held %v with %d queued", s.Held, len(s.Queue))
			}
			d.post("4", "continue")
			d.wait("the queue to end", idle)
			checkOnce(t, d, dir, at)
		})
	}
}

// checkOnce fails unless calls and messages happened once, and requests say how each call ended.
func checkOnce(t *testing.T, d *desk, dir string, at uint64) {
	t.Helper()
	ran, err := os.ReadFile(filepath.Join(dir, "effects"))
	if err != nil && at > 6 {
		t.Error(err)
	}
	for _, id := range []string{"w1", "r1", "w2"} {
		n := strings.Count(string(ran), id)
		if n > 1 {
			t.Errorf("%s ran %d times", id, n)
		}
		if got := d.results()[id]; strings.HasPrefix(got, transcript.NotStarted) && n != 0 || strings.HasPrefix(got, "ran") && n != 1 {
			t.Errorf("%s ran %d times, but its result is %q", id, n, got)
		}
	}
	sent := d.users()
	if at >= 7 { // A and B were queued before the first call's result
		slices.Sort(sent)
		if diff := cmp.Diff([]string{"A", "B", "continue", "go"}, sent); diff != "" {
			t.Error(diff)
		}
	}
	for _, r := range d.model.seen() {
		if at >= 5 {
			checkPaired(t, r, "w1", "r1", "w2")
		} else {
			checkPaired(t, r)
		}
	}
}

func TestAKillWhileStreamingLosesAtMostHalfASecond(t *testing.T) { // O-DATA-01
	dir := t.TempDir()
	cmd := child(t, dir, 0)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	last := 0
	for last < 1400 && lines.Scan() {
		if last, err = strconv.Atoi(strings.TrimSpace(lines.Text())); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	d := deskIn(t, dir)
	d.post("4", "continue")
	d.wait("the answer", is(turn.Idle))
	msgs := d.model.seen()[0].Messages
	if len(msgs) < 2 || msgs[1].Role != model.Assistant {
		t.Fatalf("%+v", msgs)
	}
	words := strings.Fields(msgs[1].Parts[0].Text)
	if kept, err := strconv.Atoi(words[len(words)-1]); err != nil || kept < last-500 {
		t.Errorf("killed at %d ms, kept up to %d ms, %v", last, kept, err)
	}
}
