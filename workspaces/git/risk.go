package git

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Lists of a Risk name at most this many.
const maxNamed = 50

// Risk lists what would be lost with a checkout. Each list names at most 50; Counts says how many there
// are. Anything inside of submodules is included, with the submodule's path before it.
type Risk struct {
	Changed   []string // tracked files that differ from HEAD
	Untracked []string // files, not folders; ignored ones do not count
	Commits   []string // "abc1234 subject", in no other branch, remote branch or tag
	Counts    [3]int   // of Changed, Untracked, Commits
	// Commit is what HEAD was while this was looked at, and Branch the branch that it was on: "" when
	// unborn, and when detached.
	Commit, Branch string
	// Unknown says why something could not be looked at; "" when all was. Treat it as work at risk.
	Unknown string
}

// Nothing reports whether nothing would be lost for certain.
func (r Risk) Nothing() bool { return r.Counts == [3]int{} && r.Unknown == "" }

// AtRisk says what exists only in the checkout whose top is dir. What it could not inspect is in
// Risk.Unknown; the error is the context's.
func (g *Git) AtRisk(ctx context.Context, dir string) (Risk, error) {
	i := inspection{g: g, r: &Risk{}, seen: map[string]bool{}}
	if err := i.look(ctx, place{dir: dir}); err != nil {
		if ctx.Err() != nil {
			return *i.r, ctx.Err()
		}
		i.r.Unknown = err.Error()
	}
	return *i.r, nil
}

func (r *Risk) add(kind int, list *[]string, name string) {
	r.Counts[kind]++
	if len(*list) < maxNamed {
		*list = append(*list, name)
	}
}

// inspection is a look at a checkout and at the submodules in it.
type inspection struct {
	g    *Git
	r    *Risk
	seen map[string]bool // git folders of submodules that were looked at, canonical
}

// place is one checkout of an inspection.
type place struct {
	dir    string
	prefix string // the path of a submodule with a slash after it; "" for the checkout itself
	given  string // the commit that a submodule's parent wants, or that is known elsewhere: it counts as safe
	depth  int
}

// at notes where the checkout itself, not one of its submodules, stands.
func (i *inspection) at(st status, p place) {
	if p.depth == 0 {
		i.r.Commit, i.r.Branch = st.commit, st.branch
	}
}

// look adds what is at risk in one checkout.
func (i *inspection) look(ctx context.Context, p place) error {
	gitDir, err := gitDirAt(p.dir)
	if err != nil {
		return fmt.Errorf("inspect %q: its link to the repository is gone: %w", p.dir, ErrNotRepo)
	}
	i.seen[canonical(gitDir)] = true
	// Looking for commits does not wait for the look at the files.
	head, certain := i.g.pristine(ctx, p.dir, gitDir)
	commits := *i.r
	early := i.g.inspectCommits(ctx, p, gitDir, head, &commits)
	if head.commit != "" && early == nil && certain() {
		*i.r = commits
		i.at(head, p)
		return nil
	}
	st, links, err := i.g.inspectFiles(ctx, p.dir, p.prefix, i.r)
	if err != nil {
		return err
	}
	i.at(st, p)
	if early == nil && head.commit == st.commit && head.branch == st.branch {
		i.r.Commits, i.r.Counts[2] = commits.Commits, commits.Counts[2]
	} else if err := i.g.inspectCommits(ctx, p, gitDir, st, i.r); err != nil {
		return err
	}
	for path, commit := range links {
		sub := place{dir: filepath.Join(p.dir, path), prefix: p.prefix + path + "/", given: commit, depth: p.depth + 1}
		if !exists(filepath.Join(sub.dir, ".git")) {
			continue
		}
		if sub.depth > maxNesting {
			return fmt.Errorf("inspect %q: submodules are nested too deep", sub.dir)
		}
		if err := i.look(ctx, sub); err != nil {
			return err
		}
	}
	if p.depth > 0 {
		return nil
	}
	return i.lookAtModules(ctx, gitDir)
}

// inspectFiles asks git for changed and untracked files, and gives what it said and the submodules.
func (g *Git) inspectFiles(ctx context.Context, dir, prefix string, r *Risk) (status, map[string]string, error) {
	// Both read the index, which takes a while in a large repository; the second needs one core only.
	var tracked tracked
	var trackedErr error
	var listing sync.WaitGroup
	listing.Go(func() { tracked, trackedErr = g.tracked(ctx, dir) })
	st, err := g.status(ctx, dir, "all")
	listing.Wait()
	if err == nil {
		err = trackedErr
	}
	if err != nil {
		return st, nil, err
	}
	told := map[string]bool{}
	for _, e := range st.entries {
		told[e.path] = true
		if e.kind == '?' {
			r.add(1, &r.Untracked, prefix+e.path)
		} else {
			r.add(0, &r.Changed, prefix+e.path)
		}
	}
	hidden, err := g.hiddenChanges(ctx, dir, tracked.hidden)
	for _, path := range hidden {
		if !told[path] {
			r.add(0, &r.Changed, prefix+path)
		}
	}
	return st, tracked.links, err
}

func (g *Git) inspectCommits(ctx context.Context, p place, gitDir string, st status, r *Risk) error {
	tips, safe := g.reach(ctx, p, gitDir, st)
	if len(tips) == 0 {
		return nil
	}
	set := append(append(tips, safe...), "--")
	out, err := g.Read(ctx, p.dir, append([]string{"rev-list", "--count"}, set...)...)
	if err != nil {
		return g.explain(p.dir, err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(out.Stdout)))
	if err != nil || n == 0 {
		return err
	}
	r.Counts[2] += n
	if len(r.Commits) >= maxNamed {
		return nil
	}
	limit := "--max-count=" + strconv.Itoa(maxNamed-len(r.Commits))
	out, err = g.Read(ctx, p.dir, append([]string{"log", "-z", "--no-show-signature", "--format=%h %s", limit}, set...)...)
	if err != nil {
		return g.explain(p.dir, err)
	}
	for _, line := range bytes.Split(bytes.Trim(out.Stdout, "\x00"), []byte{0}) {
		r.Commits = append(r.Commits, p.prefix+strings.ToValidUTF8(string(line), "\uFFFD"))
	}
	return nil
}

// reach gives what goes with a checkout, and what stays, as arguments for git log.
func (g *Git) reach(ctx context.Context, p place, gitDir string, st status) (tips, safe []string) {
	tips, safe = g.setAside(ctx, p.dir, gitDir), []string{"--not"}
	if p.prefix != "" {
		// Whatever a submodule has vanishes with it: its branches, its stash, its HEAD. What git's maintenance
		// has fetched ahead is a remote's.
		tips = append(tips, "--exclude=refs/prefetch/*", "--all")
	} else {
		own := st.branch
		if st.commit != "" {
			tips = append(tips, "HEAD")
		}
		if branch := returnsTo(gitDir); branch != "" {
			own = branch
			if tip, err := g.commit(ctx, p.dir, "refs/heads/"+branch); err == nil && tip != "" {
				tips = append(tips, tip)
			}
		}
		if own != "" {
			safe = append(safe, "--exclude="+own)
		}
		safe = append(safe, "--branches")
	}
	safe = append(safe, "--remotes", "--tags")
	if p.given != "" {
		if known, err := g.commit(ctx, p.dir, p.given); err == nil && known != "" {
			safe = append(safe, p.given)
		}
	}
	return tips, safe
}

// setAside lists the commits in which a rebase or merge that is under way keeps changes that it will put
// back at its end (--autostash). Nothing else names them.
func (g *Git) setAside(ctx context.Context, dir, gitDir string) (commits []string) {
	for _, name := range []string{"rebase-merge/autostash", "rebase-apply/autostash", "MERGE_AUTOSTASH"} {
		text, err := readFile(filepath.Join(gitDir, name))
		if err != nil {
			continue
		}
		id := strings.TrimSpace(string(text))
		if commit, err := g.commit(ctx, dir, id); err == nil && commit == id && id != "" {
			commits = append(commits, commit)
		}
	}
	return commits
}
