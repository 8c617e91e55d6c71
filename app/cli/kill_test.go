//go:build linux

package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carrel/agent/model/fakewire"
	"carrel/app"
)

// saved is how much of what was shown a kill may lose.
const saved = 500 * time.Millisecond

// jsonLine is what tests read of a line of run --json.
type jsonLine struct {
	Type      string        `json:"type"`
	Workspace app.Workspace `json:"workspace"`
	Field     string        `json:"field"`
	Text      string        `json:"text"`
}

func parse[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}

// slowly is a turn that streams for about a second, runs a command, streams and ends.
func slowly() fakewire.Script {
	words := strings.Repeat("one two three four ", 12)
	turn := fakewire.Steps(
		fakewire.Reply{Text: "First " + words, Delay: 20 * time.Millisecond, Calls: []fakewire.Call{
			bash("echo started >> ran; sleep 0.3 & wait; echo ended >> ran"),
		}},
		fakewire.Reply{Text: "Second " + words, Delay: 20 * time.Millisecond},
	)
	return func(r fakewire.Request) fakewire.Reply {
		if strings.Contains(r.Prompt(), "Go on") { // one message with the first, where nothing was said between
			return fakewire.Reply{Text: "Gone on."}
		}
		return turn(r)
	}
}

// shown is text that the person saw, and when.
type shown struct {
	at   time.Time
	text string
}

// killAfter starts a run and kills it with SIGKILL after it has printed n lines, or d after the first.
func (p *place) killAfter(n int) (w app.Workspace, seen []shown) {
	p.t.Helper()
	run := p.start("run", "--json", "Do it")
	lines := bufio.NewScanner(run.out)
	lines.Buffer(nil, 1<<20)
	for i := 0; i < n && lines.Scan(); i++ {
		l := jsonLine{}
		if !strings.Contains(lines.Text(), `"type":"end"`) { // its workspace is an id
			l = parse[jsonLine](p.t, lines.Text())
		}
		switch {
		case l.Type == "start":
			w = l.Workspace
		case l.Type == "delta" && l.Field == "text":
			seen = append(seen, shown{time.Now(), l.Text})
		}
	}
	killed := time.Now()
	if err := run.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, run.out)
	_ = run.Wait()
	for i, s := range seen {
		if killed.Sub(s.at) < saved {
			return w, seen[:i]
		}
	}
	return w, seen
}

// O-DATA-01, O-LLM-01, O-BASH-03 (e)
func TestARunThatIsKilledLosesNothing(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 12, 30, 34, 36, 38, 40, 41, 50, 70} {
		t.Run(fmt.Sprintf("after line %d", n), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, slowly())
			w, seen := p.killAfter(n)
			p.noneLeft()
			ran, _ := os.ReadFile(filepath.Join(p.repo, "ran"))

			c := p.open(w.ID)
			if c.Status.Activity == app.Streaming || c.Status.Activity == app.RunningTools || c.Damaged > 0 {
				t.Errorf("it is %s, with %d damaged lines", c.Status.Activity, c.Damaged)
			}
			p.checkEntries(c, n, seen)

			p.must("run", "-q", "--workspace", w.ID, "Go on")
			again, _ := os.ReadFile(filepath.Join(p.repo, "ran"))
			if string(again) != string(ran) || strings.Count(string(ran), "started") > 1 {
				t.Errorf("it ran again: %q, then %q", ran, again)
			}
		})
	}
}

// checkEntries checks that a conversation has the message once and what was seen, and that its calls
// have ended.
func (p *place) checkEntries(c app.Conversation, n int, seen []shown) {
	p.t.Helper()
	said, text := 0, ""
	for _, e := range c.Entries {
		switch {
		case e.Kind == app.EntryUser:
			said++
		case e.Kind == app.EntryAssistant:
			text += e.Text
		case e.Tool != nil && (e.Tool.Status == app.ToolRunning || e.Live):
			p.t.Errorf("a call is open: %+v", e.Tool)
		}
	}
	if want := 1; n > 1 && said != want {
		p.t.Errorf("the message is there %d times", said)
	}
	want := ""
	for _, s := range seen {
		want += s.text
	}
	if !strings.HasPrefix(text, want) {
		p.t.Errorf("seen half a second before the kill: %q\nthere: %q", want, text)
	}
}

func TestARunThatIsKilledWhileItMakesItsWorktreeLeavesNoHalf(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fakewire.Steps(fakewire.Reply{Text: "Yes."}))
	for _, after := range []time.Duration{5, 15, 25, 35, 45, 55, 70, 90, 120} {
		run := p.start("run", "--runtime", "worktree", "Do it")
		kill := time.AfterFunc(after*time.Millisecond, func() { _ = run.Process.Kill() })
		_, _ = io.Copy(io.Discard, run.out)
		_ = run.Wait()
		kill.Stop()
	}
	p.must("run", "-q", "--runtime", "worktree", "Whole")
	for _, w := range p.workspaces() {
		if w.Health != app.Ready {
			t.Errorf("%s is %s: %s", w.Name, w.Health, w.HealthNote)
		}
		p.must("run", "-q", "--workspace", w.ID, "Go on")
	}
}

func TestRunsAtOnceInOneRepositoryAllSucceed(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fakewire.Steps(
		fakewire.Reply{Calls: []fakewire.Call{bash("echo x > made && git add made && git commit -qm Made")}},
		fakewire.Reply{Text: "Done."},
	))
	var runs []*started
	for range 8 {
		runs = append(runs, p.start("run", "--quiet", "--runtime", "worktree", "Same title"))
	}
	for _, run := range runs {
		out, _ := io.ReadAll(run.out)
		if err := run.Wait(); err != nil || string(out) != "Done.\n" {
			t.Errorf("%v: %q %s", err, out, run.errOut)
		}
	}
	branches := map[string]bool{}
	for _, w := range p.workspaces() {
		branches[w.Branch] = true
		if _, err := os.Stat(filepath.Join(w.Dir, "made")); err != nil {
			t.Error(err)
		}
	}
	if len(branches) != 8 {
		t.Errorf("branches %v", branches)
	}
}
