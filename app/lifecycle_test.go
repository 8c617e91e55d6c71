package app_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"carrel/app"
)

// sleeping is a workspace whose agent runs a long command.
func (h *house) sleeping(name string) app.Workspace {
	h.t.Helper()
	w := h.plainDesk(name)
	h.send(w, "slow please")
	h.wait("the sleep to run", func(e app.Event) bool {
		c, ok := e.(app.EntryChanged)
		return ok && c.Workspace == w.ID && runningSleep(e)
	})
	return w
}

func TestClosingWithManyRunningCommandsTakesLittleTime(t *testing.T) {
	h := newHouse(t)
	var all []app.Workspace
	for i := range 20 {
		w := h.plainDesk(fmt.Sprintf("desk%d", i))
		h.send(w, "slow please")
		all = append(all, w)
	}
	for _, w := range all {
		h.wait("the sleep to run", func(e app.Event) bool {
			c, ok := e.(app.EntryChanged)
			return ok && c.Workspace == w.ID && runningSleep(e)
		})
	}
	start := time.Now()
	h.stop()
	if took := time.Since(start); took > 15*time.Second { // the commands take 20
		t.Errorf("closing took %v", took)
	}
	if left := processesIn(t, filepath.Dir(all[0].Dir)); left != "" {
		t.Errorf("left running: %s", left)
	}
	ctx := context.Background()
	if _, err := h.api.Conversations.Open(ctx, app.ByID{ID: all[0].ID}); code(err) != "closing" {
		t.Errorf("opening after the end: %v", err)
	}
	h.stop() // twice is harmless
}

// processesIn lists sleeps whose working folder is below dir.
func processesIn(t *testing.T, dir string) string {
	t.Helper()
	if _, err := exec.LookPath("pgrep"); err != nil {
		t.Fatal("pgrep is not installed")
	}
	out, _ := exec.Command("pgrep", "-x", "sleep").Output()
	var left []string
	for pid := range strings.FieldsSeq(string(out)) {
		if cwd, err := os.Readlink("/proc/" + pid + "/cwd"); err == nil && strings.HasPrefix(cwd, dir) {
			left = append(left, pid)
		}
	}
	return strings.Join(left, " ")
}

func TestClosingWithoutTimeReturnsAtOnce(t *testing.T) {
	h := newHouse(t)
	h.sleeping("hurry")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	start := time.Now()
	if err := h.app.Close(ctx); err == nil {
		t.Log("closed in no time")
	}
	if took := time.Since(start); took > 10*time.Second { // the command takes 20
		t.Errorf("closing took %v", took)
	}
}

func TestClosingWhileConversationsOpen(t *testing.T) {
	h := newHouse(t)
	var ids []string
	for i := range 8 {
		ids = append(ids, h.plainDesk(fmt.Sprintf("desk%d", i)).ID)
	}
	var all sync.WaitGroup
	for _, id := range ids {
		all.Go(func() {
			_, err := h.api.Conversations.Open(context.Background(), app.ByID{ID: id})
			if c := code(err); err != nil && c != "closing" && c != "closed" {
				t.Errorf("opening while closing: %v", err)
			}
		})
	}
	h.stop()
	all.Wait()
}

func TestDeletingWhileATurnRunsAndHostsLook(t *testing.T) {
	h := newHouse(t)
	w := h.sleeping("doomed")
	ctx, stop := context.WithCancel(context.Background())
	var hosts sync.WaitGroup
	for range 4 {
		hosts.Go(func() {
			for ctx.Err() == nil {
				_, err := h.api.Conversations.Open(ctx, app.ByID{ID: w.ID})
				if c := code(err); err != nil && c == "" && !errors.Is(err, context.Canceled) {
					t.Errorf("looking: %v", err)
				}
				err = h.api.Conversations.Send(ctx, app.SendMessage{Workspace: w.ID, Text: "still there?"})
				if c := code(err); err != nil && c == "" && !errors.Is(err, context.Canceled) {
					t.Errorf("sending: %v", err)
				}
			}
		})
	}
	err := h.api.Workspaces.Delete(context.Background(), app.DeleteWorkspace{ID: w.ID, Confirm: w.Name})
	stop()
	hosts.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(h.root.Path("sessions", w.ID)); err == nil {
		t.Error("its conversation was made again")
	}
	if _, err := h.api.Conversations.Open(context.Background(), app.ByID{ID: w.ID}); code(err) != "not_found" {
		t.Errorf("opening what is gone: %v", err)
	}
}

func TestRemovingAProjectStopsWhatItsLocalWorkspacesDo(t *testing.T) {
	h := newHouse(t)
	w := h.sleeping("local")
	if err := h.api.Projects.Remove(context.Background(), app.ByID{ID: w.ProjectID}); err != nil {
		t.Fatal(err)
	}
	h.wait("the end", ended(w.ID, app.Interrupted))
	if h.app.Busy() {
		t.Error("still busy")
	}
	if left := processesIn(t, w.Dir); left != "" {
		t.Errorf("left running: %s", left)
	}
}

func TestARefusedRemovalStopsNothing(t *testing.T) {
	h := newHouse(t)
	p, tree := h.desk(app.NewWorkspace{Name: "tree"})
	ctx := context.Background()
	local, err := h.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: p.ID, Name: "local", Runtime: "local"})
	if err != nil {
		t.Fatal(err)
	}
	h.send(local, "slow please")
	h.wait("the sleep to run", runningSleep)
	if err := h.api.Projects.Remove(ctx, app.ByID{ID: p.ID}); code(err) != "project_has_workspaces" {
		t.Fatalf("removing a project with %s: %v", tree.Name, err)
	}
	if !h.app.Busy() {
		t.Error("the turn was stopped")
	}
}

func TestAWorkspaceIsNotRenamedUnderARunningTurn(t *testing.T) {
	h := newHouse(t)
	_, w := h.desk(app.NewWorkspace{Name: "old"})
	h.send(w, "slow please")
	h.wait("the sleep to run", runningSleep)
	ctx := context.Background()
	if _, err := h.api.Workspaces.Rename(ctx, app.RenameWorkspace{ID: w.ID, Name: "new"}); code(err) != "busy" {
		t.Errorf("renaming: %v", err)
	}
	titled, err := h.api.Workspaces.Rename(ctx, app.RenameWorkspace{ID: w.ID, Title: "A\nbetter\x1b[31m title"})
	if err != nil || titled.Title != "A better [31m title" {
		t.Errorf("the title is %q, %v", titled.Title, err)
	}
	if err := h.api.Conversations.Interrupt(ctx, app.ByID{ID: w.ID}); err != nil {
		t.Fatal(err)
	}
	renamed, err := h.api.Workspaces.Rename(ctx, app.RenameWorkspace{ID: w.ID, Name: "new"})
	if err != nil || filepath.Base(renamed.Dir) != "new" {
		t.Fatalf("renamed to %s, %v", renamed.Dir, err)
	}
	h.send(w, "Go on") // in the new folder
	h.wait("the turn to end", ended(w.ID, app.Done))
}

func TestArchivingEndsTheConversationAndKeepsIt(t *testing.T) {
	h := newHouse(t)
	w := h.sleeping("kept")
	ctx := context.Background()
	gone, cancel := context.WithCancel(ctx)
	cancel() // the host that asked went away
	if _, err := h.api.Workspaces.Archive(gone, app.ByID{ID: w.ID}); err == nil {
		t.Log("archived all the same")
	}
	archived, err := h.api.Workspaces.Archive(ctx, app.ByID{ID: w.ID})
	if err != nil || archived.ArchivedAt == nil || archived.Activity != app.Interrupted {
		t.Fatalf("%+v, %v", archived, err)
	}
	if err := h.api.Conversations.Send(ctx, app.SendMessage{Workspace: w.ID, Text: "hello"}); code(err) != "archived" {
		t.Errorf("sending: %v", err)
	}
	if c := h.snapshot(w); len(c.Entries) == 0 {
		t.Error("the conversation is gone")
	}
	back, err := h.api.Workspaces.Unarchive(ctx, app.ByID{ID: w.ID})
	if err != nil || back.ArchivedAt != nil {
		t.Fatalf("%+v, %v", back, err)
	}
}
