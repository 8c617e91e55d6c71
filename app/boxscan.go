package app

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"carrel/sandbox"
	"carrel/sandbox/filter"
	"carrel/sandbox/scan"
	"carrel/workspaces/runtime"
)

// scanTime bounds a look at what a command left.
const scanTime = 30 * time.Second

// lookout looks, after each confined command of a workspace, for what could later run outside.
type lookout struct {
	boxes *boxes
	id    string
	box   *sandbox.Box
	proxy *filter.Filter

	config  scan.Config // of scanner; guarded by the boxes' lock
	scanner *scan.Scanner
}

// watch notes what is there before a command. What it gives looks again, moves what could run into
// quarantine, and tells of it in sentences.
func (l *lookout) watch(ctx context.Context, c sandbox.Command) (runtime.Look, error) {
	steps, err := l.box.Plan(c)
	if err != nil {
		return nil, err
	}
	scanner := l.scannerFor(scan.Places(steps))
	snapshot, err := scanner.Before(ctx)
	if err != nil {
		return nil, err
	}
	return func() []string {
		ctx, cancel := context.WithTimeout(context.Background(), scanTime)
		defer cancel()
		report, err := scanner.After(ctx, snapshot)
		if err != nil {
			l.boxes.app.logger.Warn("look at what a command left", "workspace", l.id, "err", err)
			return []string{"What the command left could not be looked at. Run no git there outside of the sandbox before you have."}
		}
		return l.settle(report)
	}, nil
}

// scannerFor gives a scanner of the places, the one before where they are the same.
func (l *lookout) scannerFor(c scan.Config) *scan.Scanner {
	l.boxes.mu.Lock()
	defer l.boxes.mu.Unlock()
	if l.scanner == nil || !slices.Equal(c.Roots, l.config.Roots) || !slices.Equal(c.Held, l.config.Held) || !slices.Equal(c.Open, l.config.Open) {
		l.config, l.scanner = c, scan.New(c)
	}
	return l.scanner
}

// settle moves what was found into quarantine.
func (l *lookout) settle(report scan.Report) []string {
	var told []string
	for _, f := range report.Findings {
		if f.Action != scan.Move {
			told = append(told, f.Reason+". It stays where it is; look at it.")
			continue
		}
		kept, err := scan.Quarantine(f, l.boxes.app.root.Path("quarantine"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			l.boxes.app.logger.Warn("put into quarantine", "workspace", l.id, "path", f.Path, "err", err)
			told = append(told, f.Reason+". It could not be moved into quarantine: look at it.")
		default:
			told = append(told, f.Reason+". It was moved into quarantine; the person gets it back with: carrel sandbox restore "+kept.ID)
		}
	}
	if report.Partial != "" {
		told = append(told, "What the command left was not looked at to the end ("+report.Partial+").")
	}
	if len(told) > 0 {
		l.boxes.net.changed(l.id)
	}
	return told
}
