package app

import (
	"context"
	"errors"

	"carrel/workspaces"
)

// Stake is work that runs: what a person who quits should know of.
type Stake struct {
	Kind      string `json:"kind"` // turn: an agent works; waiting: it waits for the person; hook: a workspace is being set up
	Workspace string `json:"workspace"`
	Title     string `json:"title"`
}

// QuitArgs says how the window is left.
type QuitArgs struct {
	// Stop interrupts the agents' turns; without it they go on while no window is open.
	Stop bool `json:"stop,omitempty"`
}

// maxStakes bounds what AtStake lists.
const maxStakes = 200

// AtStake lists the work that runs.
func (s system) AtStake(ctx context.Context) ([]Stake, error) {
	all, err := s.app.registry.Workspaces(ctx)
	if err != nil {
		return nil, userError(err)
	}
	turns := map[string]string{}
	for _, one := range s.app.open() {
		if one.busy() {
			turns[one.id] = "turn"
			if one.current().Question != nil {
				turns[one.id] = "waiting"
			}
		}
	}
	out := []Stake{}
	for _, w := range all {
		kind := turns[w.ID]
		if kind == "" && w.ArchivedAt == nil && (w.Creating || w.Init == workspaces.InitRunning) {
			kind = "hook"
		}
		if kind != "" && len(out) < maxStakes {
			out = append(out, Stake{Kind: kind, Workspace: w.ID, Title: w.Title})
		}
	}
	return out, nil
}

// Quit closes the attached window. What works in the core goes on, unless it is to be stopped; the core
// ends by itself when nothing works and nobody looks.
func (s system) Quit(ctx context.Context, args QuitArgs) error {
	w, err := s.window()
	if err != nil {
		return err
	}
	if args.Stop {
		var failed []error
		for _, one := range s.app.open() {
			if one.busy() {
				failed = append(failed, conversations(s).Interrupt(ctx, ByID{ID: one.id}))
			}
		}
		if err := errors.Join(failed...); err != nil {
			return userError(err)
		}
	}
	return w.Close(ctx)
}
