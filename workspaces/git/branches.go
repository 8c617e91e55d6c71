package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Branch is a local branch, or a remote one such as "origin/main".
type Branch struct {
	Name     string
	Commit   string
	Upstream string // such as "origin/main"; "" when none
	Remote   bool
	HeldBy   string // folder of the checkout that holds it, "" when free
}

// Branches lists local branches, then remote ones. It fails with ErrNotRepo.
func (g *Git) Branches(ctx context.Context, dir string) ([]Branch, error) {
	held, _, err := g.holders(ctx, dir)
	if err != nil {
		return nil, err
	}
	out, err := g.Read(ctx, dir, "for-each-ref",
		"--format=%(refname) %(objectname) %(symref) %(upstream)", "refs/heads", "refs/remotes")
	if err != nil {
		return nil, g.explain(dir, err)
	}
	var list []Branch
	for _, line := range strings.Split(string(out.Stdout), "\n") {
		fields := strings.Split(line, " ") // names of refs hold neither spaces nor line breaks
		if len(fields) != 4 {
			continue
		}
		b := Branch{Commit: fields[1], Upstream: shortRef(fields[3])}
		var remote string
		remote, b.Remote = strings.CutPrefix(fields[0], "refs/remotes/")
		if b.Name = remote; !b.Remote {
			b.Name = strings.TrimPrefix(fields[0], "refs/heads/")
			b.HeldBy = held[b.Name]
		} else if fields[2] != "" {
			continue // origin/HEAD only names another one
		}
		list = append(list, b)
	}
	return list, nil
}

func shortRef(ref string) string {
	for _, prefix := range []string{"refs/heads/", "refs/remotes/", "refs/tags/"} {
		if short, ok := strings.CutPrefix(ref, prefix); ok {
			return short
		}
	}
	return ref
}

// DeleteBranch deletes a branch if it still points at tip and no checkout holds it. It fails with
// *HeldError, ErrMoved or *NoSuchRefError.
func (g *Git) DeleteBranch(ctx context.Context, repo, branch, tip string) error {
	held, _, err := g.holders(ctx, repo)
	if err != nil {
		return err
	}
	if dir := held[branch]; dir != "" {
		return &HeldError{Branch: branch, Dir: dir}
	}
	if tip == "" {
		return fmt.Errorf("delete branch %q: %w: nobody said where it is", branch, ErrMoved)
	}
	// update-ref compares under the ref's lock.
	if _, err := g.Run(ctx, repo, "update-ref", "-d", "refs/heads/"+branch, tip); err != nil {
		now, askErr := g.commit(ctx, repo, "refs/heads/"+branch)
		switch {
		case askErr == nil && now == "":
			return &NoSuchRefError{Ref: branch}
		case askErr == nil && now != tip:
			return fmt.Errorf("delete branch %q: %w: it is at %s, not %s", branch, ErrMoved, now, tip)
		}
		return fmt.Errorf("delete branch %q: %w", branch, err)
	}
	return g.forgetSettings(ctx, repo, branch)
}

// forgetSettings drops what git remembers about a branch (upstream, description), as git branch -d
// does.
func (g *Git) forgetSettings(ctx context.Context, repo, branch string) error {
	common, err := g.commonOf(ctx, repo)
	if err != nil {
		return err
	}
	// A look costs less than a process. A quote would be written in another way there.
	text, err := readFile(filepath.Join(common, "config"))
	lower := strings.ToLower(branch)
	if err == nil && !strings.Contains(branch, `"`) && !bytes.Contains(bytes.ToLower(text), []byte(lower)) {
		return nil
	}
	_, err = g.Run(ctx, repo, "config", "--remove-section", "branch."+branch)
	if failed := (*Error)(nil); errors.As(err, &failed) {
		return nil // there was none
	}
	return err
}

// RenameBranch renames a branch, also in the checkout that holds it. It fails with *NoSuchRefError,
// ErrExists or ErrBadName.
func (g *Git) RenameBranch(ctx context.Context, repo, from, to string) error {
	if from == to {
		return nil
	}
	if err := g.checkName(ctx, repo, to); err != nil {
		return err
	}
	tip, err := g.commit(ctx, repo, "refs/heads/"+from)
	if err != nil {
		return err
	}
	if tip == "" {
		return &NoSuchRefError{Ref: from}
	}
	if err := g.nameFree(ctx, repo, to, from); err != nil {
		return err
	}
	_, err = g.Run(ctx, repo, "branch", "-m", "--", from, to)
	if now, askErr := g.commit(ctx, repo, "refs/heads/"+to); askErr == nil && now == tip {
		return nil
	}
	if err == nil {
		err = errors.New("git left it as it was")
	}
	return fmt.Errorf("rename branch %q to %q: %w", from, to, err)
}

// plausible refuses the names that git takes for a ref but not for a branch, and those that can't be
// asked about.
func plausible(branch string) error {
	if branch == "" || strings.HasPrefix(branch, "-") || branch == "HEAD" || strings.ContainsAny(branch, "\x00\n") {
		return fmt.Errorf("branch %q: %w", branch, ErrBadName)
	}
	return nil
}

func (g *Git) checkName(ctx context.Context, repo, branch string) error {
	if err := plausible(branch); err != nil {
		return err
	}
	ok, err := g.ask(ctx, repo, "check-ref-format", "--normalize", "refs/heads/"+branch)
	if err != nil {
		return err
	}
	if ok != "refs/heads/"+branch {
		return fmt.Errorf("branch %q: %w", branch, ErrBadName)
	}
	return nil
}

// nameFree fails with ErrExists if the branch is there, or one whose name is a folder of it or the
// other way round, such as "a" and "a/b". The branch named except does not count.
func (g *Git) nameFree(ctx context.Context, repo, branch, except string) error {
	args := []string{"for-each-ref", "--format=%(refname)", "refs/heads/" + branch}
	for i, c := range branch {
		if c == '/' {
			args = append(args, "refs/heads/"+branch[:i])
		}
	}
	out, err := g.Read(ctx, repo, args...)
	if err != nil {
		return g.explain(repo, err)
	}
	for _, ref := range strings.Fields(string(out.Stdout)) {
		name := strings.TrimPrefix(ref, "refs/heads/")
		inTheWay := name == branch || strings.HasPrefix(name, branch+"/") || strings.HasPrefix(branch, name+"/")
		if inTheWay && name != except {
			return fmt.Errorf("branch %q: %w", name, ErrExists)
		}
	}
	return nil
}
