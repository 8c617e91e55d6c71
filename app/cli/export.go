package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	stdio "io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"carrel/agent/export"
	"carrel/app"
	"carrel/app/wire"
	"carrel/store"
)

type exportOptions struct {
	format, output, project string
	reasoning, left         bool
}

// written is what programs get of an export into a file.
type written struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Bytes  int64  `json:"bytes"`
}

func exportCommand(io IO) *cobra.Command {
	var o exportOptions
	c := &cobra.Command{Use: "export WORKSPACE", Short: "Write a conversation as Markdown or JSON",
		Example: `  carrel export fix-it > fix-it.md
  carrel export fix-it --format json --output fix-it.json`,
		Args: takes(1, 1, "the name or id of one workspace"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.output == "-" {
				o.output = ""
			}
			if !cmd.Flags().Changed("format") {
				o.format = formatOf(o.output, isJSON(cmd) && o.output == "")
			}
			if o.format != string(export.Markdown) && o.format != string(export.JSON) {
				return usage("--format is md or json, not %q", o.format)
			}
			if isJSON(cmd) && o.output == "" && o.format != string(export.JSON) {
				return usage("--json without --output prints JSON; leave out --format %s", o.format)
			}
			return o.run(cmd.Context(), io, args[0], isJSON(cmd))
		}}
	f := c.Flags()
	f.StringVarP(&o.format, "format", "f", "", "`FORMAT`: md or json (default: what --output ends in, else md)")
	f.StringVarP(&o.output, "output", "o", "", "write to this `file` instead of standard output")
	f.StringVarP(&o.project, "project", "p", "", "the workspace's `project`, where its name is not unique")
	f.BoolVar(&o.reasoning, "reasoning", false, "the models' reasoning too")
	f.BoolVar(&o.left, "all", false, "also what edits and /clear left behind")
	return c
}

func formatOf(output string, asJSON bool) string {
	if asJSON || filepath.Ext(output) == ".json" {
		return string(export.JSON)
	}
	return string(export.Markdown)
}

// run reads the log itself: it needs no lock, and a long conversation passes through nobody's memory.
func (o exportOptions) run(ctx context.Context, io IO, which string, asJSON bool) error {
	var about export.About
	err := services(ctx, io, func(ctx context.Context, s wire.Caller) error {
		w, err := findWorkspace(ctx, s, which, o.project)
		if err != nil {
			return err
		}
		about = export.About{Workspace: w.ID, Name: w.Name, Title: w.Title, Branch: w.Branch, CreatedAt: w.CreatedAt, At: time.Now()}
		var projects []app.Project
		err = s.Call(ctx, "projects.list", nil, &projects)
		for _, p := range projects {
			if p.ID == w.ProjectID {
				about.Project = p.Name
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	root, err := store.Open("")
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	done, err := o.write(ctx, io, root.Path("sessions", about.Workspace), about)
	if err != nil && ctx.Err() != nil {
		return interruptedError()
	}
	if err != nil || o.output == "" {
		return err
	}
	if asJSON {
		return printJSON(io.Out, done)
	}
	_, err = fmt.Fprintf(io.Out, "Wrote %s (%d bytes)\n", line(done.Path), done.Bytes)
	return err
}

// write writes to standard output, or to a file that is there whole or not at all.
func (o exportOptions) write(ctx context.Context, io IO, dir string, about export.About) (written, error) {
	to := func(w stdio.Writer) error {
		out := bufio.NewWriterSize(w, 64<<10)
		err := export.Write(ctx, out, dir, about, export.Options{Format: export.Format(o.format), Reasoning: o.reasoning, Left: o.left})
		return errors.Join(err, out.Flush())
	}
	if o.output == "" {
		return written{}, to(io.Out)
	}
	path := canonical(o.output)
	done := written{Path: path, Format: o.format}
	var err error
	if info, there := os.Stat(path); there == nil && !info.Mode().IsRegular() { // a device or a pipe can't be replaced
		err = appendTo(path, to)
	} else {
		done.Bytes, err = replace(path, to)
	}
	if err != nil {
		return done, fmt.Errorf("write %q: %w", path, err)
	}
	return done, nil
}

func appendTo(path string, to func(stdio.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(to(file), file.Close())
}

// replace writes a file beside path, readable for its owner alone, and puts it in path's place.
func replace(path string, to func(stdio.Writer) error) (size int64, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".carrel-export-")
	if err != nil {
		return 0, err
	}
	err = to(file)
	info, statErr := file.Stat()
	if err = errors.Join(err, statErr, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(file.Name()))
	}
	return info.Size(), nil
}
