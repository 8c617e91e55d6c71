package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/sandbox/plan"
	"carrel/sandbox/scan"
	"carrel/store"
)

// quarantineFolder lies below the data root.
const quarantineFolder = "quarantine"

// sandboxScan looks at what a command may write, before and after.
type sandboxScan struct {
	scanner  *scan.Scanner
	snapshot *scan.Snapshot
}

func (s *sandboxScan) before(ctx context.Context, steps plan.Plan) error {
	s.scanner = scan.New(scan.Places(steps))
	var err error
	s.snapshot, err = s.scanner.Before(ctx)
	return err
}

// look compares, moves into quarantine what could run on the host, and says so.
func (r *sandboxRun) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	report, err := r.scan.scanner.After(ctx, r.scan.snapshot)
	if err != nil {
		return err
	}
	var failed error
	for _, f := range report.Findings {
		if f.Action != scan.Move {
			r.told.say("finding", f.Reason+". It stays where it is.", f)
			continue
		}
		kept, err := scan.Quarantine(f, r.quarantine)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			failed = errors.Join(failed, err)
			continue
		}
		text := f.Reason + ". It was moved into quarantine"
		if kept.PutBack {
			text += ", and the former one put back"
		}
		r.told.say("finding", fmt.Sprintf("%s: carrel sandbox restore %s", text, kept.ID), kept)
	}
	if report.Partial != "" {
		r.told.say("scan", fmt.Sprintf("What the command left was not looked at to the end (%s): don't run git there before you have.", report.Partial), nil)
	}
	return failed
}

func sandboxHeldCommand(io IO) *cobra.Command {
	return &cobra.Command{Use: "quarantine", Short: "List what commands left that could have run outside of the sandbox", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := quarantineDir()
			if err != nil {
				return err
			}
			list, err := scan.List(dir)
			if err != nil {
				return err
			}
			if isJSON(cmd) {
				return printJSON(io.Out, append([]scan.Kept{}, list...))
			}
			var rows [][]string
			for _, k := range list {
				rows = append(rows, []string{k.ID, ago(time.Now(), k.Time), filepath.Join(k.Root, k.Path), k.Reason})
			}
			return table(io, nil, rows)
		}}
}

func sandboxRestoreCommand(io IO) *cobra.Command {
	return &cobra.Command{Use: "restore id...", Short: "Move something out of quarantine, to where it was", Args: takes(1, 100, "one or more ids"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := quarantineDir()
			if err != nil {
				return err
			}
			for _, id := range args {
				kept, err := scan.Restore(dir, id)
				if errors.Is(err, fs.ErrNotExist) {
					return &app.Error{Code: "not_found", Message: fmt.Sprintf("There is no %q in quarantine, or its folder is gone.", id), Cause: err}
				}
				if err != nil {
					return err
				}
				if isJSON(cmd) {
					err = printJSON(io.Out, kept)
				} else {
					_, err = fmt.Fprintln(io.Out, "restored", line(filepath.Join(kept.Root, kept.Path)))
				}
				if err != nil {
					return err
				}
			}
			return nil
		}}
}

func quarantineDir() (string, error) {
	root, err := store.Open("")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root.Dir(), quarantineFolder)
	return dir, root.Close()
}
