package app_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"carrel/app"
)

// Hosts do everything at once. Nothing may hang, and every refusal has its reason.
func TestManyHostsDoEverythingAtOnce(t *testing.T) {
	h := newHouse(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p, _ := h.desk(app.NewWorkspace{Name: "base"})
	var ids []string
	for _, name := range []string{"one", "two", "three"} {
		kind := "local"
		if name == "three" {
			kind = "worktree"
		}
		w, err := h.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: p.ID, Name: name, Runtime: kind})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, w.ID)
	}
	var hosts sync.WaitGroup
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 4))
		hosts.Go(func() {
			for range 40 {
				id := ids[r.IntN(len(ids))]
				if err := anything(ctx, h.api, r, id); err != nil && code(err) == "" {
					t.Errorf("no reason given: %v", err)
				}
			}
		})
	}
	hosts.Wait()
	if ctx.Err() != nil {
		t.Fatal("something hung")
	}
}

func anything(ctx context.Context, api app.API, r *rand.Rand, id string) error {
	var err error
	one := app.ByID{ID: id}
	switch r.IntN(13) {
	case 0, 1, 2:
		err = api.Conversations.Send(ctx, app.SendMessage{Workspace: id, Text: "slow or not"})
	case 3:
		err = api.Conversations.Interrupt(ctx, one)
	case 4:
		err = api.Conversations.Release(ctx, one)
	case 5:
		_, err = api.Conversations.Open(ctx, one)
	case 6:
		_, err = api.Conversations.Page(ctx, app.PageRequest{Workspace: id, Before: 1 << 40, Limit: 5})
	case 7:
		_, err = api.Workspaces.Archive(ctx, one)
	case 8:
		_, err = api.Workspaces.Unarchive(ctx, one)
	case 9:
		_, err = api.Workspaces.Rename(ctx, app.RenameWorkspace{ID: id, Name: "name" + string(rune('a'+r.IntN(26)))})
	case 10:
		err = api.Workspaces.SetModel(ctx, app.SetModel{Workspace: id, Model: new("demo:demo")})
	case 11:
		err = api.Workspaces.MarkSeen(ctx, one)
	case 12:
		_, err = api.Workspaces.List(ctx, app.ListWorkspaces{Archived: true})
	}
	return err
}

func TestArchivingDuringTheInitHookEndsIt(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	dir := repository(t)
	started := filepath.Join(t.TempDir(), "started")
	if err := os.Mkdir(filepath.Join(dir, ".carrel"), 0o755); err != nil {
		t.Fatal(err)
	}
	hook := filepath.Join(dir, ".carrel", "init")
	write(t, hook, "#!/bin/sh\ntouch '"+started+"'\necho at work\nexec sleep 1000\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := h.api.Projects.Add(ctx, app.AddProject{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.api.Projects.SetTrust(ctx, app.SetTrust{ID: p.ID, Trusted: true}); err != nil {
		t.Fatal(err)
	}
	w, err := h.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: p.ID, Name: "hooked"})
	if err != nil {
		t.Fatal(err)
	}
	h.wait("the hook's output", func(e app.Event) bool {
		out, ok := e.(app.InitOutput)
		return ok && out.Workspace == w.ID && contains(out.Text, "at work")
	})
	if !h.app.Busy() {
		t.Error("an init hook runs, and the core is not busy")
	}
	start := time.Now()
	archived, err := h.api.Workspaces.Archive(ctx, app.ByID{ID: w.ID})
	if err != nil || archived.Init != app.InitFailed {
		t.Errorf("archived as %+v, %v", archived, err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	if left := processesIn(t, w.Dir); left != "" {
		t.Errorf("left running: %s", left)
	}
}
