package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"carrel/sandbox/plan"
)

// insideShare is what work may take inside, beside the same outside, when starting is taken away.
const insideShare = 1.05

// measureSandboxWork does everyday work in tier A and outside of it: git status, a build of this
// project, and an installation from npm's cache.
func measureSandboxWork(ctx context.Context, b *bench) (lines []line, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	repo, err := b.largeRepo(ctx)
	if err != nil {
		return nil, err
	}
	source := b.path("source")
	if err := b.do(ctx, b.dir, "git", "clone", "-q", b.module, source); err != nil {
		return nil, err
	}
	if err := os.CopyFS(filepath.Join(source, "frontend", "dist"), os.DirFS(filepath.Join(b.module, "frontend", "dist"))); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	for _, t := range []struct {
		what, dir string
		argv      []string
		rounds    int
	}{
		{"git status, 20,000 files", repo, []string{"git", "status", "--short"}, 20},
		{"go build of this project", source, []string{"go", "build", "-o", "bin/carrel", "."}, 20},
		{"npm ci from the cache", filepath.Join(source, "frontend"), []string{"npm", "ci", "--offline", "--no-audit", "--no-fund", "--ignore-scripts"}, b.slowRounds()},
	} {
		l, err := b.inside(ctx, home, t.what, t.dir, t.argv, t.rounds)
		if err != nil {
			return lines, fmt.Errorf("%s: %w", t.what, err)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// slowRounds is how often work of many seconds is measured.
func (b *bench) slowRounds() int {
	if b.long {
		return 20
	}
	return 5
}

// inside measures one kind of work in a box and outside of it.
func (b *bench) inside(ctx context.Context, home, what, dir string, argv []string, rounds int) (l line, err error) {
	x, err := b.box(ctx, filepath.Base(argv[0])+"-work", dir, home, plan.TierA, true)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	starts, err := rotate(ctx, 20, outside(dir, "/bin/true"), x.run("/bin/true"))
	if err != nil {
		return l, err
	}
	start := median(wall(starts[1])) - median(wall(starts[0]))
	p, err := alternate(ctx, rounds, outside(dir, argv...), x.run(argv...))
	if err != nil {
		return l, err
	}
	for i := range p.ours {
		p.ours[i].wall -= start
	}
	l = p.ratio(what+" in tier A, less its start; outside", insideShare)
	l.note = "starting takes " + show(start)
	return l, nil
}
