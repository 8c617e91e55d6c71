package app_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"carrel/app"
)

func TestTheOrderOfTheSidebarOutlivesTheCore(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	p, first := h.desk(app.NewWorkspace{Name: "first"})
	second, err := h.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: p.ID, Name: "second", Parent: first.ID})
	if err != nil || second.Parent != first.ID {
		t.Fatalf("%+v %v", second, err)
	}
	third, err := h.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: p.ID, Name: "third"})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.api.Workspaces.Move(ctx, app.MoveBefore{ID: third.ID}); err != nil {
		t.Fatal(err)
	}
	h.wait("the move", func(e app.Event) bool {
		c, ok := e.(app.WorkspaceChanged)
		return ok && c.Workspace.ID == third.ID && c.Workspace.Position == 2
	})
	if w, err := h.api.Workspaces.Pin(ctx, app.PinWorkspace{ID: first.ID, Pinned: true}); err != nil || !w.Pinned || w.Position != 0 {
		t.Fatalf("%+v %v", w, err)
	}
	if err := h.api.Projects.Move(ctx, app.MoveBefore{ID: p.ID}); err != nil {
		t.Fatal(err)
	}
	if err := h.api.Workspaces.MarkUnseen(ctx, app.ByID{ID: third.ID}); err != nil {
		t.Fatal(err)
	}
	h.stop()
	h.forgetEvents()
	h.start()
	h.wait("the mark", becomes(third.ID, app.Done))
	if w := h.listed(first.ID); !w.Pinned {
		t.Errorf("%+v", w)
	}
	if w := h.listed(third.ID); w.Position != 2 || !w.Unread {
		t.Errorf("%+v", w)
	}
	if w := h.listed(second.ID); w.Parent != first.ID || w.Unread {
		t.Errorf("%+v", w)
	}
	if err := h.api.Workspaces.MarkSeen(ctx, app.ByID{ID: third.ID}); err != nil || h.listed(third.ID).Unread {
		t.Errorf("it stays unread: %v", err)
	}
	var known *app.Error
	for name, err := range map[string]error{
		"move": h.api.Workspaces.Move(ctx, app.MoveBefore{ID: "gone"}), "project": h.api.Projects.Move(ctx, app.MoveBefore{ID: "gone"}),
		"unseen": h.api.Workspaces.MarkUnseen(ctx, app.ByID{ID: "gone"}),
	} {
		if !errors.As(err, &known) || known.Code != "not_found" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEachKindOfWindowKeepsItsLayout(t *testing.T) {
	h := newHouse(t)
	ctx := context.Background()
	if l, err := h.api.System.Layout(ctx, app.LayoutOf{Host: "desktop"}); err != nil || l.Kept {
		t.Fatalf("%+v %v", l, err)
	}
	want := app.Layout{Host: "desktop", SidebarWidth: 300, RightWidth: 500, SidebarShown: true, RightTab: "costs", Workspace: "w", Folded: []string{"archived"}}
	if err := h.api.System.SetLayout(ctx, want); err != nil {
		t.Fatal(err)
	}
	h.stop()
	h.start()
	l, err := h.api.System.Layout(ctx, app.LayoutOf{Host: "desktop"})
	if err != nil || !l.Kept || l.SidebarWidth != 300 || l.RightShown || !slices.Equal(l.Folded, want.Folded) {
		t.Fatalf("%+v %v", l, err)
	}
	if l, err := h.api.System.Layout(ctx, app.LayoutOf{Host: "browser"}); err != nil || l.Kept {
		t.Fatalf("%+v %v", l, err)
	}
	long := strings.Repeat("x", 1<<16)
	for _, bad := range []app.Layout{
		{Host: "phone"}, {Host: "desktop", RightTab: long}, {Host: "desktop", Folded: []string{long}},
		{Host: "desktop", SidebarWidth: -1}, {Host: "desktop", RightWidth: 1 << 20}, {Host: "desktop", Folded: make([]string, 5000)},
	} {
		if err := h.api.System.SetLayout(ctx, bad); err == nil {
			t.Errorf("%.80v was kept", bad)
		}
	}
}
