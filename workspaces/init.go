package workspaces

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carrel/workspaces/compat"
)

func initKey(id string) string { return "init/" + id }

func (d *Desks) initLogPath(id string) string { return d.root.Path("sessions", id, "init.log") }

// InitLog returns the notes of a workspace's creation and the output of its init hook, at most 1 MiB,
// with a last line that tells its exit code; "" when there is neither.
func (d *Desks) InitLog(id string) (string, error) {
	if _, err := d.root.SessionDir(id); err != nil {
		return "", err
	}
	return readLog(d.initLogPath(id))
}

// initHook finds the init hook of a workspace: that of the project's folder, which is what the
// person saw when granting trust; in a bare repository, which has none, that of the worktree.
func initHook(p Project, w Workspace) (path string, note string) {
	root := p.Path
	if p.Git && samePlace(p.Path, p.CommonDir) {
		root = w.Dir
	}
	path, info, ok := compat.Find(root, "init")
	if !ok {
		return "", ""
	}
	if !compat.Executable(info) {
		return "", fmt.Sprintf("%s did not run: it is not executable (chmod +x makes it so)", path)
	}
	return path, ""
}

// settle ends a creation: the row says that the place is ready, and what becomes of the init hook.
// start, when not nil, runs the hook and notes how it ended.
func (d *Desks) settle(ctx context.Context, p Project, w Workspace, notes []string) (_ Workspace, start func(context.Context), err error) {
	hook, note := initHook(p, w)
	if note != "" {
		notes = append(notes, note)
	}
	w.Init = InitNone
	if hook != "" {
		trusted, err := d.mayRun(ctx, p.ID)
		if err != nil {
			return Workspace{}, nil, err
		}
		w.Init = InitRunning
		if !trusted {
			w.Init = InitSkipped
			notes = append(notes, fmt.Sprintf("%s did not run: the project is not trusted. Read it, trust the project (carrel trust --dir %s), then run it again",
				hook, shellQuote(p.Path)))
		}
	}
	if err := d.registry.settle(ctx, w.ID, w.Init); err != nil {
		return Workspace{}, nil, err
	}
	if w, err = d.changed(ctx, w.ID); err != nil {
		return Workspace{}, nil, err
	}
	log := d.openInitLog(w, notes)
	if len(notes) > 0 {
		d.emit(Event{Workspace: &w, Notes: notes, Logged: true})
	}
	if w.Init != InitRunning {
		log.close()
		return w, nil, nil
	}
	return w, func(ctx context.Context) { d.runInit(ctx, p, w, hook, log) }, nil
}

// openInitLog begins the log of a creation with its notes, without telling of them again.
func (d *Desks) openInitLog(w Workspace, notes []string) *hookLog {
	log := openLog(d.initLogPath(w.ID), nil)
	for _, n := range notes {
		log.note("%s", n)
	}
	log.onText = func(text string) { d.emit(Event{Workspace: &w, InitOutput: text}) }
	return log
}

// startInit runs an init hook in the background and gives its lock back at the end. It says false,
// having noted the hook as failed, when this Desks is closing.
func (d *Desks) startInit(id string, unlock func(), start func(context.Context)) bool {
	if d.jobs.start(initKey(id), func(ctx context.Context) { defer unlock(); start(ctx) }) {
		return true
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	start(ended)
	return false
}

// runInit runs an init hook to its end and notes the outcome, also when it was cut short.
func (d *Desks) runInit(ctx context.Context, p Project, w Workspace, hook string, log *hookLog) {
	exit, err := d.runScript(ctx, p, w, hook, log)
	state, code := InitDone, exit.Code
	if err != nil || exit.Killed {
		code = noCode
	}
	if code != 0 {
		state = InitFailed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer cancel()
	if err := d.registry.setInit(ctx, w.ID, state, code); err != nil {
		if !errors.Is(err, ErrNotFound) {
			d.emit(Event{Workspace: &w, Notes: []string{fmt.Sprintf("The end of its init hook could not be noted: %v", err)}})
		}
		return
	}
	_, _ = d.changed(ctx, w.ID) // it was deleted meanwhile, or the registry just failed and will say so again
}

// noteLimit bounds the wait for the registry at the end of a job.
const noteLimit = 10 * time.Second

// RetryInit runs the init hook again, in the background; its log starts anew. It is refused while the
// hook runs, when there is none and when the project is not trusted.
func (d *Desks) RetryInit(ctx context.Context, id string) error {
	w, p, err := d.load(ctx, id)
	if err != nil {
		return err
	}
	if r := inspect(p, w); r != nil {
		return r
	}
	hook, note := initHook(p, w)
	if hook == "" {
		if note == "" {
			note = fmt.Sprintf("%s has no .carrel/init", p.Path)
		}
		return &Refusal{Code: NoHook, WorkspaceID: id, Message: note + "."}
	}
	trusted, err := d.mayRun(ctx, p.ID)
	if err != nil {
		return err
	}
	if !trusted {
		return &Refusal{Code: HookNotTrusted, WorkspaceID: id,
			Message: fmt.Sprintf("%s is not trusted, so %s does not run: read it, then trust the project.", p.Name, hook)}
	}
	unlock, err := d.claim(id)
	if errors.Is(err, errLocked) {
		return &Refusal{Code: Busy, WorkspaceID: id, Cause: err, Message: "The init hook is running already."}
	}
	if err != nil {
		return err
	}
	if err := d.registry.setInit(ctx, id, InitRunning, noCode); err != nil {
		unlock()
		return err
	}
	if w, err = d.changed(ctx, id); err != nil {
		unlock()
		return err
	}
	log := d.openInitLog(w, nil)
	if !d.startInit(id, unlock, func(ctx context.Context) { d.runInit(ctx, p, w, hook, log) }) {
		unlock()
	}
	return nil
}
