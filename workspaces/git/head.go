package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Head is what a checkout stands on.
type Head struct {
	Branch   string // "" when detached
	Commit   string // "" when unborn
	Subject  string
	Time     time.Time // of the commit
	Detached bool
	Unborn   bool // the branch has no commit yet
}

// Head reads what dir stands on. It fails with ErrNotRepo.
func (g *Git) Head(ctx context.Context, dir string) (Head, error) {
	if h, ok := g.headAtOnce(ctx, dir); ok {
		return h, nil
	}
	branch, err := g.ask(ctx, dir, "symbolic-ref", "-q", "HEAD")
	if err != nil {
		return Head{}, err
	}
	commit, err := g.ask(ctx, dir, "rev-parse", "-q", "--verify", "HEAD^{commit}")
	if err != nil {
		return Head{}, err
	}
	if branch == "" && commit == "" {
		// Neither a branch nor a commit: only an unreadable repository answers so.
		if _, err := g.Read(ctx, dir, "rev-parse", "--git-dir"); err != nil {
			return Head{}, g.explain(dir, err)
		}
		return Head{}, fmt.Errorf("read HEAD of %q: it points to nothing", dir)
	}
	return g.describe(ctx, dir, strings.TrimPrefix(branch, "refs/heads/"), commit)
}

// headAtOnce reads a head that has a commit with one process. It gives false for every other one, and
// where refs are not in files.
func (g *Git) headAtOnce(ctx context.Context, dir string) (Head, bool) {
	gitDir, err := gitDirAt(dir)
	if err != nil {
		return Head{}, false
	}
	text, err := readFile(filepath.Join(gitDir, "HEAD"))
	branch, on := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: refs/heads/")
	if err != nil || on && branch == ".invalid" {
		return Head{}, false
	}
	if !on {
		branch = ""
	}
	out, err := g.Read(ctx, dir, append(commitArgs(), "HEAD", "--")...)
	if err != nil {
		return Head{}, false
	}
	commit, known, err := parseCommit(out.Stdout)
	if err != nil || !on && commit != strings.TrimSpace(string(text)) {
		return Head{}, false
	}
	g.mu.Lock()
	remember(g.commits, commit, known)
	g.mu.Unlock()
	return Head{Branch: branch, Commit: commit, Detached: !on, Subject: known.Subject, Time: known.Time}, true
}

// commitArgs ask for what parseCommit reads.
func commitArgs() []string {
	return []string{"log", "-1", "--no-show-signature", "--format=%H%x00%ct%x00%s"}
}

func parseCommit(text []byte) (commit string, h Head, err error) {
	fields := strings.SplitN(strings.TrimRight(string(text), "\n"), "\x00", 3)
	if len(fields) != 3 {
		return "", h, errFormat
	}
	seconds, err := strconv.ParseInt(fields[1], 10, 64)
	return fields[0], Head{Subject: strings.ToValidUTF8(fields[2], "\uFFFD"), Time: time.Unix(seconds, 0)}, err
}

// describe completes a head with the subject and time of its commit.
func (g *Git) describe(ctx context.Context, dir, branch, commit string) (Head, error) {
	h := Head{Branch: branch, Commit: commit, Detached: branch == "", Unborn: commit == ""}
	if h.Unborn {
		return h, nil
	}
	g.mu.Lock()
	known, ok := g.commits[commit]
	g.mu.Unlock()
	if !ok {
		out, err := g.Read(ctx, dir, append(commitArgs(), commit, "--")...)
		if err != nil {
			return h, g.explain(dir, err)
		}
		if _, known, err = parseCommit(out.Stdout); err != nil {
			return h, fmt.Errorf("read commit %q: %w", commit, err)
		}
		g.mu.Lock()
		remember(g.commits, commit, known)
		g.mu.Unlock()
	}
	h.Subject, h.Time = known.Subject, known.Time
	return h, nil
}

// remember adds to a cache of things that never change, and starts it anew at 4,096.
func remember[K comparable, V any](cache map[K]V, key K, value V) {
	if len(cache) >= 4096 {
		clear(cache)
	}
	cache[key] = value
}

// ask runs a question whose answer "no" is a code other than 0 and no output: it gives "" then.
func (g *Git) ask(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := g.Read(ctx, dir, args...)
	var failed *Error
	if err != nil && !errors.As(err, &failed) {
		return "", err
	}
	if failed != nil {
		if err := g.explain(dir, err); !errors.As(err, &failed) {
			return "", err
		}
		return "", nil
	}
	return strings.TrimRight(string(out.Stdout), "\n"), nil
}

// commit resolves a name to a commit; "" when there is none.
func (g *Git) commit(ctx context.Context, dir, name string) (string, error) {
	if name == "" || strings.ContainsAny(name, "\x00\n") {
		return "", nil
	}
	return g.ask(ctx, dir, "rev-parse", "-q", "--verify", "--end-of-options", name+"^{commit}")
}
