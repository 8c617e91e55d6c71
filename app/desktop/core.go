package desktop

import (
	"context"

	"carrel/app/wire"
)

// coreControl is what the window's own page can do about the core.
type coreControl interface {
	wire.Caller
	wait(ctx context.Context, after uint64) State
	again()
	tail() string
	restart(ctx context.Context) error
}

// Core is bound for the window's own page.
type Core struct {
	guard *guard
	core  coreControl
}

// State returns how the core is, once it is newer than the revision that the page has seen or after
// a while.
func (s *Core) State(secret string, after uint64) (State, error) {
	return guarded(s.guard, secret, func(ctx context.Context) (State, error) { return s.core.wait(ctx, after), nil })
}

// Retry starts the core again after it failed to.
func (s *Core) Retry(secret string) (Done, error) {
	return guarded(s.guard, secret, func(context.Context) (Done, error) { s.core.again(); return Done{}, nil })
}

// Log returns the end of the core's log.
func (s *Core) Log(secret string) (string, error) {
	return guarded(s.guard, secret, func(context.Context) (string, error) { return s.core.tail(), nil })
}

// Restart interrupts what runs, ends the core, also one that does not answer, and starts a new one.
func (s *Core) Restart(secret string) (Done, error) {
	return guarded(s.guard, secret, func(ctx context.Context) (Done, error) { return Done{}, s.core.restart(ctx) })
}

// services returns everything that is bound: one service for each noun, and the core itself.
func services(g *guard, core coreControl) []any {
	return []any{
		&Projects{g}, &Workspaces{g}, &Worktrees{g}, &Conversations{g}, &Terminals{g}, &Sandbox{g}, &ComputerUse{g},
		&Core{g, core},
	}
}
