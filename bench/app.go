package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"carrel/app"
	"carrel/store"
)

// place is an application on a data root of its own, reached as a host reaches it, and the events
// that it has told.
type place struct {
	*app.App
	api  app.API
	root *store.Root

	mu     sync.Mutex
	events []app.Event
	news   chan struct{} // closed at the next event
}

// eventWait bounds the waiting for one event.
const eventWait = 2 * time.Minute

func (b *bench) open(ctx context.Context, name string, headless bool) (*place, error) {
	carrel, err := b.carrel(ctx)
	if err != nil {
		return nil, err
	}
	dir := b.path(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	a, err := app.New(app.Options{Root: root, Environ: b.env(), ReaperArgv: []string{carrel, "helper", "reap"}, Headless: headless})
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	p := &place{App: a, api: a.API(), root: root, news: make(chan struct{})}
	a.Subscribe(p.hear)
	return p, nil
}

func (p *place) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return errors.Join(p.Close(ctx), p.root.Close())
}

func (p *place) hear(e app.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, e)
	close(p.news)
	p.news = make(chan struct{})
}

// forget drops the events so far.
func (p *place) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = nil
}

// await returns once an event since the last forget is what is wanted.
func (p *place) await(ctx context.Context, what string, wanted func(app.Event) bool) error {
	ctx, cancel := context.WithTimeout(ctx, eventWait)
	defer cancel()
	for seen := 0; ; {
		p.mu.Lock()
		events, news := p.events[min(seen, len(p.events)):], p.news
		p.mu.Unlock()
		for _, e := range events {
			if wanted(e) {
				return nil
			}
		}
		seen += len(events)
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, ctx.Err())
		}
	}
}

// awaitGit waits for the git state of a workspace.
func (p *place) awaitGit(ctx context.Context, id string, ok func(*app.GitState) bool) error {
	return p.await(ctx, "the git state of "+id, func(e app.Event) bool {
		c, is := e.(app.WorkspaceChanged)
		return is && c.Workspace.ID == id && c.Workspace.Git != nil && ok(c.Workspace.Git)
	})
}
