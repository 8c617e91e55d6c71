package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"carrel/app"
)

// The repository of the 50 workspaces: with 20,000 files each they would fill a disk.
var medium = size{5_000, 500}

const (
	refreshDesks  = 50
	refreshRounds = 15
	idleFor       = 20 * time.Second
)

// measureRefresh changes a file in one of 50 workspaces and waits until hosts hear of it.
func measureRefresh(ctx context.Context, b *bench) (_ []line, err error) {
	repo := b.path("medium")
	if err := b.repo(ctx, repo, medium); err != nil {
		return nil, err
	}
	p, err := b.open(ctx, "fifty", false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	w, err := p.fill(ctx, repo)
	if err != nil {
		return nil, err
	}
	asked, noticed := &refresh{bench: b, place: p, w: w, ask: true}, &refresh{bench: b, place: p, w: w}
	quick, err := alternate(ctx, refreshRounds, asked.status, asked.change)
	if err != nil {
		return nil, err
	}
	slow, err := alternate(ctx, refreshRounds, noticed.status, noticed.change)
	if err != nil {
		return nil, err
	}
	idle, err := idleShare(ctx)
	if err != nil {
		return nil, err
	}
	found := slow.ratio("all CPU time for a change that the watcher notices; git status", 2)
	found.ours, found.baseline = show(median(cpu(slow.ours))), show(median(cpu(slow.base)))
	found.value, found.best, found.cpu = found.cpu, over(least(cpu(slow.ours)), least(cpu(slow.base))), 0
	found.note = fmt.Sprintf("from the change to the event it took %s, of which the watcher waits 100 ms for more changes", show(median(wall(slow.ours))))
	return []line{
		quick.ratio("refreshing 50 worktrees when told of a change in one; git status", 2),
		found,
		{work: "idle with 50 workspaces, CPU time in 20 s", value: 100 * idle, limit: 1, unit: "%"},
	}, nil
}

// fill makes 50 workspaces and gives one in the middle.
func (p *place) fill(ctx context.Context, repo string) (app.Workspace, error) {
	project, err := p.api.Projects.Add(ctx, app.AddProject{Path: repo})
	if err != nil {
		return app.Workspace{}, err
	}
	var all []app.Workspace
	for range refreshDesks {
		w, err := p.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: project.ID})
		if err != nil {
			return w, err
		}
		all = append(all, w)
	}
	for _, w := range all {
		if err := p.awaitGit(ctx, w.ID, func(*app.GitState) bool { return true }); err != nil {
			return w, err
		}
	}
	return all[refreshDesks/2], p.awaitSpare(ctx)
}

// refresh is one change after the other in the same workspace.
type refresh struct {
	*bench
	*place
	w   app.Workspace
	ask bool // ask for the state instead of waiting for the watcher
	n   int
}

// status is the baseline: the same question, asked of git alone.
func (r *refresh) status(ctx context.Context) (sample, error) {
	if err := quiet(ctx); err != nil {
		return sample{}, err
	}
	return command{argv: []string{"git", "--no-optional-locks", "status", "--porcelain=v2", "--branch"}, dir: r.w.Dir, env: r.bench.env()}.run(ctx)
}

// change makes the number of untracked files at the top one more, and waits for the event.
func (r *refresh) change(ctx context.Context) (sample, error) {
	if err := quiet(ctx); err != nil {
		return sample{}, err
	}
	r.forget()
	r.n++
	name := filepath.Join(r.w.Dir, fmt.Sprintf("new-%v-%03d", r.ask, r.n))
	var took time.Duration
	s, err := timed(func() error {
		began := time.Now()
		if err := os.WriteFile(name, []byte("new\n"), 0o600); err != nil {
			return err
		}
		if r.ask {
			if err := r.api.Workspaces.RefreshGit(ctx, app.ByID{ID: r.w.ID}); err != nil {
				return err
			}
		}
		err := r.awaitGit(ctx, r.w.ID, func(g *app.GitState) bool { return g.Untracked >= r.n })
		took = time.Since(began)
		return errors.Join(err, quiet(ctx)) // what else the change causes counts too
	})
	s.wall = took
	if err == nil && r.ask {
		err = os.Remove(name)
		r.n = 0
	}
	return s, err
}

// idleShare is the share of one core that is used while nothing happens.
func idleShare(ctx context.Context) (float64, error) {
	if err := quiet(ctx); err != nil {
		return 0, err
	}
	s, err := timed(func() error {
		select {
		case <-time.After(idleFor):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return s.cpu.Seconds() / s.wall.Seconds(), err
}
