package app_test

import (
	"testing"

	"carrel/app"
)

func TestWhoQuitsIsToldWhatRuns(t *testing.T) {
	h := newHouse(t)
	w, idle := h.plainDesk("busy"), h.plainDesk("idle")
	if all, err := h.api.System.AtStake(t.Context()); err != nil || len(all) != 0 {
		t.Fatalf("%+v %v", all, err)
	}
	if err := h.api.System.Quit(t.Context(), app.QuitArgs{}); said(t, err) != "no_window" {
		t.Errorf("without a window: %v", err)
	}
	window := &showing{}
	h.app.SetWindow(window)
	defer h.app.SetWindow(nil)
	h.send(w, "slow please")
	h.wait("the sleep to run", runningSleep)
	all, err := h.api.System.AtStake(t.Context())
	if err != nil || len(all) != 1 || all[0] != (app.Stake{Kind: "turn", Workspace: w.ID, Title: w.Title}) {
		t.Fatalf("%+v %v", all, err)
	}
	if err := h.api.System.Quit(t.Context(), app.QuitArgs{}); err != nil || window.closed != 1 {
		t.Fatalf("closed %d times, %v", window.closed, err)
	}
	if all, err := h.api.System.AtStake(t.Context()); err != nil || len(all) != 1 {
		t.Fatalf("it did not go on: %+v %v", all, err)
	}
	if err := h.api.System.Quit(t.Context(), app.QuitArgs{Stop: true}); err != nil || window.closed != 2 {
		t.Fatalf("closed %d times, %v", window.closed, err)
	}
	h.wait("the turn to be interrupted", ended(w.ID, app.Interrupted))
	if got := h.listed(idle.ID).Activity; got != app.Idle {
		t.Errorf("the idle one is %s", got)
	}
}
