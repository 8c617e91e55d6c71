package git

import (
	"context"
	"slices"
	"strings"
)

// State is what the user sees of a checkout at a glance.
type State struct {
	Head
	Upstream      string // such as "origin/main"
	Ahead, Behind int    // commits against the base
	// Staged, Unstaged, Untracked and Conflicts count entries of git status: a file that is both staged
	// and changed since counts in both, a folder of untracked files counts once.
	Staged, Unstaged, Untracked, Conflicts int
	// Added and Removed count lines against the merge base with the base, or HEAD without a base,
	// uncommitted ones and untracked files included: the sums of what Changes lists.
	Added, Removed int
	Uncounted      bool   // Added leaves the untracked files out: they are more than 1,000, or than 32 MiB
	InProgress     string // merge, rebase, cherry-pick, revert, bisect
}

// Dirty reports whether anything is uncommitted.
func (s State) Dirty() bool { return s.Staged+s.Unstaged+s.Untracked+s.Conflicts > 0 }

// State reads the state of the checkout whose top is dir, against a base as in NewTree ("" for none:
// then Ahead and Behind are 0). It runs one git status at a time per folder, and
// otherwise only asks what has changed since it was last asked. It fails with ErrNotRepo, or with
// *NoSuchRefError when only the base is gone: the rest of the state is right then.
func (g *Git) State(ctx context.Context, dir, base string) (State, error) {
	st, err := g.status(ctx, dir, "normal")
	if err != nil {
		return State{}, err
	}
	s := State{Upstream: st.upstream}
	s.count(st.entries)
	if s.Head, err = g.describe(ctx, dir, st.branch, st.commit); err != nil {
		return State{}, err
	}
	if gitDir, err := gitDirAt(dir); err == nil {
		s.InProgress = progressOf(gitDir)
	}
	dirty, err := g.dirtySubmodules(ctx, dir, 0)
	if err != nil {
		return s, err
	}
	for _, path := range dirty {
		if !slices.ContainsFunc(st.entries, func(e entry) bool { return e.path == path && (e.y != '.' || e.kind == 'u') }) {
			s.Unstaged++
		}
	}
	return s, g.compare(ctx, dir, base, st.entries, &s)
}

func (s *State) count(entries []entry) {
	for _, e := range entries {
		switch e.kind {
		case '?':
			s.Untracked++
		case 'u':
			s.Conflicts++
		case '1', '2':
			if e.x != '.' {
				s.Staged++
			}
			if e.y != '.' {
				s.Unstaged++
			}
		}
	}
}

// compare fills what depends on the base.
func (g *Git) compare(ctx context.Context, dir, base string, entries []entry, s *State) error {
	r, err := g.standing(ctx, dir, base, s.Commit)
	if err != nil {
		return err
	}
	s.Ahead, s.Behind = r.ahead, r.behind
	if s.Added, s.Removed, err = g.countLines(ctx, dir, r, entries); err != nil {
		return err
	}
	lines, all, err := g.untrackedLines(ctx, dir, entries)
	s.Added, s.Uncounted = s.Added+lines, !all
	return err
}

// standing is how a head ("" for none yet) stands to a base or, without one, to itself.
func (g *Git) standing(ctx context.Context, dir, base, head string) (relation, error) {
	if head == "" {
		tree, err := g.emptyTree(ctx, dir)
		return relation{fork: tree}, err
	}
	if base == "" {
		return relation{fork: head}, nil
	}
	tip, err := g.resolveBase(ctx, dir, base)
	if err != nil {
		return relation{}, err
	}
	if tip == "" {
		return relation{}, &NoSuchRefError{Ref: base}
	}
	return g.relate(ctx, dir, head, tip)
}

// emptyTree is the name of the tree without files, with which everything in an unborn branch is new.
func (g *Git) emptyTree(ctx context.Context, dir string) (string, error) {
	out, err := g.Read(ctx, dir, "hash-object", "-t", "tree", "--stdin")
	return strings.TrimSpace(string(out.Stdout)), err
}

// Merged reports whether everything that dir's HEAD has is in base: as the same commits, as commits
// with the same changes (rebase), or as one commit with all changes (squash). It looks at the newest
// 1,000 commits of the base since they forked. It says nothing about uncommitted work. It fails with
// *NoSuchRefError or ErrUnborn.
func (g *Git) Merged(ctx context.Context, dir, base string) (bool, error) {
	head, err := g.commit(ctx, dir, "HEAD")
	if err != nil {
		return false, err
	}
	if head == "" {
		return false, ErrUnborn
	}
	tip, err := g.resolveBase(ctx, dir, base)
	if err != nil {
		return false, err
	}
	if tip == "" {
		return false, &NoSuchRefError{Ref: base}
	}
	return g.merged(ctx, dir, head, tip)
}
