package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/store"
)

const runHelp = `Run gives one message to an agent, shows what it does, and exits when its turn ends.

The message is the arguments, or standard input. With both, what standard input holds is added to the
message. The run is registered as a workspace: see it later with carrel workspace list, or in the
window, where a running Carrel shows it at once. Commands that the agent runs are not sandboxed in
this version.

The first Ctrl-C interrupts the turn and saves it, a second one ends at once.`

// maxTitle is the length of a workspace's title made of a message, in characters.
const maxTitle = 60

type runOptions struct {
	dir, model, runtime string
	json, quiet         bool
}

func runCommand(io IO) *cobra.Command {
	var o runOptions
	c := &cobra.Command{Use: "run [flags] [MESSAGE]", Short: "Give one message to an agent and wait for its turn", Long: runHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.runtime != "local" && o.runtime != "worktree" {
				return usage("the runtime must be local or worktree, not %q", o.runtime)
			}
			message, err := readMessage(io.In, args)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), io, message)
		}}
	f := c.Flags()
	f.StringVarP(&o.dir, "dir", "d", "", "project folder (default: the current folder)")
	f.StringVarP(&o.model, "model", "m", "", "model, as provider:name")
	f.StringVarP(&o.runtime, "runtime", "r", "local", "local (the folder itself) or worktree (a branch of its own)")
	f.BoolVar(&o.json, "json", false, "print one JSON object per line")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print the final answer only")
	return c
}

func (o runOptions) run(ctx context.Context, io IO, message string) error {
	root, err := store.Open("")
	if err != nil {
		return err
	}
	return withApp(ctx, io, root, func(a *app.App) error {
		w, err := o.workspace(ctx, io, a, title(message))
		if err != nil {
			return err
		}
		r := &runner{io: io, api: a.API(), workspace: w, show: o.printer(io), ended: make(chan turnEnd, 1)}
		r.show.started(w)
		cancel := a.Subscribe(r.event)
		defer cancel()
		end, err := r.turn(ctx, message)
		if err != nil {
			return err
		}
		return r.show.ended(w, end)
	})
}

// workspace registers the project and the run's workspace.
func (o runOptions) workspace(ctx context.Context, io IO, a *app.App, title string) (app.Workspace, error) {
	dir := o.dir
	if dir == "" {
		dir = "."
	}
	dir = canonical(dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return app.Workspace{}, usage("--dir: there is no folder %s", dir)
	}
	api := a.API()
	p, err := api.Projects.Add(ctx, app.AddProject{Path: dir})
	if err != nil {
		return app.Workspace{}, err
	}
	if !p.Trusted && len(p.Automation) > 0 && !o.quiet {
		_, _ = fmt.Fprintf(io.Err, "carrel: %s is not trusted, so these do not run: %s. To trust it: carrel trust --dir %s\n",
			plain(p.Name), plain(strings.Join(p.Automation, ", ")), plain(p.Path))
	}
	return api.Workspaces.Create(ctx, app.NewWorkspace{ProjectID: p.ID, Title: title,
		Runtime: o.runtime, Model: o.model})
}

// title makes a workspace's title of the message's first line.
func title(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	if r := []rune(line); len(r) > maxTitle {
		line = strings.TrimSpace(string(r[:maxTitle-1])) + "…"
	}
	return line
}

// turnEnd is how the run's turn ended.
type turnEnd struct {
	activity app.Activity
	code     string
	message  string
	usage    app.Usage
}

// runner follows one turn.
type runner struct {
	io        IO
	api       app.API
	workspace app.Workspace
	show      printer
	working   bool // the turn has begun
	last      turnEnd
	ended     chan turnEnd
}

// event takes the events of the application, on the conversation's goroutine.
func (r *runner) event(e app.Event) {
	switch e := e.(type) {
	case app.EntryChanged:
		if e.Workspace == r.workspace.ID {
			if e.Entry.Kind == app.EntryTurnEnd {
				r.last.code, r.last.message = e.Entry.Code, e.Entry.Text
			}
			r.show.entry(e.Entry)
		}
	case app.EntryGrew:
		if e.Workspace == r.workspace.ID {
			r.show.grew(e)
		}
	case app.EntriesRemoved:
		if e.Workspace == r.workspace.ID {
			r.show.removed(e.IDs)
		}
	case app.ConversationChanged:
		if e.Workspace == r.workspace.ID {
			r.changed(e)
		}
	}
}

func (r *runner) changed(e app.ConversationChanged) {
	switch e.Activity {
	case app.Preparing, app.Streaming, app.RunningTools, app.Interrupting:
		r.working = true
	case app.Idle, app.Done, app.Failed, app.Interrupted, app.Waiting:
		if r.working {
			r.working = false
			r.last.activity, r.last.usage = e.Activity, e.Usage
			r.ended <- r.last
		}
	}
}

// turn sends the message and waits for the end. The first interrupt stops the turn and saves it, the
// second ends the process.
func (r *runner) turn(ctx context.Context, message string) (turnEnd, error) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if _, err := r.api.Conversations.Open(ctx, app.ByID{ID: r.workspace.ID}); err != nil {
		return turnEnd{}, err
	}
	if err := r.api.Conversations.Send(ctx, app.SendMessage{Workspace: r.workspace.ID, Text: message, ID: store.NewID()}); err != nil {
		return turnEnd{}, err
	}
	interrupted := false
	for {
		select {
		case end := <-r.ended:
			return end, nil
		case <-ctx.Done():
			return turnEnd{}, ctx.Err()
		case <-signals:
			if interrupted {
				os.Exit(exitInterrupted)
			}
			interrupted = true
			_, _ = fmt.Fprintln(r.io.Err, "carrel: interrupting; press Ctrl-C again to end at once")
			if err := r.api.Conversations.Interrupt(ctx, app.ByID{ID: r.workspace.ID}); err != nil {
				return turnEnd{}, err
			}
		}
	}
}

// failure is the exit of a turn that did not end well.
func (e turnEnd) failure() error {
	switch e.activity {
	case app.Interrupted:
		return &exitError{code: exitInterrupted, err: &app.Error{Code: "interrupted", Message: "Interrupted."}}
	case app.Failed:
		return &app.Error{Code: e.code, Message: e.message, Cause: errors.New("turn failed")}
	case app.Idle, app.Done, app.Waiting, app.Preparing, app.Streaming, app.RunningTools, app.Interrupting:
	}
	return nil
}
