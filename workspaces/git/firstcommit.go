package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrNoIdentity says that git does not know under which name and address to commit.
var ErrNoIdentity = errors.New("git has no name and e-mail address to commit with")

// firstMessage is the whole message of a first commit.
const firstMessage = "Initial commit\n"

// identityConfig keeps git from making up an address of the user's and the machine's name.
func identityConfig() [][2]string { return [][2]string{{"user.useConfigOnly", "true"}} }

// FirstCommit gives the branch that dir's HEAD names, which has no commit yet, an empty one under the
// user's own name, and returns it. Index and files stay as they are: what is staged is staged
// afterwards. It runs no hook and signs nothing, and does nothing to a repository whose HEAD has a
// commit. It fails with ErrNoIdentity.
func (g *Git) FirstCommit(ctx context.Context, dir string) (commit string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("make the first commit of %q: %w", dir, err)
		}
	}()
	if commit, err = g.commit(ctx, dir, "HEAD"); err != nil || commit != "" {
		return commit, err
	}
	for _, who := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		_, err := g.run(ctx, call{dir: dir, args: []string{"var", who}, read: true, config: identityConfig()})
		var failed *Error
		if errors.As(err, &failed) {
			return "", errors.Join(ErrNoIdentity, g.explain(dir, err))
		}
		if err != nil {
			return "", err
		}
	}
	tree, err := g.make(ctx, dir, "", "hash-object", "-t", "tree", "-w", "--stdin")
	if err != nil {
		return "", err
	}
	if commit, err = g.make(ctx, dir, firstMessage, "commit-tree", tree); err != nil {
		return "", err
	}
	// The zero value makes git refuse when somebody else was faster; then theirs is the first.
	_, err = g.runLocal(ctx, dir, "update-ref", "--create-reflog", "-m", "commit (initial): Initial commit",
		"HEAD", commit, strings.Repeat("0", len(commit)))
	if err == nil {
		return commit, nil
	}
	if theirs, lookErr := g.commit(ctx, dir, "HEAD"); lookErr == nil && theirs != "" {
		return theirs, nil
	}
	return "", err
}

// make writes an object and returns its name.
func (g *Git) make(ctx context.Context, dir, stdin string, args ...string) (string, error) {
	out, err := g.run(ctx, call{dir: dir, args: args, offline: true, stdin: strings.NewReader(stdin), config: identityConfig()})
	if err != nil {
		return "", g.explain(dir, err)
	}
	return strings.TrimSpace(string(out.Stdout)), nil
}
