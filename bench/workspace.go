package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"carrel/app"
)

// workspaceRounds is how often each creation and each deletion is measured.
const workspaceRounds = 4

// measureWorkspace creates and deletes workspaces of the large repository as a host does, and
// worktrees with git alone. Each round is a data root of its own, which has no spare at first.
func measureWorkspace(ctx context.Context, b *bench) ([]line, error) {
	repo, err := b.largeRepo(ctx)
	if err != nil {
		return nil, err
	}
	var first, warm, gone pair
	for n := range workspaceRounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r := workspaceRound{bench: b, repo: repo, n: n}
		if err := r.run(ctx); err != nil {
			return nil, fmt.Errorf("round %d: %w", n, err)
		}
		first.base = append(first.base, r.add...)
		first.ours = append(first.ours, r.first)
		warm.ours = append(warm.ours, r.warm)
		gone.base = append(gone.base, r.remove...)
		gone.ours = append(gone.ours, r.deleted...)
	}
	warm.base = first.base
	return []line{
		first.ratio("creating the first workspace, 20,000 files; git worktree add", 1.15),
		warm.ratio("creating one with the spare ready; git worktree add", 0.15),
		gone.ratio("deleting one, until the call returns; git worktree remove", 0.1),
	}, nil
}

// workspaceRound is what one round has measured.
type workspaceRound struct {
	*bench
	repo string
	n    int

	first, warm          sample
	add, remove, deleted []sample
}

func (r *workspaceRound) run(ctx context.Context) (err error) {
	root := fmt.Sprint("desks-", r.n)
	p, err := r.open(ctx, root, false)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, p.close(), os.RemoveAll(r.path(root)), r.do(ctx, r.repo, "git", "worktree", "prune"))
	}()
	project, err := p.api.Projects.Add(ctx, app.AddProject{Path: r.repo})
	if err != nil {
		return err
	}
	if r.n%2 == 0 { // the baseline comes first every other time
		if err := r.gitAdd(ctx, "one"); err != nil {
			return err
		}
	}
	var first, second app.Workspace
	if r.first, err = r.create(ctx, p, project.ID, &first); err != nil {
		return err
	}
	if err := p.awaitSpare(ctx); err != nil {
		return err
	}
	if r.n%2 == 1 {
		if err := r.gitAdd(ctx, "one"); err != nil {
			return err
		}
	}
	if err := r.gitAdd(ctx, "two"); err != nil {
		return err
	}
	if r.warm, err = r.create(ctx, p, project.ID, &second); err != nil {
		return err
	}
	if err := p.awaitSpare(ctx); err != nil {
		return err
	}
	for i, name := range []string{"one", "two"} {
		if err := r.gitRemove(ctx, name); err != nil {
			return err
		}
		id := []string{first.ID, second.ID}[i]
		syscall.Sync()
		s, err := timed(func() error { return p.api.Workspaces.Delete(ctx, app.DeleteWorkspace{ID: id}) })
		if err != nil {
			return err
		}
		r.deleted = append(r.deleted, s)
		if err := quiet(ctx); err != nil {
			return err
		}
	}
	return nil
}

// create makes a workspace through the API and waits, unmeasured, until its git state is known.
func (r *workspaceRound) create(ctx context.Context, p *place, project string, w *app.Workspace) (sample, error) {
	p.forget()
	syscall.Sync() // what others wrote is not to be waited for in our time
	s, err := timed(func() (err error) {
		*w, err = p.api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: project})
		return err
	})
	if err != nil {
		return s, err
	}
	if info, err := os.Stat(filepath.Join(w.Dir, fileName(large.files-1, large))); err != nil || info.Size() == 0 {
		return s, fmt.Errorf("the last file of the workspace: %w", err)
	}
	return s, p.awaitGit(ctx, w.ID, func(*app.GitState) bool { return true })
}

func (r *workspaceRound) gitAdd(ctx context.Context, name string) error {
	branch := fmt.Sprintf("%s-%d", name, r.n)
	syscall.Sync()
	s, err := command{argv: []string{"git", "worktree", "add", "-q", "-b", branch, r.path(branch)}, dir: r.repo, env: r.env()}.run(ctx)
	r.add = append(r.add, s)
	return err
}

func (r *workspaceRound) gitRemove(ctx context.Context, name string) error {
	branch := fmt.Sprintf("%s-%d", name, r.n)
	syscall.Sync()
	s, err := command{argv: []string{"git", "worktree", "remove", r.path(branch)}, dir: r.repo, env: r.env()}.run(ctx)
	r.remove = append(r.remove, s)
	return err
}

// awaitSpare waits until the project's spare is ready and nothing works any more.
func (p *place) awaitSpare(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond) // no event tells of it
	defer tick.Stop()
	for deadline := time.Now().Add(eventWait); ; {
		found, err := filepath.Glob(p.root.Path("src", "*", ".spare-1.ready"))
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return quiet(ctx)
		}
		if time.Now().After(deadline) {
			return errors.New("wait for the spare: it does not come")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
