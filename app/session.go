package app

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync"
	"time"

	"carrel/agent/catalog"
	"carrel/agent/prompt"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
	"carrel/store"
	"carrel/workspaces"
	"carrel/workspaces/compat"
	"carrel/workspaces/runtime"
)

// session is one conversation that is open in this process. conv is nil while another process, such
// as `carrel run`, holds it: then the log is only read, and followed until the lock is free.
//
// The order of locks: live.mu, then mu, the App's and the log's; publishing comes last.
type session struct {
	app    *App
	id     string
	live   *live
	purse  purse
	grants grants

	mu    sync.Mutex // guards what follows
	lock  *store.Lock
	log   *transcript.Log
	old   *transcript.Log // the log as it was read before the session became ours; readers may be in it
	conv  *turn.Conversation
	state turn.StateChange

	stop context.CancelFunc // ends the following of another process's log; nil when it was ours at once
	done chan struct{}      // closed when that has ended
}

// openSession opens the conversation of a workspace. The caller keeps one per workspace.
func (a *App) openSession(ctx context.Context, id string) (*session, error) {
	w, err := a.registry.Workspace(ctx, id)
	if err != nil {
		return nil, userError(err)
	}
	dir, err := a.root.SessionDir(id)
	if err != nil {
		return nil, err
	}
	s := &session{app: a, id: id, live: newLive(id, a.publish)}
	s.live.rev = a.revisions(id)
	a.ledger.do(func(ctx context.Context) { s.readPurse(ctx, 0) })
	if err := a.ledger.settle(ctx); err != nil {
		return nil, err
	}
	lock, err := a.root.LockSession(id)
	var held *store.LockedError
	switch {
	case errors.As(err, &held):
		err = s.follow(dir)
	case err == nil:
		err = s.own(ctx, w, dir, lock, nil)
	}
	if err != nil {
		return nil, err
	}
	s.tellApp()
	return s, nil
}

// own opens the log for writing and starts the conversation; before, when not nil, is called with
// the log before anybody can change it further. After an error nothing is held.
func (s *session) own(ctx context.Context, w workspaces.Workspace, dir string, lock *store.Lock, before func(*transcript.Log)) error {
	ready := make(chan struct{})
	log, conv, state, err := s.begin(ctx, w, dir, ready)
	if err != nil {
		return errors.Join(fmt.Errorf("open conversation %q: %w", s.id, err), lock.Close())
	}
	if before != nil {
		before(log)
	}
	s.mu.Lock()
	s.lock, s.old, s.log, s.conv, s.state = lock, s.log, log, conv, state
	s.mu.Unlock()
	close(ready)
	return nil
}

// begin opens the log and starts the conversation, which does nothing by itself until ready is closed.
func (s *session) begin(ctx context.Context, w workspaces.Workspace, dir string, ready <-chan struct{}) (*transcript.Log, *turn.Conversation, turn.StateChange, error) {
	none := turn.StateChange{}
	log, err := transcript.Open(dir)
	if err != nil {
		return nil, nil, none, err
	}
	if log.State().Turn != "" { // its process died, and perhaps the helper that ends its commands with it
		if err := runtime.KillTagged(ctx, s.id); err != nil {
			s.app.logger.Warn("end what a turn that was cut off left running", "workspace", s.id, "err", err)
		}
	}
	db, err := s.app.root.DB(ctx)
	if err != nil {
		return nil, nil, none, errors.Join(err, log.Close())
	}
	conv, err := turn.Start(turn.Config{
		Workspace: s.id,
		Log:       log,
		Queue:     turn.NewQueue(db, s.id),
		Tools:     s.app.tools(s.id),
		Judge:     s.judge, Unattended: s.app.headless,
		Env:       s.env,
		Resolve:   s.resolve,
		System:    s.system,
		Choice:    s.app.choiceOf(w),
		AutoRetry: s.autoRetry,
		Breakers:  s.app.breakers,
		Tokens:    s.app.counter,
		Budget:    s.purse.left,
		Events:    s.event,
		Ready:     ready,
		Now:       time.Now,
	})
	if err != nil {
		return nil, nil, none, errors.Join(err, log.Close())
	}
	snap, err := conv.Snapshot(ctx)
	if err != nil {
		return nil, nil, none, errors.Join(err, conv.Close(context.WithoutCancel(ctx)), log.Close())
	}
	s.app.ledger.catchUp(s, log)
	return log, conv, snap.StateChange, nil
}

// event takes what the conversation's owner tells. It runs on the owner's goroutine.
func (s *session) event(e turn.Event) {
	switch {
	case e.Record != nil:
		s.spend(e.Record)
		s.live.record(e.Record)
		s.app.recorded(s.id, e.Record)
		if e.Record.Kind == transcript.Todos {
			s.publishState()
		}
	case e.Stream != nil:
		s.live.stream(e.Stream)
	case e.Progress != nil:
		s.live.progress(e.Progress)
	case e.Dropped != nil:
		s.live.dropped(s.reader().State().LastPartial)
	case e.State != nil:
		if e.State.Code == turn.CodeLog {
			s.app.publish(ProblemAppeared{Problem{Code: turn.CodeLog, Message: e.State.Error, Path: s.app.root.Path("sessions", s.id)}})
		}
		s.setState(*e.State)
	}
}

// setState takes a new state and tells hosts.
func (s *session) setState(state turn.StateChange) {
	s.mu.Lock()
	s.state = state
	s.mu.Unlock()
	s.app.stirred(s.id)
	s.tellApp()
	s.publishState()
	s.app.workspaceChanged(s.id)
}

// tellApp notes the conversation's state where the workspace's view finds it.
func (s *session) tellApp() {
	s.mu.Lock()
	state, elsewhere := s.state.State, s.conv == nil
	s.mu.Unlock()
	s.app.mu.Lock()
	d := s.app.deskOf(s.id)
	changed := elsewhere != d.elsewhere || state != d.turn
	d.turn, d.elsewhere = state, elsewhere
	s.app.mu.Unlock()
	if changed {
		s.app.workspaceChanged(s.id)
	}
}

// publishState tells hosts the state as it is now. It is read under the live lock, so that a greater
// revision never carries an older state.
func (s *session) publishState() {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	s.live.flush()
	c := s.status()
	s.app.publish(ConversationChanged{Workspace: s.id, Rev: s.live.next(), Status: c})
}

func (s *session) current() turn.StateChange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// reader is the log to read from; it changes once, when the session becomes ours.
func (s *session) reader() *transcript.Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log
}

// busy reports whether a turn of ours runs.
func (s *session) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conv != nil && s.state.State.Working()
}

// env is what tools may use. It refuses an unhealthy place: never a fallback folder.
func (s *session) env(ctx context.Context) (tool.Env, error) {
	a := s.app
	w, err := a.registry.Workspace(ctx, s.id)
	if err != nil {
		return tool.Env{}, err
	}
	place, err := a.desks.Runtime(ctx, w)
	if err != nil {
		return tool.Env{}, err
	}
	spill, err := a.spillDir(s.id)
	if err != nil {
		return tool.Env{}, err
	}
	vars := compat.Alias([]string{"CARREL_MODEL_STRING=" + s.current().Model})
	return tool.Env{Runtime: place, Vars: vars, SpillDir: spill}, nil
}

// resolve makes the endpoint of a choice.
func (s *session) resolve(_ context.Context, c turn.Choice) (turn.Endpoint, error) {
	r, err := s.app.catalog.Resolve(catalog.Choice{Model: c.Model, Level: catalog.Level(c.Level), Pro: c.Pro, Cyber: c.Cyber})
	if err != nil {
		return turn.Endpoint{}, err
	}
	return turn.Endpoint{ID: r.ID, Name: r.Model, Via: r.Via, Level: string(r.Level), Streamer: r.Streamer, Prepare: r.Prepare, Window: r.Info.Context,
		Images: r.Info.Images || !r.Info.Known, Fallbacks: r.Fallbacks, Price: r.Info.Cost}, nil
}

// system makes the system prompt. It is asked once in the life of a conversation's owner.
func (s *session) system(ctx context.Context) string {
	facts := prompt.Facts{OS: goruntime.GOOS}
	w, err := s.app.registry.Workspace(ctx, s.id)
	if err == nil {
		facts.Dir, facts.Runtime, facts.Branch = w.Dir, w.Runtime, w.Branch
		if w.Branch == "" && w.Runtime == runtime.Worktree {
			facts.Branch = "none (a detached checkout of " + w.Base + "; commits here are on no branch)"
		}
		var place runtime.Runtime
		if place, err = s.app.desks.Runtime(ctx, w); err == nil {
			facts.Instructions, err = prompt.Instructions(ctx, place.Files())
		}
	}
	if err != nil {
		s.app.logger.Warn("gather what the system prompt says", "workspace", s.id, "err", err)
	}
	return prompt.System(facts)
}

// ours reports whether this process has the conversation.
func (s *session) ours() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conv != nil
}

// writable gives the conversation, or says who holds it.
func (s *session) writable() (*turn.Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conv == nil {
		return nil, errElsewhere
	}
	return s.conv, nil
}

// finish is close for a conversation that is not to go on by itself: a call that waits for the person is
// not run.
func (s *session) finish(ctx context.Context) error {
	s.mu.Lock()
	conv := s.conv
	s.mu.Unlock()
	if conv != nil {
		if err := conv.Interrupt(ctx); err != nil && !errors.Is(err, turn.ErrClosed) {
			return errors.Join(err, s.close(ctx))
		}
	}
	return s.close(ctx)
}

// close interrupts the turn, waits for it and lets go of the session. A call that waits for the person
// waits on when the session is opened again.
func (s *session) close(ctx context.Context) error {
	if s.stop != nil {
		s.stop()
		<-s.done
	}
	s.mu.Lock()
	conv, log, old, lock := s.conv, s.log, s.old, s.lock
	s.mu.Unlock()
	var errs []error
	if conv != nil {
		errs = append(errs, conv.Close(ctx))
	}
	s.live.close()
	errs = append(errs, log.Close(), lock.Close())
	if old != nil {
		errs = append(errs, old.Close())
	}
	return errors.Join(errs...)
}
