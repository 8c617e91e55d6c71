package workspaces

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"carrel/store"
	"carrel/workspaces/compat"
	"carrel/workspaces/git"
	"carrel/workspaces/runtime"
)

// Options are what a Desks stands on. Root, Git and Registry are required.
type Options struct {
	Root     *store.Root
	Git      *git.Git
	Registry *Registry
	Reaper   *runtime.Reaper // ends commands when this process dies; may be nil
	Env      []string        // environment that commands start from; nil: this process's, see runtime.BaseEnv
	// Events gets everything that changes, in any goroutine. It must not block. May be nil.
	Events func(Event)
	// Stop ends what the caller runs in a workspace, such as its conversation, once archiving or
	// deleting it is certain and before its hook runs, and says whether anything worked there. An error
	// stops the operation, with nothing removed. May be nil.
	Stop func(ctx context.Context, id string) (worked bool, err error)
	Now  func() time.Time // nil: time.Now
	// Boxes gives the sandboxes of a workspace's commands that ask to be held; nil: there is none.
	Boxes func(ctx context.Context, workspace string, h runtime.Hold) (*runtime.Boxed, error)
}

// Event is one change. One of the first four fields is set, or Notes alone.
type Event struct {
	Project          *Project   // new or changed
	Workspace        *Workspace // new or changed, or what InitOutput and Notes are about
	RemovedProject   string
	RemovedWorkspace string
	InitOutput       string   // a piece of the init hook's output, with Workspace
	Notes            []string // sentences for the person, mostly with Workspace: what was left out and why
	Logged           bool     // Notes stand in the workspace's InitLog too
}

// Desks is the life of projects and workspaces. Its methods may be called from any goroutine.
type Desks struct {
	root     *store.Root
	git      *git.Git
	registry *Registry
	reaper   *runtime.Reaper
	env      []string
	events   func(Event)
	stop     func(context.Context, string) (bool, error)
	now      func() time.Time
	boxes    func(context.Context, string, runtime.Hold) (*runtime.Boxed, error)
	jobs     jobs
	// hookLimit is how long an archive or delete hook may take; tests shorten it.
	hookLimit  time.Duration
	spareLimit int // maxSpares, fewer in tests

	dropping sync.Mutex // held while a branch is looked at for the last time and deleted

	mu   sync.Mutex
	busy map[string]bool // ids of workspaces and projects that something is being done with
	gone map[string]int  // by project: branches that went with their workspaces since this process began
}

// New returns a Desks. It starts nothing: see Recover and WarmSpares.
func New(o Options) *Desks {
	d := &Desks{
		root: o.Root, git: o.Git, registry: o.Registry, reaper: o.Reaper,
		env: o.Env, events: o.Events, stop: o.Stop, now: o.Now, boxes: o.Boxes,
		hookLimit: hookLimit, spareLimit: maxSpares, busy: make(map[string]bool), gone: make(map[string]int),
	}
	if d.env == nil {
		d.env = os.Environ()
	}
	if d.stop == nil {
		d.stop = func(context.Context, string) (bool, error) { return false, nil }
	}
	if d.now == nil {
		d.now = time.Now
	}
	return d
}

// Close ends hooks and background work and waits for them. What was cut short is noted: an init hook
// as failed, a spare as not ready.
func (d *Desks) Close() error {
	d.jobs.close()
	return nil
}

func (d *Desks) emit(e Event) {
	if d.events != nil {
		d.events(e)
	}
}

// take reserves ids for one operation; release gives them back. It refuses what is taken already.
func (d *Desks) take(ids ...string) (release func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range ids {
		if d.busy[id] {
			return nil, &Refusal{Code: Busy, WorkspaceID: id,
				Message: "Something else is being done with it right now: try again in a moment."}
		}
	}
	for _, id := range ids {
		d.busy[id] = true
	}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, id := range ids {
			delete(d.busy, id)
		}
	}, nil
}

// source is the folder of a project's worktrees: src/<name>-<short id>, canonical, because git
// registers worktrees under their true path.
func (d *Desks) source(p Project) (string, error) {
	name := Slug(p.Name)
	if name == "" {
		name = "project"
	}
	dir := d.root.Path("src", name+"-"+p.ID[:min(6, len(p.ID))])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// Vars is what a workspace's commands and hooks find in their environment, with the older names.
func (d *Desks) Vars(p Project, w Workspace) []string {
	vars := []string{
		"CARREL_PROJECT_PATH=" + p.Path,
		"CARREL_RUNTIME=" + string(w.Runtime),
		"CARREL_WORKSPACE_NAME=" + w.Name,
		"CARREL_WORKSPACE_ID=" + w.ID,
	}
	if w.Ports > 0 {
		vars = append(vars, "CARREL_PORT_BASE="+strconv.Itoa(w.Ports))
	}
	if w.Model != "" {
		vars = append(vars, "CARREL_MODEL_STRING="+w.Model)
	}
	return compat.Alias(vars)
}

// load reads a workspace and its project.
func (d *Desks) load(ctx context.Context, id string) (Workspace, Project, error) {
	w, err := d.registry.Workspace(ctx, id)
	if err != nil {
		return Workspace{}, Project{}, err
	}
	p, err := d.registry.Project(ctx, w.ProjectID)
	if err != nil {
		return Workspace{}, Project{}, err
	}
	return w, p, nil
}

// shellQuote makes a path one word in a command that the person may copy.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// changed tells of a workspace's row as it is now.
func (d *Desks) changed(ctx context.Context, id string) (Workspace, error) {
	w, err := d.registry.Workspace(ctx, id)
	if err != nil {
		return Workspace{}, err
	}
	d.emit(Event{Workspace: &w})
	return w, nil
}

// automationOff says whether the person switched all project automation off.
func (d *Desks) automationOff() bool {
	return compat.Lookup(d.env, "DISABLE_PROJECT_AUTOMATION") == "1"
}

// worktrees keeps those workspaces that have a tree of their own.
func worktrees(list []Workspace) []Workspace {
	return slices.DeleteFunc(slices.Clone(list), func(w Workspace) bool { return w.Runtime != runtime.Worktree })
}
