package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

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
	page := filepath.Join(source, "frontend")
	settings, err := npmSettings(ctx, page)
	if err != nil {
		return nil, err
	}
	for _, t := range []insideWork{
		{"git status, 20,000 files", repo, []string{"git", "status", "--short"}, nil, 20},
		{"go build of this project", source, []string{"go", "build", "-o", "bin/carrel", "."}, nil, 20},
		{"npm ci from the cache", page, []string{"npm", "ci", "--offline", "--no-audit", "--no-fund", "--ignore-scripts"}, settings, b.slowRounds()},
	} {
		l, err := b.inside(ctx, home, t)
		if err != nil {
			return lines, fmt.Errorf("%s: %w", t.what, err)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// insideWork is one kind of everyday work.
type insideWork struct {
	what, dir string
	argv      []string
	env       []string // on top
	rounds    int
}

// npmSettings gives the variable that names a settings file in the folder. The sandbox hides a person's
// own, since it may hold a login; so both sides get one that names the registry whose packages the cache
// holds.
func npmSettings(ctx context.Context, dir string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "npm", "config", "get", "registry")
	cmd.Dir = dir
	registry, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: npm does not say where its packages come from: %w", errSkipped, err)
	}
	name := filepath.Join(dir, "npm-settings")
	text := "registry=" + strings.TrimSpace(string(registry)) + "\nupdate-notifier=false\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return []string{"NPM_CONFIG_USERCONFIG=" + name}, nil
}

// slowRounds is how often work of many seconds is measured.
func (b *bench) slowRounds() int {
	if b.long {
		return 20
	}
	return 5
}

// inside measures one kind of work in a box and outside of it.
func (b *bench) inside(ctx context.Context, home string, w insideWork) (l line, err error) {
	x, err := b.box(ctx, filepath.Base(w.argv[0])+"-work", w.dir, home, plan.TierA, true)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	starts, err := rotate(ctx, 20, outside(w.dir, nil, "/bin/true"), x.run(nil, "/bin/true"))
	if err != nil {
		return l, err
	}
	start := median(wall(starts[1])) - median(wall(starts[0]))
	p, err := alternate(ctx, w.rounds, outside(w.dir, w.env, w.argv...), x.run(w.env, w.argv...))
	if err != nil {
		return l, err
	}
	for i := range p.ours {
		p.ours[i].wall -= start
	}
	l = p.ratio(w.what+" in tier A, less its start; outside", insideShare)
	l.note = "starting takes " + show(start)
	return l, nil
}
