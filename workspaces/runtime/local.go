package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

// Options qualifies NewLocal.
type Options struct {
	// Env is the base environment of every command, KEY=value. Nil is BaseEnv of this process's.
	Env []string
	// Reaper ends the commands when this process dies. Nil leaves them to KillTagged.
	Reaper *Reaper
	// Tag marks the commands and all that they start, for KillTagged: the workspace's id.
	Tag string
	// Boxes gives the sandboxes of commands that ask to be held; nil: there is none.
	Boxes Boxes
}

// NewLocal makes the runtime of a folder on this machine. The folder must exist; its path is made
// canonical. Both the project's own folder and a worktree are served by it.
func NewLocal(kind Kind, dir string, o Options) (Runtime, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("open workspace %q: path is not absolute", dir)
	}
	if strings.ContainsAny(o.Tag, "/=\x00") {
		return nil, fmt.Errorf("open workspace %q: tag %q has a character that it must not have", dir, o.Tag)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace %q: %w", dir, cause(err))
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, fmt.Errorf("open workspace %q: %w", dir, cause(err))
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("open workspace %q: not a folder", dir)
	}
	l := &local{kind: kind, files: files{dir: real, given: filepath.Clean(dir)}, env: o.Env, reaper: o.Reaper, tag: o.Tag, boxes: o.Boxes}
	if l.env == nil {
		l.env = BaseEnv(os.Environ())
	}
	if l.tag == "" {
		l.tag = "none"
	}
	l.owner = newOwner()
	if l.reaper != nil {
		l.owner = l.reaper.owner
	}
	return l, nil
}

// local is the runtime of a folder on this machine.
type local struct {
	kind    Kind
	files   files
	env     []string
	reaper  *Reaper
	tag     string // of the workspace
	owner   string // of the process that started the commands
	started atomic.Int64
	boxes   Boxes
}

func (l *local) Kind() Kind   { return l.kind }
func (l *local) Dir() string  { return l.files.dir }
func (l *local) Files() Files { return l.files }

func (l *local) Start(ctx context.Context, c Command) (Process, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, errors.New("start command: no program named")
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %q: %w", c.Argv[0], err)
	}
	dir, err := l.files.folder(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", c.Argv[0], err)
	}
	tag := newTag(l.tag, l.owner, l.started.Add(1))
	if c.Hold != HoldNot && l.boxes != nil {
		box, err := l.boxes(ctx, c.Hold)
		if err != nil {
			return nil, fmt.Errorf("start %q: %w", c.Argv[0], err)
		}
		if box != nil {
			return l.confine(ctx, box, c, dir, tag)
		}
	}
	env := append(append(append([]string{}, l.env...), c.Env...), "PWD="+dir, tagVar+"="+tag)
	exe, err := lookPath(c.Argv[0], dir, env)
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", c.Argv[0], err)
	}
	cmd := &exec.Cmd{Path: exe, Args: c.Argv, Dir: dir, Env: env, SysProcAttr: ownSession()}
	p, err := launch(ctx, cmd, c, tag, l.reaper)
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", c.Argv[0], cause(err))
	}
	return p, nil
}

// lookPath finds a program in the PATH of the command's own environment. Relative entries of PATH
// are skipped: they would find programs in whatever folder the command runs in.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return exec.LookPath(name)
	}
	for _, d := range filepath.SplitList(lookup(env, "PATH")) {
		if !filepath.IsAbs(d) {
			continue
		}
		if exe, err := exec.LookPath(filepath.Join(d, name)); err == nil {
			return exe, nil
		}
	}
	return "", fmt.Errorf("not found in PATH: %w", exec.ErrNotFound)
}

// lookup gives the last value of a variable, the one that a command would see.
func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// newTag names one command: workspace, owner, number.
func newTag(workspace, owner string, n int64) string {
	return workspace + "/" + owner + "/" + strconv.FormatInt(n, 10)
}

// cause strips the operation and path that the os package puts before an error, since ours come
// before it already.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var s *os.SyscallError
	if errors.As(err, &s) {
		return s.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
