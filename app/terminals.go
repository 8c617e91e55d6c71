package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"carrel/store"
	"carrel/workspaces"
	"carrel/workspaces/runtime"
	"carrel/workspaces/terminal"
)

// The limits of terminals.
const (
	maxTerminals      = 256 // in the core
	maxTerminalsOf    = 64  // in one workspace
	terminalCloseWait = 8 * time.Second
)

// terminals are the people's terminals of all workspaces. They live in the core, whatever hosts do.
type terminals struct {
	app *App

	mu     sync.Mutex
	closed bool
	open   map[string]*openTerminal // by id
	next   int
}

// openTerminal is one terminal with what a person made of it.
type openTerminal struct {
	id, workspace string
	group         string
	number        int // terminals are listed in the order in which they were opened
	name          string
	program       string // what runs in it, "" for the shell
	hold          held   // what confines it
	term          *terminal.Terminal
}

func newTerminals(a *App) *terminals { return &terminals{app: a, open: map[string]*openTerminal{}} }

// terminalService implements TerminalsAPI.
type terminalService struct{ app *App }

func (s terminalService) List(_ context.Context, args ByID) ([]Terminal, error) {
	out := []Terminal{}
	for _, o := range s.app.terminals.of(args.ID) {
		out = append(out, o.view())
	}
	return out, nil
}

// of gives the terminals of a workspace, of all for "".
func (ts *terminals) of(workspace string) []*openTerminal {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	var out []*openTerminal
	for _, o := range ts.open {
		if workspace == "" || o.workspace == workspace {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b *openTerminal) int { return cmp.Compare(a.number, b.number) })
	return out
}

var errNoTerminal = &Error{Code: "not_found", Message: "This terminal is not there any more."}

func (ts *terminals) get(id string) (*openTerminal, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if o := ts.open[id]; o != nil {
		return o, nil
	}
	return nil, errNoTerminal
}

func (s terminalService) Open(ctx context.Context, args OpenTerminal) (Terminal, error) {
	o, err := s.app.terminals.start(ctx, args, nil)
	if err != nil {
		return Terminal{}, err
	}
	return o.view(), nil
}

// start opens a terminal with a program, the person's shell when there is none.
func (ts *terminals) start(ctx context.Context, args OpenTerminal, argv []string) (*openTerminal, error) {
	a := ts.app
	done, err := a.start(args.Workspace)
	if err != nil {
		return nil, err
	}
	defer done()
	w, err := a.registry.Workspace(ctx, args.Workspace)
	if err != nil {
		return nil, userError(err)
	}
	place, err := a.desks.Runtime(ctx, w)
	if err != nil {
		return nil, userError(err)
	}
	o := &openTerminal{id: store.NewID(), workspace: w.ID}
	if len(argv) > 0 {
		o.program = argv[0]
	}
	hold := runtime.HoldNot
	if args.Confined {
		if o.hold, err = ts.confinement(ctx, w); err != nil {
			return nil, err
		}
		hold = runtime.HoldPolicy
	}
	if err := ts.admit(o, args.Beside); err != nil {
		return nil, err
	}
	env, err := a.terminalEnv(ctx, w)
	if err == nil {
		o.term, err = terminal.Start(ctx, place, terminal.Options{Changed: func() { ts.changed(o) },
			Command: runtime.TerminalCommand{Argv: argv, Env: env, Cols: args.Cols, Rows: args.Rows, Hold: hold}})
	}
	if err != nil {
		return nil, &Error{Code: "terminal", Message: "The terminal could not be opened: " + short(err.Error()), Cause: err}
	}
	if err := ts.keep(o); err != nil {
		_ = o.term.Close(ctx)
		return nil, err
	}
	a.publish(TerminalChanged{Terminal: o.view()})
	a.work.Go(func() { ts.await(o) })
	return o, nil
}

// confinement refuses a confined terminal where nothing would hold it.
func (ts *terminals) confinement(ctx context.Context, w workspaces.Workspace) (held, error) {
	h, err := ts.app.boxes.heldNow(ctx, w)
	if err != nil {
		return h, userError(err)
	}
	if !h.on {
		why := "the sandbox is switched off for this workspace."
		if h.why != "" {
			why = short(h.why)
		}
		return h, &Error{Code: "no_sandbox", Message: "A confined terminal can't be opened: " + why}
	}
	return h, nil
}

// terminalEnv is the person's environment and what Carrel says of the workspace.
func (a *App) terminalEnv(ctx context.Context, w workspaces.Workspace) ([]string, error) {
	p, err := a.registry.Project(ctx, w.ProjectID)
	if err != nil {
		return nil, err
	}
	return append(runtime.TerminalEnv(a.environ), a.desks.Vars(p, w)...), nil
}

// admit numbers a terminal if there may be one more.
func (ts *terminals) admit(o *openTerminal, beside string) error {
	mine := len(ts.of(o.workspace))
	ts.mu.Lock()
	defer ts.mu.Unlock()
	switch {
	case ts.closed:
		return errClosing
	case mine >= maxTerminalsOf || len(ts.open) >= maxTerminals:
		return &Error{Code: "too_many", Message: "There are too many terminals. Close one first."}
	}
	o.group = o.id
	if other := ts.open[beside]; other != nil && other.workspace == o.workspace {
		o.group = other.group
	}
	ts.next++
	o.number = ts.next
	return nil
}

func (ts *terminals) keep(o *openTerminal) error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.closed {
		return errClosing
	}
	ts.open[o.id] = o
	return nil
}

func (ts *terminals) changed(o *openTerminal) {
	if _, err := ts.get(o.id); err == nil {
		ts.app.publish(TerminalChanged{Terminal: o.view()})
	}
}

// await takes a terminal away when its program ended well; one that failed stays to be read.
func (ts *terminals) await(o *openTerminal) {
	<-o.term.Ended()
	exit := o.term.State().Exit
	if exit == nil || exit.Code != 0 || exit.Killed {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), terminalCloseWait)
	defer cancel()
	_ = ts.remove(ctx, o)
}

// remove ends a terminal.
func (ts *terminals) remove(ctx context.Context, o *openTerminal) error {
	ts.mu.Lock()
	known := ts.open[o.id] == o
	delete(ts.open, o.id)
	ts.mu.Unlock()
	if !known {
		return nil
	}
	err := o.term.Close(ctx)
	ts.app.publish(TerminalClosed{ID: o.id, Workspace: o.workspace})
	if err != nil {
		ts.app.logger.Warn("close a terminal", "workspace", o.workspace, "err", err)
		return &Error{Code: "terminal", Message: "The terminal was closed, but something that was started in it still runs.", Cause: err}
	}
	return nil
}

// end ends a workspace's terminals, and what was left running in the background of earlier ones.
func (ts *terminals) end(ctx context.Context, workspace string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), terminalCloseWait)
	defer cancel()
	mine := ts.of(workspace)
	errs := make([]error, len(mine))
	var all sync.WaitGroup
	for i, o := range mine {
		all.Go(func() { errs[i] = ts.remove(ctx, o) })
	}
	all.Wait()
	return errors.Join(append(errs, runtime.KillTerminals(ctx, workspace))...)
}

// close ends all.
func (ts *terminals) close(ctx context.Context) error {
	ts.mu.Lock()
	ts.closed = true
	ts.mu.Unlock()
	return ts.end(ctx, "")
}

// busy reports whether a command runs in any.
func (ts *terminals) busy() bool {
	return slices.ContainsFunc(ts.of(""), func(o *openTerminal) bool {
		s := o.term.State()
		return s.Busy || o.program != "" && s.Exit == nil
	})
}

func (s terminalService) Close(ctx context.Context, args ByID) error {
	o, err := s.app.terminals.get(args.ID)
	if err != nil {
		return nil // it is closed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), terminalCloseWait)
	defer cancel()
	return s.app.terminals.remove(ctx, o)
}

func (s terminalService) Rename(_ context.Context, args RenameTerminal) (Terminal, error) {
	o, err := s.app.terminals.get(args.ID)
	if err != nil {
		return Terminal{}, err
	}
	s.app.terminals.mu.Lock()
	o.name = terminal.CleanName(args.Name)
	s.app.terminals.mu.Unlock()
	v := o.view()
	s.app.publish(TerminalChanged{Terminal: v})
	return v, nil
}

// view is the terminal as hosts see it.
func (o *openTerminal) view() Terminal {
	s := o.term.State()
	v := Terminal{ID: o.id, Workspace: o.workspace, Group: o.group, Number: o.number, Name: o.name, Title: s.Title, Program: o.program,
		Dir: short(s.Dir), Busy: s.Busy, Bells: s.Bells, Cols: s.Cols, Rows: s.Rows, Confined: o.hold.on, Tier: string(o.hold.tier)}
	if s.LastCode >= 0 {
		v.LastCode = &s.LastCode
	}
	if s.Exit != nil {
		v.Exit = &TerminalExit{Code: s.Exit.Code, Killed: s.Exit.Killed, Notes: s.Exit.Notes}
	}
	v.Program = v.Program[strings.LastIndexByte(v.Program, '/')+1:]
	return v
}
