// Package git is the one place where Carrel runs git.
//
// What it promises:
//   - Every call goes through one runner: argv only, no prompts, no pager, no editor, no terminal, its
//     own process group that ends with the context, output capped while it is read.
//   - Repository content is not trusted. Hooks, fsmonitor, external diff and merge programs, filters
//     that only the repository's own configuration names, and every transport are off for reads; see
//     config.go for how.
//   - Reads take no lock and never write the index.
//   - Results are judged by the state that git leaves, not by its texts.
//   - Paths come back canonical (symbolic links resolved) and byte-exact.
package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Oldest git that has what we need: configuration through GIT_CONFIG_COUNT.
var oldest = [2]int{2, 31}

// Options say how to run git.
type Options struct {
	Path string   // the git program; "" looks it up in PATH
	Env  []string // base environment; nil is os.Environ()
	// MaxOutput caps what one call may print on standard output, in bytes; 0 is 64 MiB.
	MaxOutput int64
	// Notice gets sentences that the user should see once, such as the watcher's fall back on polling.
	Notice func(message string)
}

// Git runs git. It is safe for concurrent use and holds no process open.
type Git struct {
	path    string
	missing *MissingError // git can't be used: every call fails with it
	version [2]int
	env     []string
	max     int64
	notice  func(string)
	reads   chan struct{} // bounds concurrent reads
	// patience replaces the usual limits on a call's silence; 0 does not.
	patience time.Duration

	mu        sync.Mutex
	locks     map[string]chan struct{} // by what they guard
	commits   map[string]Head          // subject and time by commit
	relations map[string]relation      // by "HEAD base"
	lines     map[string]int           // of untracked files, by "path size time"
	stuck     map[string]time.Time     // by folder: when a read there was ended
}

// MissingError says that git is absent or too old, and how to mend that.
type MissingError struct {
	Path    string // what was tried
	Version string // "" when git did not run at all
	Cause   error
}

func (e *MissingError) Error() string {
	if e.Version != "" {
		return fmt.Sprintf("git %q: version %s is too old, %d.%d is needed: %s", e.Path, e.Version, oldest[0], oldest[1], installHint())
	}
	if !strings.Contains(e.Path, "/") {
		return fmt.Sprintf("there is no %s on the PATH: %s", e.Path, installHint())
	}
	return fmt.Sprintf("%q can't be run: %s", e.Path, installHint())
}

// Unwrap gives the cause.
func (e *MissingError) Unwrap() error { return e.Cause }

func installHint() string {
	if runtime.GOOS == "darwin" {
		return "install it with: xcode-select --install"
	}
	return "install it with your package manager, for example: apt install git"
}

// New finds git and asks its version. When it fails with *MissingError, the Git is there all the same
// and every call of it fails with that error.
func New(o Options) (*Git, error) {
	path := o.Path
	if path == "" {
		path = "git"
	}
	found, lookErr := exec.LookPath(path)
	if lookErr == nil {
		found, lookErr = filepath.Abs(found)
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.MaxOutput <= 0 {
		o.MaxOutput = 64 << 20
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	g := &Git{
		path: found, env: cleanEnv(o.Env), max: o.MaxOutput, notice: o.Notice,
		reads: make(chan struct{}, max(2, runtime.NumCPU())),
		locks: map[string]chan struct{}{}, commits: map[string]Head{}, relations: map[string]relation{},
		lines: map[string]int{}, stuck: map[string]time.Time{},
	}
	if lookErr != nil {
		g.missing = &MissingError{Path: path, Cause: lookErr}
	} else {
		g.missing = g.askVersion()
	}
	if g.missing != nil {
		return g, g.missing
	}
	return g, nil
}

func (g *Git) askVersion() *MissingError {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := g.run(ctx, call{dir: "/", args: []string{"version"}, plain: true})
	if err != nil {
		return &MissingError{Path: g.path, Cause: err}
	}
	if g.version, err = parseVersion(string(out.Stdout)); err != nil {
		return &MissingError{Path: g.path, Cause: err}
	}
	if !g.atLeast(oldest[0], oldest[1]) {
		return &MissingError{Path: g.path, Version: fmt.Sprintf("%d.%d", g.version[0], g.version[1])}
	}
	return nil
}

func parseVersion(s string) (v [2]int, err error) {
	for _, field := range strings.Fields(s) {
		major, rest, ok := strings.Cut(field, ".")
		if !ok {
			continue
		}
		minor, _, _ := strings.Cut(rest, ".")
		if v[0], err = strconv.Atoi(major); err != nil {
			continue
		}
		if v[1], err = strconv.Atoi(minor); err == nil {
			return v, nil
		}
	}
	return v, fmt.Errorf("read version %q: no number", s)
}

func (g *Git) atLeast(major, minor int) bool {
	return g.version[0] > major || g.version[0] == major && g.version[1] >= minor
}

// Version is git's version as "2.39".
func (g *Git) Version() string { return fmt.Sprintf("%d.%d", g.version[0], g.version[1]) }

// The outcomes that callers decide by.
var (
	// ErrNotRepo says that a folder is in no git repository.
	ErrNotRepo = errors.New("not a git repository")
	// ErrNotOwner says that git refuses a repository since another user owns it.
	ErrNotOwner = errors.New("the repository belongs to another user; git config --global --add safe.directory allows it")
	// ErrUnborn says that the repository has no commit yet, so that nothing can be checked out elsewhere.
	ErrUnborn = errors.New("the repository has no commit yet")
	// ErrExists says that a folder or branch of that name is there already.
	ErrExists = errors.New("exists already")
	// ErrBadName says that git does not allow a branch of that name.
	ErrBadName = errors.New("not a valid branch name")
	// ErrLocked says that the user locked a worktree (git worktree lock).
	ErrLocked = errors.New("the worktree is locked")
	// ErrNotRegistered says that the repository has no worktree at that folder.
	ErrNotRegistered = errors.New("not a registered worktree")
	// ErrInUse says that the thing to drop is still used.
	ErrInUse = errors.New("still in use")
	// ErrMoved says that a branch no longer points where the caller expected it.
	ErrMoved = errors.New("the branch has moved")
	// ErrStuck says that git was silent for so long that it was ended.
	ErrStuck = errors.New("git did not answer and was ended; is a pipe in the place of a file, or a disk gone?")
	// ErrTooMuch says that git printed more than the cap.
	ErrTooMuch = errors.New("git printed too much")
)

// HeldError says that another checkout holds a branch.
type HeldError struct{ Branch, Dir string }

func (e *HeldError) Error() string {
	return fmt.Sprintf("branch %q: checked out in %q", e.Branch, e.Dir)
}

// NoSuchRefError says that a name is no branch, tag or commit of the repository.
type NoSuchRefError struct{ Ref string }

func (e *NoSuchRefError) Error() string {
	return fmt.Sprintf("find %q: no such branch, tag or commit", e.Ref)
}

// hold takes the lock of that name, or ends with the context. Release it by calling the result.
func (g *Git) hold(ctx context.Context, name string) (release func(), err error) {
	g.mu.Lock()
	lock, ok := g.locks[name]
	if !ok {
		lock = make(chan struct{}, 1)
		g.locks[name] = lock
	}
	g.mu.Unlock()
	select {
	case lock <- struct{}{}:
		return func() { <-lock }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
