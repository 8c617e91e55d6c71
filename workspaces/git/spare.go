package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// PrepareSpare makes dir a spare: a detached worktree at Repo's HEAD, with its submodules and a fresh
// index, which AddTree can turn into a worktree in a fraction of the time. An existing one is brought
// to HEAD. It may wait a second so that the index's times are unambiguous; run it in the background.
// It fails with ErrInUse when dir holds changes: then it is no longer a spare.
func (g *Git) PrepareSpare(ctx context.Context, repo, dir string) error {
	head, err := g.commit(ctx, repo, "HEAD")
	if err != nil {
		return fmt.Errorf("prepare spare %q: %w", dir, err)
	}
	if head == "" {
		return fmt.Errorf("prepare spare %q: %w", dir, ErrUnborn)
	}
	if err = g.makeSpare(ctx, repo, dir, head); err == nil {
		err = g.Settle(ctx, dir)
	}
	if err != nil {
		return fmt.Errorf("prepare spare %q: %w", dir, err)
	}
	return nil
}

func (g *Git) makeSpare(ctx context.Context, repo, dir, head string) error {
	common, err := g.commonOf(ctx, repo)
	if err != nil {
		return err
	}
	a, err := adminOf(common, dir)
	if err != nil || !a.linkedFrom(dir) {
		_, err = g.AddTree(ctx, NewTree{Repo: repo, Dir: dir, Base: head})
		return err
	}
	release, err := g.hold(ctx, "make "+canonical(dir))
	if err != nil {
		return err
	}
	defer release()
	return g.refreshSpare(ctx, a, repo, dir, head)
}

func (g *Git) refreshSpare(ctx context.Context, a admin, repo, dir, head string) error {
	at, err := g.spareAt(ctx, a, dir)
	if err != nil || at == head {
		return err
	}
	p := &treePlan{NewTree: NewTree{Repo: repo, Dir: dir, Progress: func(string) {}}, common: filepath.Dir(filepath.Dir(a.path)), start: head}
	if err := g.turnTo(ctx, p, at); err != nil {
		return err
	}
	g.addSubmodules(ctx, p)
	return nil
}

// spareAt gives the commit of a spare that holds nothing but that commit. ErrInUse otherwise.
func (g *Git) spareAt(ctx context.Context, a admin, dir string) (string, error) {
	text, err := readFile(filepath.Join(a.path, "HEAD"))
	if err != nil {
		return "", err
	}
	at := strings.TrimSpace(string(text))
	if strings.HasPrefix(at, "ref:") || progressOf(a.path) != "" {
		return "", fmt.Errorf("spare %q: something is on a branch there: %w", dir, ErrInUse)
	}
	if head, certain := g.pristine(ctx, dir, a.path); head.commit == at && certain() {
		return at, nil
	}
	out, err := g.Read(ctx, dir, "status", "--porcelain=v2", "-z", "--untracked-files=normal",
		"--ignored=traditional", "--ignore-submodules=dirty", "--no-renames")
	if err != nil {
		return "", err
	}
	dirty, err := g.dirtySubmodules(ctx, dir, 0)
	if err != nil {
		return "", err
	}
	if len(out.Stdout)+len(dirty) > 0 {
		return "", fmt.Errorf("spare %q: it holds changes: %w", dir, ErrInUse)
	}
	return at, nil
}

// claim turns the spare into the planned worktree. It gives false, with the reason as a warning, when
// the spare does not fit and nothing was touched.
func (g *Git) claim(ctx context.Context, p *treePlan) (bool, error) {
	spare := canonical(p.Spare)
	release, err := g.hold(ctx, "make "+spare)
	if err != nil {
		return false, err
	}
	defer release()
	a, at, err := g.usableSpare(ctx, p, spare)
	if err != nil {
		return false, ctx.Err()
	}
	locked, err := g.holdRepo(ctx, p.common)
	if err != nil {
		return false, err
	}
	defer locked()
	if err := p.checkDir(); err != nil {
		return false, err
	}
	p.Progress("Using the prepared worktree")
	if err := a.move(spare, p.Dir); err != nil {
		return false, nil // for example another file system: the slow way works
	}
	p.linked = true
	if err := g.turnTo(ctx, p, at); err != nil {
		return true, err
	}
	if p.Branch == "" {
		return true, nil
	}
	_, err = g.runLocal(ctx, p.Dir, "symbolic-ref", "-m", "carrel: moving to "+p.Branch, "HEAD", "refs/heads/"+p.Branch)
	return true, err
}

func (g *Git) usableSpare(ctx context.Context, p *treePlan, spare string) (admin, string, error) {
	a, err := adminOf(p.common, spare)
	if err != nil {
		return a, "", err
	}
	if a.locked() || !a.linkedFrom(spare) {
		return a, "", ErrInUse
	}
	if p.Filters != FiltersUser {
		// The spare was written with the user's filters; another choice needs files of its own.
		if quiet, err := g.settings(ctx, spare); err != nil || usesFilters(quiet) {
			return a, "", errors.Join(ErrInUse, err)
		}
	}
	at, err := g.spareAt(ctx, a, spare)
	return a, at, err
}

func usesFilters(list []setting) bool {
	for _, s := range list {
		if strings.HasPrefix(s.key, "filter.") {
			return true
		}
	}
	return false
}

// turnTo takes the files of a clean detached worktree from one commit to p.start, and its HEAD.
func (g *Git) turnTo(ctx context.Context, p *treePlan, at string) error {
	if at == p.start {
		return nil
	}
	list, err := g.settings(ctx, p.Dir)
	if err != nil {
		return err
	}
	quiet := g.silence(list, p.Filters)
	err = g.writeFiles(ctx, p, p.Filters, off(quiet), "-m", at, p.start)
	if failed := (*Error)(nil); errors.As(err, &failed) {
		// Half way: make it whole, without filters.
		quiet = g.silence(list, FiltersNone)
		err = g.writeFiles(ctx, p, FiltersNone, off(quiet), "--reset", p.start)
	}
	if err != nil {
		return g.explainCheckout(list, err)
	}
	g.warnFilters(ctx, p, list, quiet)
	_, err = g.runLocal(ctx, p.Dir, "update-ref", "--no-deref", "-m", "carrel: moving to "+p.start, "HEAD", p.start, at)
	return err
}
