package demo

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"carrel/agent/model"
	"carrel/agent/tool"
	"carrel/workspaces/runtime"
)

// desk plays the real tools on a real folder. Git knows no author there.
type desk struct {
	t   *testing.T
	dir string
	env []string
	rt  runtime.Runtime
}

func (d *desk) run(p model.Part) (parts []model.Part, failed bool) {
	d.t.Helper()
	found, ok := tool.Find(tool.Builtin(), p.Name)
	if !ok {
		d.t.Fatalf("no tool %q", p.Name)
	}
	r := found.Run(d.t.Context(), tool.Call{ID: p.CallID, Input: json.RawMessage(p.Input), Env: tool.Env{Runtime: d.rt, SpillDir: d.t.TempDir()}})
	return r.Parts, r.IsError
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=/", "LC_ALL=C"}}
	var err error
	if d.rt, err = runtime.NewLocal(runtime.Worktree, d.dir, runtime.Options{Env: d.env, Tag: "demo"}); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) git(args ...string) string {
	d.t.Helper()
	c := exec.Command("git", args...)
	c.Dir, c.Env = d.dir, d.env
	out, err := c.CombinedOutput()
	if err != nil {
		d.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// turn plays a whole turn and gives the calls and the last text.
func (d *desk) turn(history *[]model.Message, prompt string) (calls []model.Part, last string) {
	d.t.Helper()
	*history = append(*history, model.Message{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: prompt}}})
	s := New(Options{Delay: NoDelay})
	for range 10 {
		m, err := s.Stream(context.Background(), request(*history), nil)
		if err != nil {
			d.t.Fatal(err)
		}
		*history = append(*history, *m)
		last = m.Parts[0].Text
		run := model.Runnable(m)
		if len(run) == 0 {
			return calls, last
		}
		parts, failed := d.run(run[0])
		calls = append(calls, run[0])
		*history = append(*history, model.Message{Role: model.ToolRole, Parts: []model.Part{{Kind: model.ToolResult,
			CallID: run[0].CallID, IsError: failed, Parts: parts}}})
	}
	d.t.Fatal("the turn does not end")
	return nil, ""
}

func request(history []model.Message) *model.Request {
	r := &model.Request{Model: "demo", Messages: history}
	for _, t := range tool.Builtin() {
		r.Tools = append(r.Tools, model.Tool{Name: t.Spec().Name})
	}
	return r
}

func names(calls []model.Part) string {
	var out []string
	for _, c := range calls {
		out = append(out, stepOf(c.CallID))
	}
	return strings.Join(out, " ")
}

func TestTurnReadsEditsChecksAndCommits(t *testing.T) {
	d := newDesk(t)
	d.git("init", "-q", "-b", "topic")
	if err := os.WriteFile(filepath.Join(d.dir, "README.md"), []byte("# hi\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.git("add", ".")
	d.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")

	var history []model.Message
	calls, last := d.turn(&history, "please `do` something\nsecond line")
	if got := names(calls); got != "look read edit check commit" {
		t.Fatalf("steps %q", got)
	}
	if !strings.Contains(history[1].Parts[0].Text, "demo model") || !strings.Contains(last, "`topic`") {
		t.Errorf("first text %q, last %q", history[1].Parts[0].Text, last)
	}
	if got := d.git("status", "--porcelain"); got != "" {
		t.Errorf("left behind: %s", got)
	}
	if got := d.git("show", "--stat", "--format=%an", "HEAD"); !strings.Contains(got, "DEMO.md") {
		t.Errorf("the commit holds %s", got)
	}

	calls, _ = d.turn(&history, "more")
	if got := names(calls); got != "look read edit check commit" {
		t.Fatalf("steps of the second turn %q", got)
	}
	b, err := os.ReadFile(filepath.Join(d.dir, "DEMO.md"))
	if err != nil || strings.Count(string(b), "- Asked:") != 2 {
		t.Errorf("DEMO.md is %q, %v", b, err)
	}
	if got := strings.Count(d.git("log", "--oneline"), "\n"); got != 3 {
		t.Errorf("%d commits", got)
	}
}

func TestTurnLeavesGitOutWhereThereIsNone(t *testing.T) {
	d := newDesk(t)
	var history []model.Message
	calls, last := d.turn(&history, "hi")
	if got := names(calls); got != "look edit check" || !strings.Contains(last, "no git repository") {
		t.Fatalf("steps %q, last text %q", got, last)
	}
}

func TestCommitLeavesStagedWorkAlone(t *testing.T) {
	d := newDesk(t)
	d.git("init", "-q")
	if err := os.WriteFile(filepath.Join(d.dir, "mine.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.git("add", "mine.txt")
	var history []model.Message
	d.turn(&history, "hi")
	if got := d.git("status", "--porcelain"); got != "A  mine.txt\n" {
		t.Errorf("status %q", got)
	}
}

func TestSomebodyElsesDemoFileIsLeftAlone(t *testing.T) {
	d := newDesk(t)
	theirs := filepath.Join(d.dir, "DEMO.md")
	if err := os.WriteFile(theirs, []byte("theirs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var history []model.Message
	d.turn(&history, "hi")
	if b, err := os.ReadFile(theirs); err != nil || string(b) != "theirs\n" {
		t.Errorf("DEMO.md is %q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "DEMO-carrel.md")); err != nil {
		t.Error(err)
	}
}

func TestFailedStepEndsTheTurn(t *testing.T) {
	d := newDesk(t)
	d.git("init", "-q")
	if err := os.WriteFile(filepath.Join(d.dir, ".gitignore"), []byte("DEMO.md\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var history []model.Message
	calls, last := d.turn(&history, "hi")
	if got := names(calls); !strings.HasSuffix(got, "check") || !strings.Contains(last, "failed") {
		t.Errorf("steps %q, last text %q", got, last)
	}
}

func TestSlowMessageSleeps(t *testing.T) {
	s := New(Options{Delay: NoDelay})
	history := []model.Message{{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "a Slow one, please"}}}}
	m, err := s.Stream(context.Background(), request(history), nil)
	if err != nil {
		t.Fatal(err)
	}
	history = append(history, *m, model.Message{Role: model.ToolRole, Parts: []model.Part{{Kind: model.ToolResult, CallID: m.Parts[1].CallID}}})
	m, err = s.Stream(context.Background(), request(history), nil)
	if err != nil || !strings.Contains(m.Parts[1].Input, "sleep 20") {
		t.Fatalf("%+v, %v", m, err)
	}
}

func TestCancelKeepsWhatWasSaid(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	m, err := New(Options{Delay: NoDelay}).Stream(ctx, request([]model.Message{{Role: model.User, Parts: []model.Part{{Kind: model.Text, Text: "hi"}}}}),
		func(e model.Event) {
			if e.Type == model.PartDelta {
				if n++; n == 3 {
					cancel()
				}
			}
		})
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.ErrCancelled || m.Stop != model.StopCancelled || len(m.Parts) != 1 || !m.Parts[0].Open {
		t.Fatalf("%+v, %v", m, err)
	}
}
