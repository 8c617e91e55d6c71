package workspaces

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"carrel/workspaces/compat"
	"carrel/workspaces/runtime"
)

// hookLimit is how long an archive or delete hook may take.
const hookLimit = 60 * time.Second

// runHook runs the archive or delete hook of a workspace's checkout, if the project is trusted and
// the place is there, and waits for it. Its failure stops nothing: it goes to the log and the notes.
func (d *Desks) runHook(ctx context.Context, p Project, w Workspace, name string) (ran bool) {
	if inspect(p, w) != nil {
		return false
	}
	path, ok := compat.FindExecutable(w.Dir, name)
	if !ok {
		return false
	}
	rel, err := filepath.Rel(w.Dir, path)
	if err != nil {
		rel = name
	}
	trusted, err := d.mayRun(ctx, p.ID)
	if err != nil || !trusted {
		d.emit(Event{Workspace: &w, Notes: []string{fmt.Sprintf("%s did not run: the project is not trusted", rel)}})
		return false
	}
	limited, cancel := context.WithTimeout(ctx, d.hookLimit)
	defer cancel()
	exit, err := d.runScript(limited, p, w, path, d.hookLog(w, name))
	var note string
	switch {
	case err != nil:
		note = fmt.Sprintf("%s did not run: %v", rel, err)
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		note = fmt.Sprintf("%s was ended: it took longer than %v", rel, d.hookLimit)
	case exit.Code != 0:
		note = fmt.Sprintf("%s ended with code %d", rel, exit.Code)
	}
	if note != "" {
		d.emit(Event{Workspace: &w, Notes: []string{note}})
	}
	return true
}

// explain says what the system means when a script that is there "does not exist" or has the wrong
// format: its first line.
func explain(path string, err error) error {
	if errors.Is(err, syscall.ENOEXEC) {
		return fmt.Errorf("its first line must name an interpreter, such as #!/bin/sh: %w", err)
	}
	if errors.Is(err, fs.ErrNotExist) && exists(path) {
		return fmt.Errorf("the interpreter in its first line (%s) is not there: %w", firstLine(path), err)
	}
	return err
}

// firstLine is the beginning of a script's first line.
func firstLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 100)
	n, _ := io.ReadFull(f, head) // what there is will do
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	return strings.ToValidUTF8(line, "?")
}

// runScript runs a hook in a workspace and closes its log, which gets a last line about how it ended.
func (d *Desks) runScript(ctx context.Context, p Project, w Workspace, path string, log *hookLog) (exit runtime.Exit, err error) {
	defer func() {
		err = explain(path, err)
		switch {
		case err != nil:
			log.note("it did not run: %v", err)
		case exit.Killed:
			log.note("it was ended after %v", exit.Took.Round(time.Millisecond))
		default:
			log.note("it ended with code %d after %v", exit.Code, exit.Took.Round(time.Millisecond))
		}
		log.close()
	}()
	rt, err := d.open(p, w)
	if err != nil {
		return runtime.Exit{}, err
	}
	process, err := rt.Start(ctx, runtime.Command{Argv: []string{path}, Output: log})
	if err != nil {
		return runtime.Exit{}, err
	}
	return process.Wait()
}

// hookLog opens the log of an archive or delete hook, sessions/<id>/<name>.log.
func (d *Desks) hookLog(w Workspace, name string) *hookLog {
	return openLog(d.root.Path("sessions", w.ID, name+".log"), nil)
}

// maxLog is the most that a hook's log keeps, in bytes.
const maxLog = 1 << 20

// readLog returns a hook's log, "" when there is none.
func readLog(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, maxLog+4096))
	if err != nil {
		return "", fmt.Errorf("read log %q: %w", path, err)
	}
	return string(text), nil
}

// halt ends what works in a workspace, so that its hook has it alone, and says whether anything did.
func (d *Desks) halt(ctx context.Context, w Workspace) (worked bool, err error) {
	worked = d.jobs.running(initKey(w.ID))
	d.jobs.stop(initKey(w.ID))
	stopped, err := d.stop(ctx, w.ID)
	if err != nil {
		return worked, fmt.Errorf("stop workspace %q: %w", w.Name, err)
	}
	d.endWork(ctx, w)
	return worked || stopped, nil
}

// endWork ends what runs in a workspace: its init hook and every process that its commands started.
func (d *Desks) endWork(ctx context.Context, w Workspace) {
	d.jobs.stop(initKey(w.ID))
	limited, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()
	if err := runtime.KillTagged(limited, w.ID); err != nil {
		d.emit(Event{Workspace: &w, Notes: []string{fmt.Sprintf("Some of its processes still run: %v", err)}})
	}
}

// killLimit bounds the wait for a workspace's processes to end; they are killed after two seconds.
const killLimit = 10 * time.Second
