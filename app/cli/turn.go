package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"carrel/app"
	"carrel/store"
)

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
	host      host
	stops     *interrupts
	workspace app.Workspace
	show      printer

	working bool      // the turn has begun
	waits   time.Time // when the next attempt that was told begins
	last    turnEnd
	ended   chan turnEnd  // gets the turn's end
	lost    chan struct{} // the core may have told what we did not hear
}

// event takes the events of the application, one at a time.
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
	if busy(e.Status.Activity) {
		r.working = true
		if w := e.Status.Retry; w != nil && !w.At.Equal(r.waits) {
			r.waits = w.At
			r.show.retrying(*w)
		}
		return
	}
	if r.working {
		r.working = false
		r.last.activity, r.last.usage = e.Status.Activity, e.Status.Usage
		select {
		case r.ended <- r.last:
		default: // of a message that somebody else sent after ours
		}
	}
}

func busy(a app.Activity) bool {
	switch a {
	case app.Preparing, app.Streaming, app.RunningTools, app.Interrupting, app.Retrying, app.Recovering, app.Waiting:
		return true
	case app.Idle, app.Done, app.Failed, app.Interrupted:
	}
	return false
}

// run sends the message and waits for the end of its turn. Nothing is shown before the message is
// accepted, so that a run that is refused can be tried elsewhere.
func (r *runner) run(ctx context.Context, o runOptions, message string) error {
	var c app.Conversation
	if err := r.host.Call(ctx, "conversations.open", app.ByID{ID: r.workspace.ID}, &c); err != nil {
		return err
	}
	w, err := workspaceNow(ctx, r.host, r.workspace)
	if err != nil {
		return err
	}
	r.workspace = w
	if w.Elsewhere {
		return &app.Error{Code: "elsewhere", Message: "Another carrel process works in this workspace. Wait until it is done, or stop it there."}
	}
	if busy(c.Status.Activity) {
		return &app.Error{Code: "busy", Message: "The agent is working in this workspace already. Wait until its turn has ended, or send the message in the window, where it is queued."}
	}
	if err := r.choose(ctx, o, c.Status); err != nil {
		return err
	}
	now, err := r.permit(ctx, o.permits)
	if err != nil {
		return err
	}
	r.show.started(r.workspace, now)
	stop := r.host.follow(r.workspace.ID, r.event, func() {
		select {
		case r.lost <- struct{}{}:
		default:
		}
	})
	defer stop()
	if err = r.host.Call(ctx, "conversations.send", app.SendMessage{Workspace: r.workspace.ID, Text: message, ID: store.NewID()}, nil); err != nil {
		return err
	}
	end, err := r.wait(ctx)
	if err != nil {
		return err
	}
	return r.show.ended(r.workspace, end, r.full)
}

// choose sets the model, its level and the budget where the person named them.
func (r *runner) choose(ctx context.Context, o runOptions, now app.Status) error {
	set := app.SetModel{Workspace: r.workspace.ID, Once: true}
	if o.model != "" && o.model != now.Model {
		set.Model, r.workspace.Model = &o.model, o.model
	}
	if o.thinking != "" {
		set.Level, r.workspace.Level = &o.thinking, o.thinking
	}
	if set.Model != nil || set.Level != nil {
		if err := r.host.Call(ctx, "workspaces.setModel", set, nil); err != nil {
			return err
		}
	}
	if o.noRetry && r.workspace.AutoRetry {
		if err := r.host.Call(ctx, "workspaces.setAutoRetry", app.SetAutoRetry{Workspace: r.workspace.ID}, nil); err != nil {
			return err
		}
	}
	if o.budget < 0 {
		return nil
	}
	if err := r.priced(ctx, cmp.Or(o.model, now.Model)); err != nil {
		return err
	}
	return r.host.Call(ctx, "costs.setBudget", app.SetBudget{Workspace: r.workspace.ID, USD: &o.budget}, nil)
}

// priced refuses a budget for a model whose price nobody knows: it could not hold.
func (r *runner) priced(ctx context.Context, model string) error {
	var m app.Model
	if err := r.host.Call(ctx, "settings.model", app.ByID{ID: model}, &m); err != nil {
		return err
	}
	if m.Prices != nil || m.Demo {
		return nil
	}
	return &exitError{code: exitUsage, err: &app.Error{Code: "unpriced", Message: fmt.Sprintf(
		"A budget can't hold for %s, since its price is not known. Give it prices under \"models\" in settings.jsonc, or leave out --budget.", m.ID)}}
}

// wait waits for the turn's end and interrupts it when asked to.
func (r *runner) wait(ctx context.Context) (turnEnd, error) {
	first := r.stops.first
	for {
		select {
		case end := <-r.ended:
			return end, nil
		case <-ctx.Done():
			return turnEnd{}, ctx.Err()
		case <-r.lost:
			return turnEnd{}, &app.Error{Code: "disconnected", Message: fmt.Sprintf(
				"The connection to the running Carrel broke. The turn may go on there; see: carrel workspace show %s", r.workspace.ID)}
		case <-first:
			first = nil
			_, _ = fmt.Fprintln(r.io.Err, "carrel: interrupting; press Ctrl-C again to end at once")
			// It returns when the turn has ended, which must not be waited for here: its end may
			// stand in the queue of events.
			go func() {
				if err := r.host.Call(ctx, "conversations.interrupt", app.ByID{ID: r.workspace.ID}, nil); err != nil {
					_, _ = fmt.Fprintln(r.io.Err, "carrel: interrupt:", plain(err.Error()))
				}
			}()
		}
	}
}

// full is the whole text of an entry, of which events carry the beginning.
func (r *runner) full(entry string) (string, error) {
	var e app.Entry
	err := r.host.Call(context.Background(), "conversations.entry", app.EntryRequest{Workspace: r.workspace.ID, Entry: entry}, &e)
	return e.Text, err
}

// failure is the exit of a turn that did not end well.
func (e turnEnd) failure() error {
	switch e.activity {
	case app.Interrupted:
		return interruptedError()
	case app.Failed:
		err := &app.Error{Code: e.code, Message: e.message, Cause: errors.New("turn failed")}
		if e.code == "budget" {
			return &exitError{code: exitBudget, err: err}
		}
		return err
	case app.Idle, app.Done, app.Waiting, app.Preparing, app.Streaming, app.RunningTools, app.Interrupting, app.Retrying, app.Recovering:
	}
	return nil
}
