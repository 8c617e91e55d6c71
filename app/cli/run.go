package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"carrel/app"
	"carrel/app/attach"
	"carrel/app/wire"
	"carrel/store"
)

const runHelp = `Run gives one message to an agent, shows what it does, and exits when its turn ends.

The message is the arguments, or standard input. With both, what standard input holds is added to the
message. Each run is a workspace of its own: see it later with carrel workspace list, or in the
window, where a running Carrel shows it at once. --workspace goes on in one that exists.

Commands of the agent run in the sandbox. Nobody is there to be asked: edits in the workspace and confined
commands run, what would need a person is refused and the model is told. --allow-rule allows more.

The first Ctrl-C interrupts the turn and saves it, a second one ends at once.

A request that fails for the moment, such as for a limit of the provider, is tried again by itself, and the
run tells when.

Exit codes: 0 the turn ended well, 1 it failed, 2 wrong usage or the budget is used up, 130 interrupted.`

const runExample = `  carrel run "Fix the failing tests"
  carrel run -d ~/code/harbor -m anthropic:claude-sonnet-5-5 "Add a --dry-run flag"
  carrel run -r worktree "Try the other approach"
  git diff | carrel run "Review this"
  carrel run -w try-the-other-approach "Now the tests"
  carrel run --json "List the packages" | jq -r 'select(.type == "end").result'`

// maxTitle is the length of a workspace's title made of a message, in characters.
const maxTitle = 60

type runOptions struct {
	dir, model, runtime, workspace string
	thinking                       string
	budget                         float64 // US dollars; negative: none
	noRetry                        bool
	json, quiet                    bool
	permits                        permits
}

func runCommand(io IO) *cobra.Command {
	var o runOptions
	c := &cobra.Command{Use: "run [flags] [MESSAGE]", Short: "Give one message to an agent and wait for its turn",
		Long: runHelp, Example: runExample, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			message, err := readMessage(io.In, args)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), io, message)
		}}
	f := c.Flags()
	f.StringVarP(&o.dir, "dir", "d", "", "project `folder` (default: the current one)")
	f.StringVarP(&o.model, "model", "m", "", "`model`, as provider:name or a short name (default: the one in settings)")
	f.StringVarP(&o.runtime, "runtime", "r", "local", "`kind`: local, the folder itself, or worktree, a branch in its own folder")
	f.StringVarP(&o.thinking, "thinking", "t", "", "how hard the model thinks: off, low, medium, high, xhigh or max, or 0 to 9 from its lowest `level` up (default: the model's own)")
	f.Float64VarP(&o.budget, "budget", "b", -1, "stop when the workspace has cost more than this many `USD` (default: no limit)")
	f.StringVarP(&o.workspace, "workspace", "w", "", "go on in the `workspace` with this id or name")
	f.BoolVar(&o.noRetry, "no-retry", false, "fail at once where a failed request would be tried again")
	o.permits.flags(c)
	f.BoolVar(&o.json, "json", false, "print one JSON object per line")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print the final answer only; with --json the last line only")
	return c
}

// check refuses flags that don't go together.
func (o runOptions) check(cmd *cobra.Command) error {
	if o.runtime != "local" && o.runtime != "worktree" {
		return usage("the runtime must be local or worktree, not %q", o.runtime)
	}
	if cmd.Flags().Changed("budget") && !(o.budget >= 0 && o.budget <= app.MaxBudget) {
		return usage("the budget must be an amount of US dollars up to a million, such as 2.50")
	}
	if err := o.permits.check(); err != nil {
		return err
	}
	if o.workspace == "" {
		return nil
	}
	for _, flag := range []string{"dir", "runtime"} {
		if cmd.Flags().Changed(flag) {
			return usage("--workspace names a place already: leave out --%s", flag)
		}
	}
	return nil
}

func (o runOptions) run(ctx context.Context, io IO, message string) error {
	root, err := store.Open("")
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	stops := listenInterrupts(io.Exit)
	defer stops.stop()
	out := newSpool(stops.raise)
	spooled := io
	spooled.Out, spooled.Err = out.writer(io.Out), out.writer(io.Err)
	err = withApp(ctx, spooled, root, func(a *app.App) error { return o.with(ctx, spooled, root, a, stops, message) })
	return outputError(out.close(), err)
}

// outputError is err, or what kept the output from being written where that was the cause: a write that
// fails interrupts the turn, so that it is saved. A reader that left is an interrupt like others.
func outputError(written, err error) error {
	var exit *exitError
	interrupted := errors.As(err, &exit) && exit.code == exitInterrupted
	if written == nil || err != nil && !(interrupted && !errors.Is(written, syscall.EPIPE)) {
		return err
	}
	return &app.Error{Code: "output", Cause: written, Message: fmt.Sprintf("The output could not be written (%v). The conversation was saved.", written)}
}

// with runs the turn in a's process or, when a running core has the workspace open, there.
func (o runOptions) with(ctx context.Context, io IO, root *store.Root, a *app.App, stops *interrupts, message string) error {
	r := &runner{io: io, host: newOwnHost(a), stops: stops, show: o.printer(io), ended: make(chan turnEnd, 1), lost: make(chan struct{}, 1)}
	if err := o.place(ctx, r, title(message)); err != nil {
		return err
	}
	err := r.run(ctx, o, message)
	var elsewhere *app.Error
	if !errors.As(err, &elsewhere) || elsewhere.Code != "elsewhere" {
		return err
	}
	if _, notFound := attach.Find(ctx, root); notFound != nil {
		return err
	}
	h, err := dialHost(ctx, root)
	if err != nil {
		return err
	}
	defer h.close()
	r.host = h
	return r.run(ctx, o, message)
}

// place finds or makes the run's workspace and waits for its init hook. An interrupt undoes it.
func (o runOptions) place(ctx context.Context, r *runner, title string) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-r.stops.first:
			cancel()
		case <-done:
		}
	}()
	if o.workspace != "" {
		r.workspace, err = findWorkspace(ctx, r.host, o.workspace, "")
	} else {
		r.workspace, err = o.create(ctx, r, title)
	}
	if r.stops.raised() {
		return interruptedError()
	}
	return err
}

func (o runOptions) create(ctx context.Context, r *runner, title string) (app.Workspace, error) {
	dir, err := folder("--dir", o.dir)
	if err != nil {
		return app.Workspace{}, err
	}
	if o.budget >= 0 {
		if err := r.priced(ctx, o.model); err != nil {
			return app.Workspace{}, err
		}
	}
	var p app.Project
	if err := r.host.Call(ctx, "projects.add", app.AddProject{Path: dir}, &p); err != nil {
		return app.Workspace{}, err
	}
	if !p.Trusted && len(p.Automation) > 0 && !o.quiet {
		_, _ = fmt.Fprintf(r.io.Err, "carrel: %s is not trusted, so these do not run: %s. To trust it: carrel trust --dir %s\n",
			line(p.Name), line(strings.Join(p.Automation, ", ")), quote(p.Path))
	}
	in := app.NewWorkspace{ProjectID: p.ID, Title: title, Runtime: o.runtime, Model: o.model}
	if !below(p.Path, dir) {
		if in.Base, err = fromLinked(ctx, r.host, p, dir, o.runtime); err != nil {
			return app.Workspace{}, err
		}
	}
	return createWorkspace(ctx, r.host, in, r.show.hook)
}

// createWorkspace makes a workspace. Where its init hook would end with this process, it waits for
// the hook; output gets what the hook prints, and what was left out of the creation.
func createWorkspace(ctx context.Context, h host, in app.NewWorkspace, output func(text string)) (app.Workspace, error) {
	var said saidLines
	w, err := makeWorkspace(ctx, h, in, func(text string) { said.add(text); output(text) })
	if err != nil {
		return w, err
	}
	var log string
	if err := h.Call(ctx, "workspaces.initLog", app.ByID{ID: w.ID}, &log); err != nil {
		return w, err
	}
	for note := range strings.Lines(log) {
		if !strings.HasPrefix(note, notePrefix) {
			break // the hook's own output
		}
		if !said.has(note) {
			output(note)
		}
	}
	return w, nil
}

// notePrefix begins what the log of a creation says itself.
const notePrefix = "carrel: "

// saidLines remembers the notes among what was shown, which comes on another goroutine.
type saidLines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *saidLines) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.WriteString(text)
}

func (s *saidLines) has(line string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.text.String(), line)
}

func makeWorkspace(ctx context.Context, h host, in app.NewWorkspace, output func(text string)) (app.Workspace, error) {
	settled := make(chan struct{}, 1)
	if h.own() {
		stop := h.follow("", func(e app.Event) {
			switch e := e.(type) {
			case app.InitOutput:
				output(e.Text)
			case app.WorkspaceChanged:
				if e.Workspace.Init == app.InitDone || e.Workspace.Init == app.InitFailed {
					settled <- struct{}{}
				}
			}
		}, nil)
		defer stop()
	}
	var w app.Workspace
	if err := h.Call(ctx, "workspaces.create", in, &w); err != nil {
		return w, err
	}
	if !h.own() || w.Init != app.InitRunning {
		return w, nil
	}
	select {
	case <-settled:
	case <-ctx.Done():
		return w, ctx.Err()
	}
	return workspaceNow(ctx, h, w)
}

// workspaceNow reads a workspace again.
func workspaceNow(ctx context.Context, c wire.Caller, w app.Workspace) (app.Workspace, error) {
	return findWorkspace(ctx, c, w.ID, "")
}

// title makes a workspace's title of the message's first line.
func title(message string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	return short(line(first), maxTitle)
}

// quote makes a path one word of a command that the person may copy.
func quote(s string) string {
	s = plain(s)
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,+@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
