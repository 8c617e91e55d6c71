package app

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync"
	"time"

	"carrel/agent/model"
	"carrel/agent/prompt"
	"carrel/agent/tool"
	"carrel/agent/transcript"
	"carrel/agent/turn"
	"carrel/store"
	"carrel/workspaces"
	"carrel/workspaces/compat"
	"carrel/workspaces/runtime"
)

// tailEvery is how often a conversation that another process holds is read again.
const tailEvery = 500 * time.Millisecond

// session is one conversation that is open in this process. conv is nil while another process, such
// as `carrel run`, holds it: then the log is only read, and followed until the lock is free.
type session struct {
	app  *App
	id   string
	live *live

	mu    sync.Mutex // guards what follows
	lock  *store.Lock
	log   *transcript.Log
	conv  *turn.Conversation
	state turn.StateChange

	stop context.CancelFunc // ends the following of another process's log; nil when it is ours
	done chan struct{}
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
	lock, err := a.root.LockSession(id)
	var held *store.LockedError
	switch {
	case errors.As(err, &held):
		return s, s.follow(w, dir)
	case err != nil:
		return nil, err
	}
	if err := s.own(w, dir, lock); err != nil {
		_ = lock.Close()
		return nil, err
	}
	return s, nil
}

// own opens the log for writing and starts the conversation.
func (s *session) own(w workspaces.Workspace, dir string, lock *store.Lock) error {
	log, err := transcript.Open(dir)
	if err != nil {
		return fmt.Errorf("open conversation %q: %w", s.id, err)
	}
	if log.State().Turn != "" { // its process died, and perhaps the helper that ends its commands with it
		if err := runtime.KillTagged(context.Background(), s.id); err != nil {
			s.app.logger.Warn("end what a turn that was cut off left running", "workspace", s.id, "err", err)
		}
	}
	db, err := s.app.root.DB(context.Background())
	if err != nil {
		_ = log.Close()
		return err
	}
	s.mu.Lock()
	s.lock, s.log = lock, log
	s.mu.Unlock()
	conv, err := turn.Start(turn.Config{
		Workspace: s.id,
		Log:       log,
		Queue:     turn.NewQueue(db, s.id),
		Tools:     tool.Builtin(),
		Env:       s.env,
		Resolve:   s.resolve,
		System:    s.system,
		Model:     s.app.modelOf(w),
		Events:    s.event,
		Now:       time.Now,
	})
	if err != nil {
		_ = log.Close()
		return fmt.Errorf("open conversation %q: %w", s.id, err)
	}
	snap, err := conv.Snapshot(context.Background())
	if err != nil {
		_ = conv.Close(context.Background())
		_ = log.Close()
		return fmt.Errorf("open conversation %q: %w", s.id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conv = conv
	s.state = snap.StateChange
	return nil
}

// event takes what the conversation's owner tells. It runs on the owner's goroutine.
func (s *session) event(e turn.Event) {
	switch {
	case e.Record != nil:
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
		s.live.dropped()
	case e.State != nil:
		s.mu.Lock()
		s.state = *e.State
		s.mu.Unlock()
		if e.State.Code == turn.CodeLog {
			s.app.publish(ProblemAppeared{Problem{Code: turn.CodeLog, Message: e.State.Error, Path: s.app.root.Path("sessions", s.id)}})
		}
		s.publishState()
		s.app.activityChanged(s.id)
	}
}

func (s *session) publishState() {
	state := s.current()
	log := s.reader().State()
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	s.live.flush()
	s.app.publish(ConversationChanged{Workspace: s.id, Rev: s.live.next(), Activity: s.app.activity(s.id, state.State),
		Queue: queueViews(state.Queue), Held: state.Held, Todos: todoViews(log.Todos), Model: state.Model,
		Usage: usageView(log)})
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

// busy reports whether a turn runs.
func (s *session) busy() bool {
	return s.current().State.Working()
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

func (s *session) resolve(id string) (model.Streamer, string, error) {
	r, err := s.app.catalog.Resolve(id)
	if err != nil {
		return nil, "", err
	}
	return r.Streamer, r.Model, nil
}

// system makes the system prompt. It is asked once in the life of a conversation's owner.
func (s *session) system(ctx context.Context) string {
	facts := prompt.Facts{OS: goruntime.GOOS}
	w, err := s.app.registry.Workspace(ctx, s.id)
	if err == nil {
		facts.Dir, facts.Runtime, facts.Branch = w.Dir, w.Runtime, w.Branch
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

// writable gives the conversation, or says who holds it.
func (s *session) writable() (*turn.Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conv == nil {
		return nil, &Error{Code: "elsewhere", Message: "Another carrel process works in this workspace. Wait until it is done, or stop it there."}
	}
	return s.conv, nil
}

// close interrupts the turn, waits for it and lets go of the session.
func (s *session) close(ctx context.Context) error {
	if s.stop != nil {
		s.stop()
		<-s.done
	}
	s.mu.Lock()
	conv, log, lock := s.conv, s.log, s.lock
	s.mu.Unlock()
	var err error
	if conv != nil {
		err = conv.Close(ctx)
	}
	if log != nil {
		err = errors.Join(err, log.Close())
	}
	if lock != nil {
		err = errors.Join(err, lock.Close())
	}
	return err
}
