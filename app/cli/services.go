package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/wire"
	"carrel/store"
	"carrel/workspaces/runtime"
)

// lockPoll is how often a command looks whether a core answers or the root is free.
const lockPoll = 50 * time.Millisecond

// services runs f with the services of the running core or, when there is none, with ones of our
// own for the moment, holding the root's lock so that no core starts meanwhile. An interrupt ends
// ctx, so that what f began is undone; a second one ends the process.
func services(ctx context.Context, io IO, f func(ctx context.Context, c wire.Caller) error) error {
	return withHost(ctx, io, func(ctx context.Context, h host) error { return f(ctx, h) })
}

// withHost is services for a command that follows events too.
func withHost(ctx context.Context, io IO, f func(ctx context.Context, h host) error) error {
	root, err := store.Open("")
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if root.SessionOf(runtime.StartedFor(io.Environ)) != "" {
		return attach.ErrAgent
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	err = onRoot(ctx, io, root, f)
	if err != nil && ctx.Err() != nil {
		return interruptedError()
	}
	return err
}

func onRoot(ctx context.Context, io IO, root *store.Root, f func(ctx context.Context, h host) error) error {
	for {
		if _, err := attach.Find(ctx, root); err == nil {
			h, err := dialHost(ctx, root)
			if err != nil {
				return err
			}
			defer h.close()
			return f(ctx, h)
		}
		lock, err := root.Lock()
		var held *store.LockedError
		if errors.As(err, &held) {
			select { // a core is starting or ending, or another command has the lock for a moment
			case <-ctx.Done():
				return fmt.Errorf("wait for process %d to let go of %s: %w", held.PID, root.Dir(), ctx.Err())
			case <-time.After(lockPoll):
			}
			continue
		}
		if err != nil {
			return err
		}
		defer func() { _ = lock.Close() }()
		return withApp(ctx, io, root, func(a *app.App) error {
			if err := a.Recover(ctx); err != nil {
				_, _ = fmt.Fprintln(io.Err, "carrel: put right what a crash left:", plain(err.Error()))
			}
			defer a.Subscribe(func(e app.Event) {
				if p, ok := e.(app.ProblemAppeared); ok && p.Problem.Code == app.CodeWorkspace {
					_, _ = fmt.Fprintln(io.Err, "carrel:", line(p.Problem.Message))
				}
			})()
			return f(ctx, newOwnHost(a))
		})
	}
}

// withApp runs f with an application of this process.
func withApp(ctx context.Context, io IO, root *store.Root, f func(*app.App) error) error {
	tell := func(p store.Problem) { _, _ = fmt.Fprintln(io.Err, "carrel:", line(p.Message)) }
	for _, p := range root.Problems() {
		tell(p)
	}
	root.OnProblem(tell) // a command may be the only one who ever hears of it
	a, err := app.New(app.Options{Root: root, Environ: io.Environ, ReaperArgv: reaper(io), Headless: true})
	if err != nil {
		return err
	}
	err = f(a)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if closed := a.Close(closing); err == nil {
		err = closed
	}
	return err
}
