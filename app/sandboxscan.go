package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"carrel/sandbox/plan"
	"carrel/sandbox/scan"
)

const (
	lookLimit   = 30 * time.Second
	maxFindings = 20 // of one command that are told one by one
)

// looker looks, around each command of one box, for what it left that could run outside.
type looker struct {
	boxes     *boxes
	workspace string

	mu      sync.Mutex
	config  scan.Config
	scanner *scan.Scanner
}

// look notes what is there before a command; after looks again, puts away what it left, and says so.
func (l *looker) look(ctx context.Context, p plan.Plan) (after func() []string, err error) {
	scanner := l.scannerFor(scan.For(p))
	before, err := scanner.Before(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at what a command could leave: %w", err)
	}
	return func() []string {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookLimit)
		defer cancel()
		report, err := scanner.After(ctx, before)
		if err != nil {
			l.boxes.app.logger.Error("look at what a command left", "workspace", l.workspace, "err", err)
			return []string{"What the command left could not be looked at: don't run git there before you have."}
		}
		return l.tell(report)
	}, nil
}

// scannerFor keeps the scanner, and what it has seen, while plans stay the same.
func (l *looker) scannerFor(c scan.Config) *scan.Scanner {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.scanner == nil || !reflect.DeepEqual(c, l.config) {
		l.config, l.scanner = c, scan.New(c)
	}
	return l.scanner
}

// tell puts findings into quarantine and gives a sentence for each.
func (l *looker) tell(report scan.Report) []string {
	var said []string
	for _, f := range report.Findings {
		if text := l.put(f); text != "" {
			said = append(said, text)
		}
	}
	if report.Partial != "" {
		said = append(said, fmt.Sprintf("What the command left was not looked at to the end (%s): don't run git there before you have.", report.Partial))
	}
	if more := len(said) - maxFindings; more > 0 {
		said = append(said[:maxFindings], fmt.Sprintf("And %d more like these.", more))
	}
	if len(said) > 0 {
		l.boxes.app.publish(ProblemAppeared{Problem: Problem{Code: "left_behind", Message: short(said[0]), Path: l.workspace}})
		l.boxes.net.changed(l.workspace)
	}
	return said
}

// put moves one finding away where that is to be done, and says what became of it; "" when it is gone.
func (l *looker) put(f scan.Finding) string {
	if f.Action != scan.Move {
		return f.Reason + ". It stays where it is."
	}
	kept, err := scan.Quarantine(f, l.boxes.app.root.Path(quarantineFolder))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		l.boxes.app.logger.Error("put away what a command left", "workspace", l.workspace, "file", filepath.Join(f.Root, f.Path), "err", err)
		return f.Reason + ". It could not be moved into quarantine: remove it before you run anything there."
	case kept.PutBack:
		return f.Reason + ". It was moved into quarantine, and the former one put back; the person can restore it."
	}
	return f.Reason + ". It was moved into quarantine; the person can restore it."
}
