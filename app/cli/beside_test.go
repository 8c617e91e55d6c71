//go:build linux

package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"carrel/agent/model/fakewire"
	"carrel/app"
	"carrel/app/attach"
	"carrel/app/wire"
	"carrel/store"
)

// onlooker is a host of a core that runs beside `carrel run`.
type onlooker struct {
	t      *testing.T
	client *wire.Client

	mu      sync.Mutex
	changed *sync.Cond
	events  []wire.Event
}

// look starts a core on the place's root and attaches a host to it.
func (p *place) look() *onlooker {
	p.t.Helper()
	serve := p.start("serve", "--port", "0")
	p.t.Cleanup(func() {
		_ = serve.Process.Kill()
		_ = serve.Wait() // it was killed
		if p.t.Failed() {
			p.t.Logf("the core said: %s", serve.errOut)
		}
	})
	root, err := store.Open(p.root)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = root.Close() })
	eventually(p.t, "the core", func() bool { _, err := attach.Find(p.t.Context(), root); return err == nil })
	o := &onlooker{t: p.t}
	o.changed = sync.NewCond(&o.mu)
	o.client, err = wire.Dial(p.t.Context(), wire.ClientOptions{Role: wire.CLI, Version: app.Version(), Events: o.event,
		Find: func(ctx context.Context) (wire.Address, error) {
			c, err := attach.Find(ctx, root)
			return wire.Address{URL: c.URL, Token: c.Token}, err
		}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = o.client.Close() })
	return o
}

func (o *onlooker) event(e wire.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, e)
	o.changed.Broadcast()
}

func (o *onlooker) call(name string, in, out any) {
	o.t.Helper()
	if err := o.client.Call(o.t.Context(), name, in, out); err != nil {
		o.t.Fatalf("%s: %v", name, err)
	}
}

// workspace is what the core says of a workspace now.
func (o *onlooker) workspace(id string) app.Workspace {
	o.t.Helper()
	var all []app.Workspace
	o.call("workspaces.list", app.ListWorkspaces{}, &all)
	for _, w := range all {
		if w.ID == id {
			return w
		}
	}
	o.t.Fatalf("no workspace %s", id)
	return app.Workspace{}
}

// sees waits for an event of a kind that satisfies ok, among those that came already too.
func sees[E app.Event](o *onlooker, what string, ok func(E) bool) E {
	o.t.Helper()
	var zero E
	expired := time.AfterFunc(60*time.Second, o.changed.Broadcast)
	defer expired.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for start, seen := time.Now(), 0; ; o.changed.Wait() {
		for ; seen < len(o.events); seen++ {
			if o.events[seen].Name != zero.EventName() {
				continue
			}
			var e E
			if err := json.Unmarshal(o.events[seen].Data, &e); err != nil {
				o.t.Fatal(err)
			}
			if ok(e) {
				return e
			}
		}
		if time.Since(start) > 59*time.Second {
			for _, e := range o.events {
				o.t.Logf("%s %s", e.Name, e.Data)
			}
			o.t.Fatalf("did not see %s", what)
		}
	}
}

// held is a turn that speaks, runs a command, and then ends when told to.
func held() (fakewire.Script, func()) {
	end := make(chan struct{})
	return fakewire.Steps(
		fakewire.Reply{Text: "I look.", Calls: []fakewire.Call{bash("echo found")}},
		fakewire.Reply{Text: "The end.", Block: end},
	), sync.OnceFunc(func() { close(end) })
}

func working(a app.Activity) bool {
	return a == app.Streaming || a == app.RunningTools || a == app.Preparing
}

// TestARunningCoreShowsARunLive: the hosts of a core see the workspace of `carrel run`, that it works,
// and its messages while it does; when it has ended the conversation is the core's.
func TestARunningCoreShowsARunLive(t *testing.T) { // O-GIT-23
	t.Parallel()
	script, end := held()
	p := newPlace(t, script)
	o := p.look()
	run := p.start("run", "--quiet", "--runtime", "worktree", "Beside")
	w := sees(o, "the workspace at work", func(e app.WorkspaceChanged) bool {
		return e.Workspace.Title == "Beside" && e.Workspace.Elsewhere && working(e.Workspace.Activity)
	}).Workspace

	o.client.Join("conversation/" + w.ID)
	var c app.Conversation
	o.call("conversations.open", app.ByID{ID: w.ID}, &c)
	if !working(c.Status.Activity) || len(c.Entries) == 0 || c.Entries[0].Text != "Beside" {
		t.Errorf("opened: %s, %+v", c.Status.Activity, c.Entries)
	}
	if last := c.Entries[len(c.Entries)-1]; last.Text != "The end." {
		sees(o, "the run's text", func(e app.EntryChanged) bool { return e.Entry.Text == "The end." && e.Entry.Live })
	}
	err := o.client.Call(t.Context(), "conversations.send", app.SendMessage{Workspace: w.ID, Text: "Mine", ID: "m"}, nil)
	if err == nil || !strings.Contains(err.Error(), "Another carrel process") {
		t.Errorf("a message into another's turn: %v", err)
	}

	end()
	out, _ := io.ReadAll(run.out)
	if err := run.Wait(); err != nil || string(out) != "The end.\n" {
		t.Errorf("%v: %q %s", err, out, run.errOut)
	}
	eventually(t, "the core's taking over", func() bool { return !o.workspace(w.ID).Elsewhere })
	if now := o.workspace(w.ID); now.Activity != app.Done {
		t.Errorf("after the run it is %s", now.Activity)
	}
	o.call("conversations.send", app.SendMessage{Workspace: w.ID, Text: "Mine", ID: "m"}, nil)
	eventually(t, "the core's own turn", func() bool { return o.workspace(w.ID).Activity == app.Done })

	// The core has it open now: a run goes through the core.
	if got := p.must("run", "--quiet", "--workspace", w.ID, "Through the core"); got != "The end.\n" {
		t.Errorf("through the core: %q", got)
	}
	lines := strings.Split(strings.TrimSpace(p.must("run", "--json", "--workspace", w.ID, "Once more")), "\n")
	if last := parse[map[string]any](t, lines[len(lines)-1]); last["end"] != "done" || last["result"] != "The end." {
		t.Errorf("as JSON, through the core: %v", last)
	}
}

func TestACoreTakesOverFromARunThatIsKilled(t *testing.T) {
	t.Parallel()
	script, end := held()
	defer end()
	p := newPlace(t, script)
	o := p.look()
	run := p.start("run", "--quiet", "Killed")
	w := sees(o, "the workspace at work", func(e app.WorkspaceChanged) bool { return e.Workspace.Elsewhere }).Workspace
	o.client.Join("conversation/" + w.ID)
	eventually(t, "the last text", func() bool {
		var c app.Conversation
		o.call("conversations.open", app.ByID{ID: w.ID}, &c)
		return len(c.Entries) > 0 && c.Entries[len(c.Entries)-1].Text == "The end."
	})
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	eventually(t, "the interruption", func() bool {
		now := o.workspace(w.ID)
		return !now.Elsewhere && now.Activity == app.Interrupted
	})
	var c app.Conversation
	o.call("conversations.open", app.ByID{ID: w.ID}, &c)
	if last := c.Entries[len(c.Entries)-1]; last.Kind != app.EntryTurnEnd {
		t.Errorf("the last entry is %+v", last)
	}
}

// TestAnInterruptReachesTheCore: a run that goes through the core is interrupted there.
func TestAnInterruptReachesTheCore(t *testing.T) {
	t.Parallel()
	script, end := held()
	defer end()
	p := newPlace(t, script)
	o := p.look()
	var project app.Project
	o.call("projects.add", app.AddProject{Path: p.repo}, &project)
	var w app.Workspace
	o.call("workspaces.create", app.NewWorkspace{ProjectID: project.ID, Name: "desk"}, &w)
	o.client.Join("conversation/" + w.ID)
	o.call("conversations.open", app.ByID{ID: w.ID}, nil)
	run := p.start("run", "--quiet", "--workspace", "desk", "Go")
	sees(o, "the last text", func(e app.EntryGrew) bool { return strings.HasPrefix(e.Text, "The end") })

	// Meanwhile another one is told that the agent works.
	if out, _, code := p.carrel("run", "--json", "--workspace", "desk", "Me too"); code != 1 || !strings.Contains(out, `"code":"busy"`) {
		t.Errorf("exit %d, %s", code, out)
	}
	if err := run.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	if code := run.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit %d; %s", code, run.errOut)
	}
	sees(o, "the interruption", func(e app.ConversationChanged) bool { return e.Status.Activity == app.Interrupted })
}
