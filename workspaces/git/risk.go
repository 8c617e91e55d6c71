package git

import (
	"bytes"
	"context"
	"errors"
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
	var r Risk
	if err := g.inspect(ctx, dir, "", "", 0, &r); err != nil {
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		r.Unknown = err.Error()
	}
	return r, nil
}

func (r *Risk) add(kind int, list *[]string, name string) {
	r.Counts[kind]++
	if len(*list) < maxNamed {
		*list = append(*list, name)
	}
}

// at notes where the checkout itself, not one of its submodules, stands.
func (r *Risk) at(st status, depth int) {
	if depth == 0 {
		r.Commit, r.Branch = st.commit, st.branch
	}
}

// inspect adds what is at risk in one checkout. given is the commit that a submodule's parent wants: it
// counts as safe.
func (g *Git) inspect(ctx context.Context, dir, prefix, given string, depth int, r *Risk) error {
	gitDir, err := gitDirAt(dir)
	if err != nil {
		return fmt.Errorf("inspect %q: its link to the repository is gone: %w", dir, ErrNotRepo)
	}
	// Looking for commits does not wait for the look at the files.
	head, certain := g.pristine(ctx, dir, gitDir)
	commits := *r
	early := g.inspectCommits(ctx, dir, gitDir, prefix, given, head, &commits)
	if head.commit != "" && early == nil && certain() {
		*r = commits
		r.at(head, depth)
		return nil
	}
	st, links, err := g.inspectFiles(ctx, dir, prefix, r)
	if err != nil {
		return err
	}
	r.at(st, depth)
	if early == nil && head.commit == st.commit && head.branch == st.branch {
		r.Commits, r.Counts[2] = commits.Commits, commits.Counts[2]
	} else if err := g.inspectCommits(ctx, dir, gitDir, prefix, given, st, r); err != nil {
		return err
	}
	for path, commit := range links {
		sub := filepath.Join(dir, path)
		if !exists(filepath.Join(sub, ".git")) {
			continue
		}
		if depth >= maxNesting {
			return fmt.Errorf("inspect %q: submodules are nested too deep", sub)
		}
		if err := g.inspect(ctx, sub, prefix+path+"/", commit, depth+1, r); err != nil {
			return err
		}
	}
	return nil
}

// inspectFiles asks git for changed and untracked files, and gives what it said and the submodules.
func (g *Git) inspectFiles(ctx context.Context, dir, prefix string, r *Risk) (status, map[string]string, error) {
	// Both read the index, which takes a while in a large repository; the second needs one core only.
	var links map[string]string
	var linksErr error
	var listing sync.WaitGroup
	listing.Go(func() { links, linksErr = g.gitlinks(ctx, dir) })
	st, err := g.status(ctx, dir, "all")
	listing.Wait()
	if err = errors.Join(err, linksErr); err != nil {
		return st, nil, err
	}
	for _, e := range st.entries {
		if e.kind == '?' {
			r.add(1, &r.Untracked, prefix+e.path)
		} else {
			r.add(0, &r.Changed, prefix+e.path)
		}
	}
	return st, links, nil
}

func (g *Git) inspectCommits(ctx context.Context, dir, gitDir, prefix, given string, st status, r *Risk) error {
	var tips []string
	if st.commit != "" {
		tips = append(tips, "HEAD")
	}
	own := st.branch
	if branch := returnsTo(gitDir); branch != "" {
		own = branch
		if tip, err := g.commit(ctx, dir, "refs/heads/"+branch); err == nil && tip != "" {
			tips = append(tips, tip)
		}
	}
	if len(tips) == 0 {
		return nil
	}
	safe := []string{"--not"}
	if own != "" {
		safe = append(safe, "--exclude="+own)
	}
	if prefix == "" {
		safe = append(safe, "--branches")
	} else if st.branch != "" {
		// A submodule's own branches vanish with it.
		tips = append(tips, "--branches")
	}
	safe = append(safe, "--remotes", "--tags")
	if given != "" {
		if known, err := g.commit(ctx, dir, given); err == nil && known != "" {
			safe = append(safe, given)
		}
	}
	set := append(append(tips, safe...), "--")
	out, err := g.Read(ctx, dir, append([]string{"rev-list", "--count"}, set...)...)
	if err != nil {
		return g.explain(dir, err)
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
	out, err = g.Read(ctx, dir, append([]string{"log", "-z", "--no-show-signature", "--format=%h %s", limit}, set...)...)
	if err != nil {
		return g.explain(dir, err)
	}
	for _, line := range bytes.Split(bytes.Trim(out.Stdout, "\x00"), []byte{0}) {
		r.Commits = append(r.Commits, prefix+strings.ToValidUTF8(string(line), "\uFFFD"))
	}
	return nil
}

// gitlinks lists the places of other repositories in the index, with the commit wanted there.
func (g *Git) gitlinks(ctx context.Context, dir string) (map[string]string, error) {
	out, err := g.Read(ctx, dir, "ls-files", "-s", "-z")
	if err != nil {
		return nil, g.explain(dir, err)
	}
	links := map[string]string{}
	for _, record := range bytes.Split(out.Stdout, []byte{0}) {
		if !bytes.HasPrefix(record, []byte("160000 ")) {
			continue
		}
		info, path, _ := strings.Cut(string(record), "\t")
		if fields := strings.Fields(info); len(fields) == 3 {
			links[path] = fields[1]
		}
	}
	return links, nil
}
